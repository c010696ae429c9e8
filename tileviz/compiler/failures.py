"""Turns what TileLang, nvcc and the CUDA driver raise into the errors of this package: one plain sentence, their own text as detail."""

import contextlib
import re
from collections.abc import Generator

from tileviz.compiler import scratch, tools
from tileviz.errors import CompileFailed, LaunchFailed, RuntimeFailed, TilevizError

LONGEST_SENTENCE = 240

# Check failed: (M % kMPerWarp == 0) is false: M must be divisible by 16, but got 24
_CHECK = re.compile(r"^(?:InternalError: )?Check failed: \(.*?\) is false: ?", re.S)
# Literal value 2147485696 exceeds maximum of int32
_PAST_32_BITS = re.compile(r"Literal value (-?\d+) exceeds maximum of int32")
# kernel.cu(31): error: identifier "foo" is undefined
_COMPILER_ERROR = re.compile(r"(?:\): (?:fatal |catastrophic )?error|: (?:fatal )?error|^ptxas (?:fatal|error)\s*)\s*:\s*(.+)")
# nvcc fatal   : Unknown option '--nonsense'
_TOOL_REFUSED = re.compile(r"^(?:nvcc|ptxas)\s+fatal\s*:\s*(.+)", re.M)
# CUDALaunch Error: CUDA_ERROR_INVALID_VALUE
_CUDA_CODE = re.compile(r"CUDA_ERROR_\w+|cudaError\w+")

NO_ROOM = (
    "CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorInvalidConfiguration",
    "cudaErrorLaunchOutOfResources", "cudaErrorMemoryAllocation",
)  # fmt: skip
NO_ROOM_WORDS = ("allowed dynamic shared memory", "invalid configuration", "too many resources", "out of memory", "invalid argument")
"""What a launch says that the device has no room for."""


def lowering_failed(error: BaseException) -> TilevizError:
    """What TileLang raised while lowering, as CompileFailed; an error of ours stays what it is."""
    if isinstance(error, TilevizError):
        return error
    text = str(error).strip() or type(error).__name__
    wide = _PAST_32_BITS.search(text)
    why = (
        f"it writes the constant index {int(wide[1]):,} in 32 bits; use smaller tiles or a smaller problem"
        if wide
        else first_sentence(text)
    )
    return CompileFailed(f"TileLang could not lower the program: {why}", f"{type(error).__name__}: {text}")


def compiler_failed(compiler: str, text: str) -> CompileFailed:
    """A compiler's refusal. TileLang puts the whole source before `Compilation error:`; only what follows is kept."""
    detail = text.split("Compilation error:", 1)[-1].strip()
    said = re.split(r"^Command(?: line)?:", detail, maxsplit=1, flags=re.M)[0].strip()
    if not said:
        return CompileFailed(f"{compiler} died without a word on the generated code", detail)
    if refused := _TOOL_REFUSED.search(said):
        return CompileFailed(f"{compiler} refused: {shorten(refused[1])}", detail)
    found = next((m[1] for line in said.splitlines() if (m := _COMPILER_ERROR.search(line))), None)
    return CompileFailed(f"{compiler} refused the generated code: {shorten(found or first_sentence(said))}", detail)


def cxx_failed(compiler: str, text: str) -> CompileFailed:
    """The C++ compiler's refusal; where it refuses everything, that is what is wrong, and not the program."""
    broken = tools.cxx_trouble()
    return CompileFailed(broken, text) if broken else compiler_failed(compiler, text)


@contextlib.contextmanager
def by_their_cause() -> Generator[None]:
    """A compile that failed for the folders it works in says so: no room, no right to write, nothing there can be loaded."""
    try:
        yield
    except (CompileFailed, OSError) as error:
        said = f"{error}\n{getattr(error, 'detail', '')}".strip()
        cause = scratch.trouble_behind(said)
        if cause is None:
            raise
        raise CompileFailed(cause, said) from error


def device_failed(error: BaseException) -> TilevizError:
    """What a launch, or a wait for one, raised: LaunchFailed when the device had no room for it, else RuntimeFailed."""
    if isinstance(error, TilevizError):
        return error
    text = str(error).strip() or type(error).__name__
    code = _CUDA_CODE.search(text)
    no_room = (code and code[0] in NO_ROOM) or any(words in text.lower() for words in NO_ROOM_WORDS)
    if no_room and "illegal" not in text.lower():
        return LaunchFailed(f"the device refused the launch: {first_sentence(text)}", text)
    return RuntimeFailed(f"the kernel failed while running: {first_sentence(text)}", text)


def first_sentence(text: str) -> str:
    """The first line that says something, without TVM's check and source position."""
    lines = [line.strip() for line in _CHECK.sub("", text.strip()).splitlines()]
    telling = [line for line in lines if line and not line.startswith(("Traceback", "File ", "-->", "[", "|"))]
    return shorten(telling[0] if telling else text.strip())


def shorten(text: str) -> str:
    return text if len(text) <= LONGEST_SENTENCE else text[: LONGEST_SENTENCE - 1].rstrip() + "…"
