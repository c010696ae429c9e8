// A read-only code pane. Only the visible rows are in the document, so 50,000 lines cost what 50 do.
// Everything that comes from outside is written as text, never as HTML.
const ROW = 18
const MARGIN = 20
const TEXTS = new Map() // sha -> {lines, hits}: kept while the browser page lives
const VIEWS = new WeakMap() // parentElement -> view
const GROUPS = new Map() // name -> {views, keys}: panes whose lines light each other up
const MOST_TEXTS = 24
const MARKS = ["", "removed", "added", "changed", "filler"]

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

function remember(sha, data) {
  const { text, spans } = data
  const hits = new Map() // line index -> [[start, end, class index]]
  for (const [line, start, end, cls] of spans) {
    if (!hits.has(line - 1)) hits.set(line - 1, [])
    hits.get(line - 1).push([start, end, cls])
  }
  const lines = text.split("\n")
  if (lines.length > 1 && lines[lines.length - 1] === "") lines.pop()
  const marks = new Map(), keysOf = new Map(), rowsOf = new Map()
  for (let i = 0; i < data.marks.length; i += 2) marks.set(data.marks[i] - 1, MARKS[data.marks[i + 1]])
  for (let i = 0; i < data.links.length; i += 2) {
    const [row, key] = [data.links[i] - 1, data.links[i + 1]]
    keysOf.set(row, [...(keysOf.get(row) || []), key])
    if (!rowsOf.has(key)) rowsOf.set(key, [])
    rowsOf.get(key).push(row)
  }
  const numbers = data.numbers.length ? data.numbers : null
  const rowOf = numbers ? new Map(numbers.map((n, i) => [n, i])) : null
  TEXTS.set(sha, { lines, hits, marks, keysOf, rowsOf, numbers, rowOf, longest: lines.reduce((most, l) => Math.max(most, l.length), 0) })
  while (TEXTS.size > MOST_TEXTS) TEXTS.delete(TEXTS.keys().next().value)
}

