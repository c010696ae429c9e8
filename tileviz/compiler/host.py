"""Callables of compiled programs, and the override that makes TileLang run the machine code that we compiled and show."""

import contextlib
import json
import os
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path

from tileviz.compiler import host_library, line_map, lowering, machine_code, tools
from tileviz.compiler.failures import cxx_failed
from tileviz.compiler.nvrtc import Compiled
from tileviz.errors import CompileFailed, TilevizError
from tileviz.records import Target

CPU_FLAGS = ["-O3", "-march=native"]
"""No -ffast-math: masks need infinities."""

CPU = Target("cpu", "cpu")

CALLBACK = "tilelang_callback_cuda_compile"

LIBRARY = "executable.so"
"""TileLang's name of the shared library that launches a kernel."""


@dataclass
class Capture:
    """What passed through the override while TileLang compiled one program; empty when its cache answered."""

    on_source: Callable[[str], Compiled]
    raw: str | None = None
    """The text with TileLang's line directives."""
    source: str | None = None
    compiled: Compiled | None = None
    error: Exception | None = field(default=None, repr=False)

    def __call__(self, code, _target, _pass_configs=None) -> bytearray:
        try:
            self.raw = str(code)
            self.source, _ = line_map.without_directives(self.raw)
            self.compiled = self.on_source(self.source)
            tools.require_cxx("build the host code that launches a CUDA kernel")
            return bytearray(self.compiled.cubin)
        except Exception as error:
            self.error = error
            raise


def cuda_kernel(program, target: Target, pass_configs: dict, compile_source: Callable[[str], Compiled] | None = None):
    """(TileLang's kernel for a CUDA program, the Capture). Leaves the host code built in TileLang's cache, or takes it from there.

    `compile_source(text)` makes the machine code; by default as `machine_code.compile_cuda` does. Needs g++ when not in the cache.
    """
    tilelang = lowering.imported()
    capture = Capture(compile_source or (lambda source: machine_code.compile_cuda(source, target, pass_configs)))
    chosen, configs = lowering.tvm_target(target), lowering.as_tilelang_takes(pass_configs)
    try:
        with lowering.translated(), lowering.errors_logged() as logged, _overriding(CALLBACK, capture), host_library.built_here(), chosen:
            program = lowering.supported(program, target)
            kernel = tilelang.compile(program, out_idx=None, target=chosen, execution_backend="tvm_ffi", pass_configs=configs)
    except TilevizError as error:
        raise capture.error if isinstance(capture.error, TilevizError) else error from error
    refused = next((text for text in logged if "Compilation error" in text), None)
    if refused:
        raise cxx_failed("the C++ compiler", refused)
    return kernel, capture


def leave_ready(key: str, kernel) -> None:
    """Leaves word of where TileLang's cache has the library of a CUDA kernel, for `left_ready`. Without a cache there is no such place."""
    folder = getattr(kernel, "_tilelang_cache_path", None)
    if not folder or not os.path.isfile(os.path.join(folder, LIBRARY)):
        return
    place = _ready_place(key)
    part = place.with_name(f"{place.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
        part.symlink_to(folder)
        part.replace(place)


def left_ready(key: str) -> Callable | None:
    """The callable that `leave_ready` left under this key, with nothing built or lowered; None when it is not there whole."""
    place = _ready_place(key)
    try:
        known = json.loads((place / "manifest.json").read_text())["files"][LIBRARY]["size"]
        if not key or (place / LIBRARY).stat().st_size != known:
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    lowering.imported()
    from tvm import runtime

    try:
        return runtime.load_module(str((place / LIBRARY).resolve()))["main"]
    except (RuntimeError, AttributeError, OSError):
        return None  # TileLang's own way says what is wrong with it, or builds it anew


def _ready_place(key: str) -> Path:
    return Path(os.environ.get("TILELANG_CACHE_DIR") or Path.home() / ".tilelang" / "cache") / "ready" / (key or "none")


def cpu_kernel(program, pass_configs: dict):
    """TileLang's kernel for a CPU program, built by the C++ compiler or taken from TileLang's cache."""
    tilelang = lowering.imported()
    cxx = tools.require_cxx("build the C of the CPU target")
    chosen = lowering.tvm_target(CPU)
    said: list[str] = []
    try:
        with lowering.translated(), _stderr_into(said), chosen:
            lowering.supported(program, CPU)
            return tilelang.compile(
                program, out_idx=None, target="c", target_host="c", execution_backend="cython", compile_flags=CPU_FLAGS,
                pass_configs=lowering.as_tilelang_takes(pass_configs),
            )  # fmt: skip
    except CompileFailed as error:
        if "Compilation Failed" not in error.detail:
            raise
        raise cxx_failed(cxx.name, f"{''.join(said)}\nCommand: {error.detail}") from error


def cpu_compiler() -> str:
    """`g++ 12.2 -O3`. Raises ToolMissing."""
    cxx = tools.require_cxx("build the C of the CPU target")
    version = ".".join((tools.version_of(cxx) or "").split(".")[:2])
    return f"{cxx.name} {version} {CPU_FLAGS[0]}"


@contextlib.contextmanager
def _overriding(name: str, function: Callable) -> Generator[None]:
    """Puts `function` in the place of one of TileLang's callbacks for a while."""
    import tvm_ffi

    original = tvm_ffi.get_global_func(name)
    tvm_ffi.register_global_func(name, function, override=True)
    try:
        yield
    finally:
        tvm_ffi.register_global_func(name, original, override=True)


@contextlib.contextmanager
def _stderr_into(said: list[str]) -> Generator[None]:
    """Collects what this process and its children print to stderr: TileLang does not keep what the C++ compiler says."""
    sys.stderr.flush()
    kept = os.dup(2)
    with open(os.memfd_create("stderr"), "w+b") as file:  # not in TMPDIR, which may be full
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            said.append(file.read().decode(errors="replace").strip())
