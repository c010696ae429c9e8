// Tokens of a line: what is coloured that is no instruction.
const C_WORDS = "alignas auto bool break case char class const constexpr continue default do double else extern false float for half_t if inline int int8_t int16_t int32_t int64_t long namespace nullptr return short signed sizeof static struct switch template this true typedef typename uint uint8_t uint16_t uint32_t uint64_t unsigned using void volatile while __global__ __device__ __shared__ __restrict__ __launch_bounds__ __syncthreads"
const PY_WORDS = "and as assert break class continue def del elif else except False finally for from global if import in is lambda None not or pass raise return True try while with yield"
const NUMBER = "\\b(?:0x[0-9a-fA-F]+|\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?[fuUlL]*)\\b"
const words = list => `\\b(?:${list.split(" ").join("|")})\\b`
const SYNTAX = {
  cuda: [["comment", "//.*$|/\\*.*?\\*/"], ["pre", "^\\s*#.*$"], ["text", '"(?:[^"\\\\]|\\\\.)*"'], ["word", words(C_WORDS)], ["num", NUMBER]],
  python: [["comment", "#.*$"], ["text", '"(?:[^"\\\\]|\\\\.)*"|\'(?:[^\'\\\\]|\\\\.)*\''], ["word", words(PY_WORDS)], ["num", NUMBER]],
  ptx: [["comment", "//.*$"], ["pre", "^\\s*\\.\\w+.*$|^\\$?\\w+:"], ["num", NUMBER]],
  sass: [["comment", "/\\*.*?\\*/|//.*$"], ["pre", "^\\s*\\.\\w+.*$"], ["num", NUMBER]],
}
SYNTAX.c = SYNTAX.cuda
SYNTAX.ir = SYNTAX.python

function tokenizer(language) {
  const rules = SYNTAX[language]
  if (!rules) return () => []
  const re = new RegExp(rules.map(([, source]) => `(${source})`).join("|"), "g")
  return text => {
    const out = []
    for (const m of text.matchAll(re)) {
      const rule = rules.findIndex((_, i) => m[i + 1] !== undefined)
      if (m[0]) out.push([m.index, m.index + m[0].length, "t-" + rules[rule][0]])
    }
    return out
  }
}
