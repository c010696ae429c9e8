"""Lowers a tile program to CUDA or C text with TileLang, and reads the launch geometry from what it lowered."""

import contextlib
import logging
import shlex
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace

from tileviz import texts
from tileviz.compiler import failures, line_map, operations
from tileviz.errors import ToolMissing, Unsupported
from tileviz.records import Target

DEVICE_FLAGS = "tl.device_compile_flags"
LINE_DIRECTIVES = "tl.emit_line_directives"

NOT_ON_CPU = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3")

_FORMAT = logging.Formatter()


@dataclass(frozen=True)
class Launch:
    """How one kernel of a program is launched."""

    name: str
    threads: int | None
    """Threads a block, producer warps included; None when known only at run time."""
    grid: tuple[int, int, int] | None
    dynamic_shared_bytes: int


@dataclass(frozen=True)
class Lowered:
    source: str
    """CUDA, or C for the CPU target."""
    launches: tuple[Launch, ...]
    ir: str | None = None
    """The lowered IR that the source was generated from."""
    lines: tuple[int, ...] = ()
    """The Python line of each line of the source."""
    tensors: tuple[dict, ...] = ()
    program: str | None = None
    """The file that the Python lines are counted in."""
    after: dict[str, str] = field(default_factory=dict)
    """The IR after each pass that a text asks for, by the pass's name."""


def lower(build: Callable, target: Target, pass_configs: dict) -> Lowered:
    """Lowers `build()`. Raises Unsupported for a dtype the target lacks; CompileFailed with TileLang's own text as detail."""
    tilelang = imported()
    after: dict[str, str] = {}
    with translated(), context(target, pass_configs, _watching(after)) as tvm_target:
        host = {"target_host": "c"} if target.kind == "cpu" else {}
        program = supported(build(), target)
        lowered = tilelang.lower(program, target=tvm_target, **host)
        return replace(described(program, lowered.kernel_source, lowered.device_mod), after=after)


def watched() -> frozenset[str]:
    """Passes after which a text asks for the IR."""
    return frozenset(text.after for text in texts.texts() if text.after)


def _watching(after: dict[str, str]) -> list:
    """The pass instrument that keeps the IR in `after`; none where no text asks for any."""
    wanted = watched()
    if not wanted:
        return []
    from tilelang import tvm

    @tvm.ir.instrument.pass_instrument
    class Watch:
        def run_after_pass(self, module, info):
            if info.name in wanted:
                after[str(info.name)] = str(module.script())

    return [Watch()]


def described(program, source: str, device_module) -> Lowered:
    """What TileLang made of a program, its text freed of the line directives that `context` asks for."""
    text, origins = line_map.without_directives(str(source))  # TVM's own string type must not leave this process
    known = operations.described(program)
    lines = operations.python_lines(text, origins, known)
    ir = None if device_module is None else str(device_module.script())
    return Lowered(text, launches(device_module), ir, lines, known.tensors, known.text)


def imported():
    """TileLang's module, its log kept to errors. Raises ToolMissing."""
    try:
        import tilelang
    except ImportError as error:
        raise ToolMissing("TileLang cannot be imported: pip install 'tilelang[nvcc]'", str(error)) from error
    for handler in logging.getLogger("tilelang").handlers:
        handler.setLevel(logging.ERROR)  # its loggers set their own level
    return tilelang


def supported(program, target: Target):
    """The program itself. Raises Unsupported when its tensors hold a dtype that the target cannot compute with."""
    for buffer in program.buffer_map.values():
        dtype = str(buffer.dtype)
        if target.kind == "cpu" and dtype in NOT_ON_CPU:
            raise Unsupported(f"the CPU target cannot run {dtype}: TileLang's C has no {dtype} vectors; choose float32 or a CUDA target")
        if target.kind == "cpu" and dtype == "bool":
            raise Unsupported("the CPU target cannot run bool: TileLang's C takes it for int8; choose int8 or a CUDA target")
        if target.is_cuda and dtype == "bfloat16" and not target.at_least(8):
            raise Unsupported(f"{target.name} has no bfloat16 arithmetic; choose float16, or sm_80 or newer")
    return program


def launches(device_module) -> tuple[Launch, ...]:
    """Launch geometry of each kernel of a lowered device module."""
    functions = [] if device_module is None else [function for _, function in device_module.functions.items()]
    return tuple(_launch(function.attrs) for function in functions if function.attrs and "thread_extent" in function.attrs)


def tvm_target(target: Target):
    """TVM's own target object."""
    from tilelang import tvm

    return tvm.target.Target("c" if target.kind == "cpu" else {"kind": "cuda", "arch": target.name})


@contextlib.contextmanager
def context(target: Target, pass_configs: dict, instruments: Sequence = ()) -> Generator:
    """TVM's PassContext and Target, entered; `instruments` are told of every pass."""
    from tilelang import tvm

    chosen = tvm_target(target)
    with tvm.transform.PassContext(opt_level=3, config=as_tilelang_takes(pass_configs), instruments=list(instruments)), chosen:
        yield chosen


@contextlib.contextmanager
def translated() -> Generator[None]:
    """Whatever a program or TileLang raises while lowering comes out as an error of this package."""
    try:
        yield
    except Exception as error:
        raise failures.lowering_failed(error) from error


@contextlib.contextmanager
def errors_logged() -> Generator[list[str]]:
    """The errors that TileLang only logs, with their tracebacks: it goes on when the host code cannot be built."""
    texts: list[str] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = lambda record: texts.append(_FORMAT.format(record))
    logger = logging.getLogger("tilelang")
    logger.addHandler(handler)
    try:
        yield texts
    finally:
        logger.removeHandler(handler)


def as_tilelang_takes(pass_configs: dict) -> dict:
    """The pass configs with compiler flags as the list of words that TileLang wants; the text tells its Python lines."""
    configs = {**pass_configs, LINE_DIRECTIVES: True}
    flags = configs.get(DEVICE_FLAGS)
    if isinstance(flags, str):
        configs[DEVICE_FLAGS] = shlex.split(flags)
    return configs


def _launch(attrs) -> Launch:
    extent = {str(name): _whole(value) for name, value in attrs["thread_extent"].items()}
    threads = _product(extent.get(f"threadIdx.{axis}", 1) for axis in "xyz")
    x, y, z = (extent.get(f"blockIdx.{axis}", 1) for axis in "xyz")
    grid = None if x is None or y is None or z is None else (x, y, z)
    shared = _whole(attrs["dyn_shared_memory_buf"]) if "dyn_shared_memory_buf" in attrs else 0
    return Launch(str(attrs["global_symbol"]), threads, grid, shared or 0)


def _whole(value) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError):
        return None


def _product(values) -> int | None:
    out = 1
    for value in values:
        if value is None:
            return None
        out *= value
    return out