function makeView(root) {
  const part = name => root.querySelector("." + name)
  const v = { root, part, lines: [], hits: new Map(), longest: 0, classes: [], at: 0, matches: [], match: -1, tokens: () => [], lit: new Set(), marks: new Map(), keysOf: new Map(), rowsOf: new Map() }
  const body = part("body"), rows = part("rows")

  const span = (text, names, title) => {
    if (!names.length) return document.createTextNode(text)
    const el = document.createElement("span")
    el.className = names.join(" ")
    if (title) el.title = title
    el.textContent = text
    return el
  }

  const drawLine = (el, i) => {
    const text = v.lines[i], look = new Array(text.length).fill(null), whole = [], found = new Uint8Array(text.length)
    for (const [a, b, name] of v.tokens(text)) for (let k = a; k < b; k++) look[k] = name
    for (const [a, b, c] of v.hits.get(i) || []) for (let k = a; k < Math.min(b, text.length); k++) [look[k], whole[k]] = [c, text.slice(a, b)]
    if (v.query) {
      const low = text.toLowerCase()
      for (let k = low.indexOf(v.query); k >= 0; k = low.indexOf(v.query, k + v.query.length)) found.fill(1, k, k + v.query.length)
    }
    for (let a = 0; a < text.length;) {
      let b = a + 1
      while (b < text.length && look[b] === look[a] && found[b] === found[a]) b++
      const cls = typeof look[a] === "number" ? v.classes[look[a]] : null
      const names = cls ? ["hot", "c-" + cls.name] : look[a] ? [look[a]] : []
      if (found[a]) names.push("found")
      const tip = cls && ((v.tips || {})[whole[a]] || cls.title + (cls.help ? ": " + cls.help : ""))
      el.append(span(text.slice(a, b), names, tip))
      a = b
    }
  }

  const newRow = i => {
    const el = document.createElement("div"), number = document.createElement("i")
    el.dataset.n = i + 1
    number.textContent = v.numberOf(i)
    el.append(number)
    drawLine(el, i)
    return el
  }

  // A row that stays in view keeps its element: when the element under a pressed button goes, the browser sends no click.
  let drawn = new Map(), drawnFor = ""
  v.paint = () => {
    const first = Math.max(0, Math.floor(body.scrollTop / ROW) - MARGIN)
    const last = Math.min(v.lines.length, first + Math.ceil(body.clientHeight / ROW) + 2 * MARGIN)
    const content = `${v.sha} ${v.query || ""}`, kept = content === drawnFor ? drawn : new Map()
    drawn = new Map()
    drawnFor = content
    for (let i = first; i < last; i++) {
      const el = kept.get(i) || newRow(i)
      el.className = ["row", i + 1 === v.at && "at", v.lit.has(i) && "lit", v.marks.has(i) && "m-" + v.marks.get(i)].filter(Boolean).join(" ")
      drawn.set(i, el)
    }
    const wanted = new Set(drawn.values())
    for (const el of [...rows.children]) if (!wanted.has(el)) el.remove()
    let next = rows.firstChild
    for (const el of wanted) {
      if (el === next) next = next.nextSibling
      else rows.insertBefore(el, next)
    }
    rows.style.transform = `translateY(${first * ROW}px)`
  }

  // Lines are counted in rows inside the pane; a text with numbers of its own shows and reports those.
  v.numberOf = i => (v.numbers ? v.numbers[i] || "" : i + 1)
  v.rowAt = number => (v.rowOf ? (v.rowOf.get(number) ?? -1) + 1 : number)
  v.goto = number => { const row = v.rowAt(number); if (row > 0) v.jump(row) }

  v.light = (keys, scroll) => {
    v.lit = new Set()
    for (const key of keys) for (const row of v.rowsOf.get(key) || []) v.lit.add(row)
    const hot = [...v.lit].filter(row => v.hits.has(row)), weight = row => Math.min(...v.hits.get(row).map(h => h[2]))
    const best = Math.min(...hot.map(weight)) // classes come in the order of interest
    const first = Math.min(...(hot.length ? hot.filter(row => weight(row) === best) : v.lit)), top = Math.ceil(body.scrollTop / ROW), end = top + Math.floor(body.clientHeight / ROW)
    const seen = first >= top && first < end
    if (scroll && v.lit.size && !seen) body.scrollTop = Math.max(0, first * ROW - body.clientHeight / 3)
    v.paint()
    v.map()
    part("linked").textContent = v.lit.size ? `${v.lit.size.toLocaleString("en")} linked` : ""
    part("linked").hidden = !v.lit.size
  }

  v.nextLit = back => {
    const rows = [...v.lit].sort((a, b) => a - b)
    if (!rows.length) return
    const at = v.at - 1, next = back ? rows.filter(r => r < at).pop() : rows.find(r => r > at)
    v.jump((next ?? (back ? rows[rows.length - 1] : rows[0])) + 1)
  }

  v.jump = line => {
    if (!v.lines.length) return
    v.at = Math.min(Math.max(1, line), v.lines.length)
    body.scrollTop = Math.max(0, (v.at - 1) * ROW - body.clientHeight / 2)
    v.paint()
  }

  v.find = step => {
    v.query = part("find").value.toLowerCase()
    v.matches = v.query ? v.lines.flatMap((l, i) => (l.toLowerCase().includes(v.query) ? [i] : [])) : []
    const n = v.matches.length
    v.match = n ? (step === 0 ? 0 : (v.match + step + n) % n) : -1
    part("count").textContent = v.query ? `${v.match + 1} of ${n}` : ""
    n ? v.jump(v.matches[v.match] + 1) : v.paint()
  }

  v.nextOf = (cls, back) => {
    const lines = [...v.hits.keys()].filter(i => v.hits.get(i).some(h => h[2] === cls)).sort((a, b) => a - b)
    if (!lines.length) return
    const i = back ? lines.filter(l => l < v.at - 1).pop() : lines.find(l => l > v.at - 1)
    v.jump((i ?? (back ? lines[lines.length - 1] : lines[0])) + 1)
  }

  v.legend = () => {
    const counts = v.classes.map(() => 0)
    for (const found of v.hits.values()) for (const h of found) counts[h[2]]++
    const chips = v.classes.flatMap((cls, i) => {
      if (!counts[i]) return []
      const chip = document.createElement("button"), count = document.createElement("b")
      chip.type = "button"
      chip.className = "hot c-" + cls.name
      chip.title = `${cls.help ? cls.help + " " : ""}Click: next; Shift+click: previous.`
      chip.textContent = cls.title
      count.textContent = counts[i].toLocaleString("en")
      chip.append(count)
      chip.onclick = e => v.nextOf(i, e.shiftKey)
      return [chip]
    })
    part("legend").replaceChildren(...chips)
  }

  v.map = () => {
    const canvas = part("map"), height = canvas.clientHeight
    if (!height) return
    canvas.width = 12
    canvas.height = height
    const draw = canvas.getContext("2d"), hues = v.classes.map(cls => {
      const chip = part("legend").querySelector(".c-" + cls.name)
      return chip ? getComputedStyle(chip).getPropertyValue("--hue").trim() : ""
    })
    const tick = Math.max(2, Math.min(4, height / Math.max(1, v.lines.length)))
    for (const [line, found] of v.hits) {
      draw.fillStyle = hues[found[0][2]] || "#888"
      draw.fillRect(2, (line / Math.max(1, v.lines.length)) * (height - tick), 8, tick)
    }
    const style = getComputedStyle(root), at = row => (row / Math.max(1, v.lines.length)) * (height - tick)
    const tints = { removed: style.getPropertyValue("--st-red-color"), added: style.getPropertyValue("--st-green-color"), changed: style.getPropertyValue("--st-orange-color") }
    for (const [row, mark] of v.marks) if (tints[mark]) { draw.fillStyle = tints[mark]; draw.fillRect(0, at(row), 3, tick) }
    draw.fillStyle = style.getPropertyValue("--st-primary-color")
    for (const row of v.lit) draw.fillRect(4, at(row), 8, Math.max(tick, 3))
    canvas.onclick = e => v.jump(Math.floor((e.offsetY / height) * v.lines.length) + 1)
  }

  let waiting = false
  body.addEventListener("scroll", () => {
    if (v.together) for (const other of v.together()) if (Math.abs(other.root.querySelector(".body").scrollTop - body.scrollTop) > 1) other.root.querySelector(".body").scrollTop = body.scrollTop
    if (waiting) return
    waiting = true
    requestAnimationFrame(() => { waiting = false; v.paint() })
  }, { passive: true })
  new ResizeObserver(() => { v.paint(); v.map() }).observe(body)
  return v
}

