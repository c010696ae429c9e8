"""Which line of one text became which line of the next: Python to CUDA, CUDA to PTX, CUDA to SASS. Text in, text and numbers out.

TileLang writes `#line` directives, the CUDA compiler carries its own text's lines through inlining. The directives are taken out again
before compiling, so that what is shown and compiled is the text without them.
"""

import re

from tileviz.texts.base import NO_LINE, Mapped

FILE = "kernel.cu"
"""The name that the compilers are told for the CUDA text."""

Origin = tuple[str, int]
"""(Python file, line)"""


# #line 26 "kernels/gemm.py"
_DIRECTIVE = re.compile(r'\s*#line (\d+) "(.*)"\s*$')


def without_directives(source: str) -> tuple[str, tuple[Origin | None, ...]]:
    """(the text TileLang makes without directives, the Python line of each of its lines where a directive tells it).

    A directive holds for the statement right after it only: what follows may have none of its own and come from elsewhere. One statement
    may become several lines: those up to where its temporary is stored, and those between two directives for one Python line.
    """
    kept, origins, pending, temporary = [], [], None, None
    for line in source.split("\n"):
        found = _DIRECTIVE.match(line)
        if found:
            pending = (found[2], int(found[1]))
            continue
        if pending is None and kept and (kept[-1].lstrip().startswith("#pragma") or temporary):
            pending = origins[-1]
        if temporary and _assigned(line, temporary):
            temporary = None
        if pending is not None and (declared := _TEMPORARY.match(line)):
            temporary = temporary or declared[1]
        kept.append(line)
        origins.append(pending)
        pending = None
    return "\n".join(kept), tuple(_filled(origins, kept))


#       float2 __1;
_TEMPORARY = re.compile(r"\s*\w+ (__\d+);$")


def _assigned(line: str, temporary: str) -> bool:
    return line.rstrip().endswith(f"= {temporary};")


def _filled(origins: list[Origin | None], lines: list[str]) -> list[Origin | None]:
    """Closes gaps between two lines of one origin in one block."""
    filled, last = list(origins), None
    for at, origin in enumerate(origins):
        if origin is None:
            continue
        if last is not None and origins[last] == origin and all(_depth(line) >= _depth(lines[at]) for line in lines[last + 1 : at]):
            filled[last + 1 : at] = [origin] * (at - last - 1)
        last = at
    return filled


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


# 	//## File "tl_templates/cuda/intrin.h", line 149 inlined at "kernel.cu", line 29
_FRAME = re.compile(r'\s*//## File "([^"]+)", line (\d+)(?: inlined at "([^"]+)", line (\d+))?')


def sass_lines(disassembly: str) -> Mapped:
    """The plain `nvdisasm -c` text of a `nvdisasm -c -gi` text, and the CUDA line of each instruction.

    Of a chain of inlined calls the frame in our own text counts, the outermost.
    """
    kept, lines, current = [], [], NO_LINE
    for line in disassembly.split("\n"):
        frame = _FRAME.match(line)
        if frame:
            if _is_ours(frame[3] or frame[1]):
                current = int(frame[4] or frame[2])
            continue
        if line.startswith((".text.", "\t.section", "//----")):
            current = NO_LINE  # another function begins
        kept.append(line)
        lines.append(current if _INSTRUCTION.match(line) else NO_LINE)
    return Mapped("\n".join(kept), tuple(lines))


#         /*0a30*/                   HGMMA.64x128x16.F32 R24, gdesc[UR8], R24, gsb0 ;
_INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+\S")

# 	.file	1 "kernel.cu"
_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"([^"]*)"')
# 	.loc	2 149 5, function_name $L__info_string0, inlined_at 1 29 3
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")
# 	.section	.debug_str
_DEBUG = re.compile(r"\s*\.section\s+\.debug_\w+")


def ptx_lines(ptx: str) -> Mapped:
    """PTX without its line directives and debug strings, and the CUDA line of each statement."""
    files = {number: name for number, name in (match.groups() for match in map(_FILE.match, ptx.split("\n")) if match)}
    ours = {number for number, name in files.items() if _is_ours(name)}
    callers: dict[tuple[str, ...], tuple[str, ...]] = {}
    kept, lines, current, in_debug = [], [], NO_LINE, False
    for line in ptx.split("\n"):
        loc = _LOC.match(line)
        if loc:
            here, caller = loc.groups()[:3], loc.groups()[3:]
            if caller[0]:
                callers[here] = caller
            else:
                callers.pop(here, None)
            current = _outermost(here, callers, ours) or current
            continue
        if in_debug or _DEBUG.match(line):
            in_debug = line.strip() != "}"
            continue
        if _FILE.match(line):
            continue
        kept.append(line)
        lines.append(current if _is_statement(line) else NO_LINE)
        if _FUNCTION.match(line):
            current = NO_LINE
    while kept and not kept[-1].strip():
        kept.pop()
    return Mapped("\n".join([*kept, ""]), (*lines[: len(kept)], NO_LINE))


def with_products(mapped: Mapped, source: str) -> Mapped:
    """The map with every tensor-core instruction on a line of CUDA that calls for one.

    The compilers move these instructions and leave some on a neighbouring line; the nearest line with such a call is taken.
    """
    calls = [number for number, text in enumerate(source.split("\n"), 1) if _PRODUCT_CALL.search(text)]
    if not calls:
        return mapped
    lines, before, current = list(mapped.lines), NO_LINE, NO_LINE
    for at, (text, line) in enumerate(zip(mapped.text.split("\n"), mapped.lines, strict=True)):
        if line and line != current:
            before, current = current, line
        if line not in calls and _PRODUCT.search(text):
            near = [known for known in (before, current) if known] or [0]
            lines[at] = current = min(calls, key=lambda call: min(abs(call - known) for known in near))
    return Mapped(mapped.text, tuple(lines))


# HGMMA.64x64x16.F32    HMMA.16816.F32    UTCHMMA    wgmma.mma_async.sync    mma.sync.aligned    tcgen05.mma
_PRODUCT = re.compile(r"\b(?:[HIQDBO]MMA|[HIQB]GMMA|UTC\w*MMA)\b|^\s*(?:wgmma\.mma_async|mma\.(?:sp\.)?sync|tcgen05\.mma)\b")
# tl::wgmma_ss<...>(     tl::mma_sync<...>(     tl::tcgen05mma_ss<...>(
_PRODUCT_CALL = re.compile(r"\btl::(?:wgmma|mma|tcgen05mma|sm120_mma)_\w+\s*<")
# .visible .entry gemm_kernel(
_FUNCTION = re.compile(r"\s*(?:\.visible\s+|\.weak\s+)?\.(?:entry|func)\b")


def _outermost(place: tuple[str, ...], callers: dict, ours: set[str]) -> int | None:
    """The line in our own file at which the chain of inlined calls that ends at `place` begins."""
    for _ in range(64):
        if place[0] in ours:
            return int(place[1])
        if place not in callers:
            return None
        place = callers[place]
    return None


def _is_statement(line: str) -> bool:
    text = line.strip()
    return (
        bool(text)
        and not text.startswith(("//", ".reg", "{", "}", "(", ")", ".visible", ".entry", ".param", ".pragma"))
        and not text.endswith(":")
    )


def _is_ours(path: str) -> bool:
    return path.rsplit("/", 1)[-1] == FILE
