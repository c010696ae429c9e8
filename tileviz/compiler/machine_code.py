"""CUDA text to PTX and machine code, by NVRTC where it can and nvcc where it must."""

from tileviz import settings
from tileviz.compiler import nvcc, nvrtc, tools
from tileviz.compiler.lowering import DEVICE_FLAGS, as_tilelang_takes
from tileviz.compiler.nvrtc import Compiled
from tileviz.errors import BadValue, CompileFailed
from tileviz.records import Target

FAST_MATH = "tl.enable_fast_math"
REGISTER_LEVEL = "tl.ptxas_register_usage_level"


def compile_cuda(source: str, target: Target, pass_configs: dict) -> Compiled:
    """PTX and machine code of CUDA text. Raises CompileFailed, or ToolMissing when there is no CUDA compiler at all.

    NVRTC comes first; nvcc takes over for `tl.device_compile_flags`, where NVRTC is missing, and where NVRTC cannot read the text.
    """
    forced = settings.cuda_compiler()
    flags = compiler_flags(pass_configs)
    extra = _own_flags(pass_configs)
    if extra or forced == "nvcc":
        return nvcc.compile_source(source, target.name, flags + extra)
    if not nvrtc.is_available():
        if forced != "nvrtc" and nvcc.is_available():
            return nvcc.compile_source(source, target.name, flags)
        raise tools.missing("NVRTC", "compile CUDA")
    try:
        return nvrtc.compile_source(source, target.name, flags)
    except CompileFailed:
        if forced == "nvrtc" or not nvcc.is_available():
            raise
        return nvcc.compile_source(source, target.name, flags)


def asked_for() -> str:
    """The CUDA compilers that a program may be made by as things are set, as a word for keys: `any-nvcc-3f9a01`, `nvcc-nvcc-3f9a01`. The
    version of NVRTC stands in `toolchain.cache_tag`, a config's own flags in the config. Runs no tool."""
    return f"{settings.cuda_compiler() or 'any'}-{tools.identity(tools.cuda_tool('nvcc'))}"


def _own_flags(pass_configs: dict) -> tuple[str, ...]:
    """The compiler flags of a config's own, which nvcc alone takes."""
    return tuple(map(str, as_tilelang_takes(pass_configs).get(DEVICE_FLAGS) or ()))


def compiler_flags(pass_configs: dict) -> tuple[str, ...]:
    """The pass configs that a compiler must be told, in words that nvcc and NVRTC share. Raises BadValue."""
    flags = ["--use_fast_math"] if pass_configs.get(FAST_MATH) else []
    level = pass_configs.get(REGISTER_LEVEL)
    if level is not None:
        if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= 10:
            raise BadValue(f"{REGISTER_LEVEL} is {level}; give a whole number from 0 to 10")
        flags.append(f"--ptxas-options=--register-usage-level={level}")
    return tuple(flags)