function join(name, v) {
  if (!GROUPS.has(name)) GROUPS.set(name, { views: new Set(), keys: [] })
  const group = GROUPS.get(name)
  for (const view of group.views) if (!view.root.isConnected) group.views.delete(view)
  group.views.add(v)
  return group
}

const others = (group, v) => [...(group ? group.views : [])].filter(view => view !== v && view.root.isConnected)

function light(group, v, keys) {
  group.keys = keys
  v.light(keys, false)
  v.litFor = keys
  for (const view of others(group, v)) { view.light(keys, true); view.litFor = keys }
}

async function copy(text, root) {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text)
  const area = document.createElement("textarea") // plain http on a network has no clipboard API
  area.value = text
  root.append(area)
  area.select()
  document.execCommand("copy")
  area.remove()
}

function download(text, name) {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}

export default function (component) {
  const { data, parentElement, setStateValue } = component
  const root = parentElement.querySelector(".pane")
  let v = VIEWS.get(parentElement)
  if (!v) VIEWS.set(parentElement, (v = makeView(root)))
  root.style.height = data.height + "px"
  if (data.text != null) remember(data.sha, data)
  const known = TEXTS.get(data.sha)
  v.tips = data.tips
  if (data.linked && (known ? data.sha : "") !== data.have) setStateValue("have", known ? data.sha : "")
  if (!known) return

  if (v.sha !== data.sha) {
    Object.assign(v, known, { sha: data.sha, classes: data.classes, tokens: tokenizer(data.language), at: 0, match: -1, asked: null, clicked: new Set(), lit: new Set(), litFor: null })
    v.part("pad").style.height = v.lines.length * ROW + "px"
    v.part("pad").style.width = `calc(${v.longest + 10}ch)`
    v.part("name").textContent = data.title
    v.part("lines").textContent = `${(v.numbers ? v.numbers.filter(Boolean).length : v.lines.length).toLocaleString("en")} lines`
    v.part("note").textContent = data.note
    v.part("linked").hidden = true
    v.part("body").setAttribute("aria-label", data.title)
    v.part("body").scrollTop = Math.max(0, v.rowAt(data.top || 1) - 1) * ROW
    v.legend()
    v.part("find").value ? v.find(0) : v.paint()
  } else v.paint()
  requestAnimationFrame(v.map)
  const group = data.group ? join(data.group, v) : null
  root.classList.toggle("together", data.together)
  v.together = data.together ? () => others(group, v) : null
  if (data.line && data.line !== v.asked && !v.clicked.has(data.line)) { // the address tells a clicked line again, maybe after the next click
    v.asked = data.line
    v.goto(data.line)
    if (group && v.at) light(group, v, v.keysOf.get(v.at - 1) || [])
  } else if (group && group.keys.length && v.litFor !== group.keys) v.light(group.keys, true)
  v.litFor = group && group.keys

  root.classList.toggle("pick", data.linked)
  v.part("find").oninput = () => v.find(0)
  v.part("next").onclick = () => v.find(1)
  v.part("prev").onclick = () => v.find(-1)
  v.part("goto").onchange = e => { const n = parseInt(e.target.value, 10); if (n) v.goto(n) }
  v.part("linked").onclick = e => v.nextLit(e.shiftKey)
  v.part("copy").onclick = async e => {
    await copy(v.lines.join("\n") + "\n", root)
    e.target.textContent = "Copied"
    setTimeout(() => { e.target.textContent = "Copy" }, 1500)
  }
  v.part("save").onclick = () => download(v.lines.join("\n") + "\n", data.file)
  root.onkeydown = e => {
    e.stopPropagation() // Streamlit's own shortcuts
    if (e.target === v.part("find") && e.key === "Enter") { e.preventDefault(); v.find(e.shiftKey ? -1 : 1) }
    if ((e.ctrlKey || e.metaKey) && e.key === "f") { e.preventDefault(); v.part("find").focus(); v.part("find").select() }
  }
  const numberAt = e => +(e.target.closest(".row")?.dataset.n || 0)
  v.part("rows").onclick = e => {
    const line = numberAt(e)
    if (!line || String(window.getSelection() || "")) return // a selection of text is no click
    v.at = line
    v.paint()
    if (group) light(group, v, v.keysOf.get(v.at - 1) || [])
    if (data.linked && v.numberOf(v.at - 1)) {
      v.clicked.add(v.numberOf(v.at - 1))
      setStateValue("click", { title: data.title, line: v.numberOf(v.at - 1), at_ms: Date.now() })
    }
  }
}
