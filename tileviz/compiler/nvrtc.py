"""Compiles CUDA text with NVRTC: PTX and machine code from one call, with no C++ compiler and no grandchild.

TileLang's headers are most of the work, so `headers` keeps them precompiled; see there.
"""

import contextlib
import ctypes
import functools
import re
from dataclasses import dataclass
from pathlib import Path

from tileviz.compiler import headers, tools
from tileviz.errors import CompileFailed, ToolMissing

MODERN_NVRTC = (12, 8)
"""From here on NVRTC has precompiled headers."""

CACHING_NVRTC = (13, 0)
"""From here on NVRTC keeps what it compiled where there is a driver, and an answer from there comes without ptxas's figures: not wanted."""


UNROLL_LIMIT = 10
"""How far CUDA's C++ library writes out its type lists: what it takes itself under nvcc. Under NVRTC it takes 16, which costs 190 MB and
0.2 s a compile, and changes no code."""


@dataclass(frozen=True)
class Compiled:
    """Machine code and PTX of one CUDA text."""

    ptx: str | None
    cubin: bytes
    compiler: str
    """`NVRTC 13.5` or `nvcc 13.5`."""
    log: str = ""
    """What the compiler said, with ptxas's figures of registers, spills and shared memory."""


def is_available() -> bool:
    """Whether NVRTC and its headers are installed."""
    try:
        return version() is not None
    except ToolMissing:
        return False


def version() -> tuple[int, int]:
    """NVRTC's version. Raises ToolMissing."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _library().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def compile_source(source: str, arch: str, flags: tuple[str, ...] = ()) -> Compiled:
    """PTX and machine code of CUDA text for `arch` (`sm_90a`). Raises CompileFailed with NVRTC's log, or ToolMissing.

    `flags` are NVRTC's own, such as `--use_fast_math`. A precompiled header is used where there is one; what cannot be compiled with a lean
    one is compiled without.
    """
    modern = version() >= MODERN_NVRTC
    lean = headers.lean(arch, flags, source) if modern else None
    if lean is not None:
        with contextlib.suppress(CompileFailed):
            return _compiled(source, arch, flags, lean)
    return _compiled(source, arch, flags, headers.ready(arch, flags) if modern else None)


def _compiled(source: str, arch: str, flags: tuple[str, ...], header: headers.Header | None) -> Compiled:
    options = [*base_options(arch, flags, header.folders if header else ()), "--ptxas-options=-v"]
    if header:
        options.append(f"-use-pch={header.path}")
    ptx, cubin, log = _compile(headers.prefix(arch) + source, options)
    return Compiled(without_unused_globals(ptx), cubin, "NVRTC {}.{}".format(*version()), log)


def without_unused_globals(ptx: str) -> str:
    """PTX without the hundreds of constants of the C++ library that NVRTC declares and no kernel reads."""
    lines = ptx.splitlines(keepends=True)
    used = set(re.findall(r"[\w$]+", "".join(line for line in lines if not line.startswith(".global"))))
    return "".join(line for line in lines if not (named := _GLOBAL.match(line)) or named[1] in used)


# .global .align 4 .u32 _ZN4cuda3std3__46dot_opELS5_0EE5valueE = 2;
_GLOBAL = re.compile(r"\.global\s.*?\s([\w$]+)(?:\[\d*\])?(?: = .*)?;$")


def make_header(arch: str, flags: tuple[str, ...], path: str, *folders: Path) -> None:
    """Writes the precompiled header of TileLang's templates, with what `folders` hold in their place, to `path`. Raises CompileFailed."""
    options = [*base_options(arch, flags, folders), f"-create-pch={path}"]
    _compile(headers.prefix(arch) + 'extern "C" __global__ void nothing() {}', options)


def base_options(arch: str, flags: tuple[str, ...], folders: tuple[Path, ...] = ()) -> list[str]:
    includes = [*folders, *headers.template_dirs(), *tools.nvrtc().includes]
    macros = [f"-D__CUDACC_VER_MAJOR__={version()[0]}", f"-D_CCCL_META_UNROLL_LIMIT={UNROLL_LIMIT}"]
    fresh = ["--no-cache"] if version() >= CACHING_NVRTC else []
    return [
        f"-arch={arch}",
        "-std=c++20",
        "-lineinfo",
        "-w",
        "-default-device",
        *fresh,
        *macros,
        *flags,
        *(f"-I{folder}" for folder in includes),
    ]


def _compile(source: str, options: list[str]) -> tuple[str, bytes, str]:
    library, program = _library(), ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None)
    try:
        words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        status = library.nvrtcCompileProgram(program, len(options), words)
        log = _text(library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog, program)
        if status != 0:
            raise CompileFailed(f"NVRTC refused the CUDA text: {_first_error(log) or library.nvrtcGetErrorString(status).decode()}", log)
        ptx = _text(library.nvrtcGetPTXSize, library.nvrtcGetPTX, program)
        return ptx, _bytes(library.nvrtcGetCUBINSize, library.nvrtcGetCUBIN, program), log
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _bytes(size_of, get, program) -> bytes:
    size = ctypes.c_size_t()
    size_of(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    get(program, buffer)
    return buffer.raw


def _text(size_of, get, program) -> str:
    return _bytes(size_of, get, program).rstrip(b"\0").decode(errors="replace")


def _first_error(log: str) -> str:
    # kernel.cu(31): error: identifier "foo" is undefined
    for line in log.splitlines():
        if "error" in line:
            return line.split("error", 1)[1].lstrip(" :").removeprefix("catastrophic").strip()
    return ""


@functools.cache
def _library() -> ctypes.CDLL:
    path = tools.nvrtc().library
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise ToolMissing(f"NVRTC at {path} cannot be loaded: {tools.WHEELS['NVRTC']}", str(error)) from error
    library.nvrtcGetErrorString.restype = ctypes.c_char_p
    if hasattr(library, "nvrtcSetPCHHeapSize"):
        library.nvrtcSetPCHHeapSize(ctypes.c_size_t(headers.HEAP_BYTES))
    return library
