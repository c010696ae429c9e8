"""How a tile program was lowered: every pass with what it changed, and the layouts that TileLang chose for tiles.

TileLang's own lower trace records the passes and writes a report; layouts are read from the pass that infers them.
"""

import contextlib
import io
import logging
import math
import tempfile
from collections.abc import Callable, Generator
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from tileviz.compiler import lowering
from tileviz.records import Target

log = logging.getLogger("tileviz.compiler")

LAYOUT_PASS = "tl.LayoutInference"

MOST_CELLS = 1 << 17
"""Elements of a tile up to which its layout is worked out."""

CONTEXT_LINES = 3


@dataclass(frozen=True)
class Pass:
    """One step of the lowering."""

    name: str
    phase: str
    depth: int
    """1 for a pass that ran inside the one before."""
    added: int
    removed: int
    """Lines of the IR."""
    diff: str
    """What it changed, as a unified diff; empty when nothing."""


@dataclass(frozen=True)
class Layout:
    """Where the elements of a tile lie."""

    buffer: str
    kind: str
    """`shared` or `fragment`."""
    shape: tuple[int, int]
    """Rows and columns; of a tile with more dimensions the last two, at index 0 of the others."""
    dtype: str
    cells: tuple[tuple[int, ...], ...]
    """For each row and column: offset in elements in shared memory, or the thread that owns it."""
    registers: tuple[tuple[int, ...], ...] = ()
    """Of a fragment: which of the thread's registers."""
    replicated: int = 1
    """Of a fragment: how many threads hold a copy of each element."""
    expression: str = ""
    """TileLang's own words for it, in _i, _j."""


@dataclass(frozen=True)
class Reading:
    passes: tuple[Pass, ...]
    layouts: tuple[Layout, ...]
    report: str
    """TileLang's report of the lowering, a page of HTML that stands alone; empty when it wrote none."""


def read_lowering(build: Callable, target: Target, pass_configs: dict | None = None) -> Reading:
    """Lowers `build()` once more, watched. Takes half a second more than lowering does. Raises what `lowering.lower` raises."""
    tilelang = lowering.imported()
    maps: dict = {}
    with (
        tempfile.TemporaryDirectory(prefix="tileviz-trace-") as folder,
        contextlib.redirect_stdout(io.StringIO()),
        _traced(folder) as session,
    ):
        with lowering.translated(), lowering.context(target, pass_configs or {}, [_watch(maps)]) as tvm_target:
            host = {"target_host": "c"} if target.kind == "cpu" else {}
            tilelang.lower(lowering.supported(build(), target), target=tvm_target, **host)
        pages = list(Path(folder).rglob("report.html"))
        report = pages[0].read_text() if pages else ""
        passes = tuple(_pass(record) for record in session().records)
    return Reading(
        passes, tuple(layout for buffer, known in maps.items() if (layout := _layout(buffer, known))), report.replace(folder, "")
    )


@contextlib.contextmanager
def _traced(folder: str) -> Generator[Callable]:
    from tilelang.tools.lower_trace import core

    core.enable(mode="html", trace_dir=folder)
    try:
        yield core.get_last_session
    finally:
        core.disable()


def _watch(maps: dict):
    """A pass instrument that keeps the layouts of every tile."""
    from tilelang import tvm
    from tvm.tirx.stmt_functor import post_order_visit

    def collect(node) -> None:
        if isinstance(node, tvm.tirx.SBlock) and "layout_map" in node.annotations:
            maps.update(dict(node.annotations["layout_map"].items()))

    @tvm.ir.instrument.pass_instrument
    class Watch:
        def run_after_pass(self, module, info):
            if info.name == LAYOUT_PASS:
                for function in module.functions.values():
                    post_order_visit(function.body, collect)

    return Watch()


def _pass(record) -> Pass:
    texts = record.before_text.splitlines(), record.after_text.splitlines()
    diff = "\n".join(list(unified_diff(*texts, lineterm="", n=CONTEXT_LINES))[2:]) if record.changed else ""
    return Pass(record.name, record.phase, record.depth, record.add_lines, record.del_lines, diff)


def _layout(buffer, known) -> Layout | None:
    """The layout of one buffer in numbers; None where sizes are known only at run time, too large, or in words that are not read here."""
    sizes = [_whole(size) for size in known.get_input_shape()]
    shape = [size for size in sizes if size is not None]
    if not shape or len(shape) < len(sizes) or math.prod(shape) > MOST_CELLS:
        return None
    try:
        return _in_numbers(buffer, known, shape)
    except (NameError, AttributeError, TypeError, SyntaxError) as error:
        log.warning("the layout of %s is not shown: %s", buffer, error)
        return None


def _in_numbers(buffer, known, shape: list[int]) -> Layout:
    import numpy
    import tilelang.language as T

    cells = numpy.indices(shape)
    name, dtype = str(getattr(buffer, "name", buffer)), str(getattr(buffer, "dtype", ""))
    if isinstance(known, T.Fragment):
        (owner,) = _values([known.forward_thread], cells)
        register = _flat(_values(known.forward_index, cells))
        words = f"thread = {known.forward_thread}; register = {', '.join(map(str, known.forward_index))}"
        return Layout(name, "fragment", _two(owner).shape, dtype, _rows(owner), _rows(register), _whole(known.replicate_size) or 1, words)
    index = list(known.get_forward_index())
    offset = _flat(_values(index, cells))
    return Layout(name, "shared", _two(offset).shape, dtype, _rows(offset), expression=f"index = {', '.join(map(str, index))}")


def _values(expressions, cells) -> list:
    """TVM's index expressions over every element: they print as Python over _i, _j, ..."""
    import numpy

    names = dict(zip(("_i", "_j", "_k", "_l", "_m", "_n"), cells, strict=False))
    scope = {"__builtins__": {}, "min": numpy.minimum, "max": numpy.maximum, "T": _Words()}
    return [numpy.broadcast_to(eval(str(expression).replace("_rep", "0"), scope, names), cells.shape[1:]) for expression in expressions]


class _Words:
    """The words of TVM's script that stand in index expressions."""

    @staticmethod
    def bitwise_xor(left, right):
        return left ^ right

    @staticmethod
    def bitwise_and(left, right):
        return left & right

    @staticmethod
    def shift_right(left, right):
        return left >> right

    @staticmethod
    def shift_left(left, right):
        return left << right

    @staticmethod
    def int64(value):
        return value

    @staticmethod
    def int32(value):
        return value


def _flat(indices: list):
    """One offset of several indices, the last running fastest."""
    out = indices[0] * 0
    for index in indices:
        out = out * (int(index.max()) + 1) + index
    return out


def _two(values):
    while values.ndim > 2:
        values = values[0]
    return values if values.ndim == 2 else values.reshape(-1, 1)


def _rows(values) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(value) for value in row) for row in _two(values))


def _whole(value) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError):
        return None
