"""The tile operations of a program with the Python lines they stand on, and from them the Python line of every CUDA line."""

import linecache
import re
from dataclasses import dataclass

from tileviz.compiler.line_map import NO_LINE, Origin

LONGEST_GAP = 4
"""Lines without a directive inside what TileLang made of one operation: braces, the body of an unrolled loop."""


@dataclass(frozen=True)
class Operation:
    """One tile operation: `T.copy(A[...], A_shared)` is ("copy", ("A", "A_shared"), 26)."""

    kind: str
    """`copy`, `gemm`, `reduce`, `fill`, ..."""
    buffers: tuple[str, ...]
    """Operands in order; a copy reads the first and writes the second, a gemm adds to the third."""
    line: int
    """In the kernel's file; NO_LINE when it cannot be told."""


@dataclass(frozen=True)
class Program:
    """What a tile program says of itself before it is lowered."""

    file: str
    operations: tuple[Operation, ...]
    tensors: tuple[dict, ...]
    """{"name", "shape", "dtype"} of each argument; a size that is known only at run time is a text."""

    @property
    def text(self) -> str | None:
        """The file, which lines are counted in; None when it cannot be read."""
        return "".join(linecache.getlines(self.file)) or None


def described(program) -> Program:
    """The file, operations and tensors of a T.prim_func."""
    from tilelang import ir, tvm
    from tvm.tirx.stmt_functor import post_order_visit

    spans: list[tuple[object, Origin | None]] = []

    def visit(node) -> None:
        if isinstance(node, tvm.tirx.Stmt):
            spans.append((node, ir.span_to_location(ir.get_stmt_span(node))))

    post_order_visit(program.body, visit)
    file = _own_file(program, [place for _, place in spans if place])
    within = [line for _, place in spans if place and place[0] == file for line in place[1:]]
    found = tuple(operation for node, place in spans if (operation := _operation(node, place, file, within)))
    tensors = tuple({"name": str(b.name), "shape": [_size(n) for n in b.shape], "dtype": str(b.dtype)} for b in program.buffer_map.values())
    return Program(file, found, tensors)


def python_lines(source: str, origins: tuple[Origin | None, ...], program: Program) -> tuple[int, ...]:
    """The line of the kernel's file that each line of CUDA text comes from, or NO_LINE.

    Where TileLang names a file of its own, the operation is told by the buffers on the line; a TMA copy by its descriptor.
    """
    texts = source.split("\n")
    found = [origin[1] if origin and origin[0] == program.file else NO_LINE for origin in origins]
    start = 0
    while start < len(texts):
        origin = origins[start]
        if origin is None or not _is_foreign(origin, program):
            found[start] = found[start] or _copied(texts[start], program)
            start += 1
            continue
        end = _end_of_expansion(origins, start, origin[0])
        found[start:end] = _expanded(texts[start:end], origin[0], program)
        start = end
    return tuple(found)


def _end_of_expansion(origins: tuple[Origin | None, ...], start: int, file: str) -> int:
    """The line after the last one that TileLang's own `file`, named on line `start`, is said to have made without a break."""
    end = start
    for at in range(start, len(origins)):
        origin = origins[at]
        if origin is None:
            continue
        if origin[0] != file or at - end > LONGEST_GAP:
            break
        end = at
    return end + 1


def _expanded(texts: list[str], file: str, program: Program) -> list[int]:
    """Lines that a file of TileLang's made of operations: each takes the next named one, the last ones the one before."""
    kind = "reduce" if "reduce" in file else "gemm" if "macro" in file else ""  # tcgen05_gemm and wgmma_gemm, too
    candidates = [op for op in program.operations if op.line and (op.kind.endswith(kind) if kind else op.kind not in ("copy", "fill"))]
    lines = {op.line for op in candidates}
    if len(lines) <= 1:
        return [*lines, NO_LINE][:1] * len(texts)
    named = [_named(text, candidates) for text in texts]
    for at in range(len(named) - 2, -1, -1):
        named[at] = named[at] or named[at + 1]
    for at in range(1, len(named)):
        named[at] = named[at] or named[at - 1]
    return named


def _named(text: str, candidates: list[Operation]) -> int:
    """The operation that this line is about: all that is known is which buffers stand on it."""
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    by_target = [op for op in candidates if _target(op) in words]
    lines = {op.line for op in by_target} or {op.line for op in candidates if set(op.buffers) & words}
    return lines.pop() if len(lines) == 1 else NO_LINE


def _target(operation: Operation) -> str:
    """The buffer that an operation writes."""
    return operation.buffers[2 if operation.kind.endswith("gemm") and len(operation.buffers) > 2 else -1]


# tl::tma_load(A_desc, mbarrier[(k & 1)], ...)     tl::tma_store(C_desc, ...)
_TMA = re.compile(r"\btma_(load|store)\w*(?:<[^()]*>)?\((\w+)_desc\b")


def _copied(text: str, program: Program) -> int:
    found = _TMA.search(text)
    if not found:
        return NO_LINE
    side = 0 if found[1] == "load" else 1
    lines = [op.line for op in program.operations if op.kind == "copy" and len(op.buffers) > side and op.buffers[side] == found[2]]
    return lines[0] if lines else NO_LINE


def _is_foreign(origin: Origin | None, program: Program) -> bool:
    return origin is not None and origin[0] != program.file


def _own_file(program, places: list[Origin]) -> str:
    """The file that most of the program's tile operations stand in: a macro may stand in another one than the T.prim_func."""
    from tilelang import ir

    files = [file for file, _ in places if "/tilelang/" not in file]
    if files:
        return max(sorted(set(files)), key=files.count)
    own = ir.span_to_location(ir.get_prim_func_span(program))
    return own[0] if own else ""


def _operation(node, place: Origin | None, file: str, within: list[int]) -> Operation | None:
    call = getattr(node, "value", None)
    name = str(getattr(getattr(call, "op", None), "name", ""))
    if call is None or not name.startswith("tl.tileop."):
        return None
    kind = name.removeprefix("tl.tileop.")
    buffers = tuple(str(a.args[0].buffer.name) for a in call.args if getattr(a, "args", None) and hasattr(a.args[0], "buffer"))
    if not buffers:
        return None
    line = place[1] if place and place[0] == file else _line_naming(file, within, kind, buffers)
    return Operation(kind, buffers, line)


def _line_naming(file: str, within: list[int], kind: str, buffers: tuple[str, ...]) -> int:
    """The one line of the program that calls an operation of this kind on these buffers, else NO_LINE."""
    call = re.compile(rf"\bT\.{kind}\w*\(\s*" + r"\b.*?\b".join(re.escape(name) for name in buffers[:2]) + r"\b")
    texts = enumerate(linecache.getlines(file), 1)
    found = [number for number, text in texts if min(within, default=0) <= number <= max(within, default=0) and call.search(text)]
    return found[0] if len(found) == 1 else NO_LINE


def _size(value) -> int | str:
    try:
        return int(value)
    except (TypeError, ValueError):
        return str(value)
