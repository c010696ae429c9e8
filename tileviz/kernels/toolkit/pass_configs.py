"""TileLang's pass configs, by their own names, read from the installed package without importing it."""

import functools
import importlib.util
import re
import shlex
from pathlib import Path

from tileviz.errors import BadValue, UnknownName
from tileviz.kernels.toolkit.fields import Flag, Size

OFFERED = {
    "tl.enable_fast_math": "fast approximations of exp, tanh, division (nvcc --use_fast_math)",
    "tl.disable_warp_specialized": "no producer warp group on Hopper and newer",
    "tl.disable_wgmma": "mma.sync in place of wgmma on Hopper",
    "tl.enable_aggressive_shared_memory_merge": "reuse shared memory of buffers that are no longer live",
    "tl.ptxas_register_usage_level": "0 to 10: how hard ptxas tries to use few registers",
    "tl.disable_safe_memory_legalize": "leave out the bounds checks of global loads and stores",
}
"""The ones the page offers, with what they do."""

FLAGS = "tl.device_compile_flags"
"""Words for the CUDA compiler, as a shell would split them."""

COMMAND_LINE_ONLY = (FLAGS, "cuda.kernels_output_dir", "tl.dump_ir_path", "tl.enable_dump_ir")
"""Name files or compiler flags, so a link must not set them for whoever opens it."""

NOT_TAKEN = ("tir.enable_equiv_terms_in_cse_tir", "tirx.Simplify", "tl.disable_prelower_semantic_check")
"""Named by TileLang 0.1.15 and then refused by it: no such option, or one that takes no plain value."""

RANGES = {"tl.ptxas_register_usage_level": (0, 10)}
"""Pass configs that take a whole number, with the least and the most."""

# a line such as `    TL_ENABLE_FAST_MATH = "tl.enable_fast_math"`, and the text under it, which ends in the default
_MEMBER = re.compile(r'^\s*[A-Z][A-Z0-9_]*\s*=\s*"([a-z][\w.]*)"[ \t]*(?:\n\s*"""(.*?)""")?', re.M | re.S)
_FLAG = re.compile(r"\bDefault: (?:True|False)\b")


@functools.cache
def _documented() -> dict[str, str]:
    """Every pass config that the installed TileLang names and takes, with what it says of it; the offered ones without a TileLang."""
    spec = importlib.util.find_spec("tilelang")
    listed = Path(spec.origin).parent / "transform" / "pass_config.py" if spec and spec.origin else None
    if listed is None or not listed.is_file():
        return {name: "" if name in RANGES else "Default: False" for name in OFFERED}
    return {name: text for name, text in _MEMBER.findall(listed.read_text()) if "." in name and name not in NOT_TAKEN}


def known_pass_configs() -> tuple[str, ...]:
    """The names of all pass configs, in order."""
    return tuple(sorted(_documented()))


def choices(name: str) -> tuple[str, ...]:
    """What a pass config takes, as words; empty where any word or number may be meant."""
    if name in RANGES:
        return tuple(map(str, range(RANGES[name][0], RANGES[name][1] + 1)))
    return ("true", "false") if _FLAG.search(_documented().get(name, "")) else ()


def parse_pass_config(name: str, value):
    """The value of a pass config as TileLang takes it: true or false, a whole number, or a word; a file or compiler flags as they were
    typed. Raises UnknownName, BadValue."""
    if name in NOT_TAKEN:
        raise BadValue(f"{name} is named by TileLang and not taken by its compiler; leave it out")
    if name not in _documented():
        raise UnknownName.of("pass config", name, known_pass_configs())
    if name in RANGES:
        return Size(name, 0, minimum=RANGES[name][0], maximum=RANGES[name][1]).parse(value)
    if choices(name):
        return Flag(name, False).parse(value)
    if name == FLAGS:
        return _compiler_flags(value)
    if name in COMMAND_LINE_ONLY:
        return str(value)
    if isinstance(value, (bool, int)):
        return value
    word = str(value).strip().lower()
    if word in ("true", "yes", "on"):
        return True
    if word in ("false", "no", "off"):
        return False
    if re.fullmatch(r"-?\d+", word):
        return int(word)
    if re.fullmatch(r"[\w./+-]+", str(value)):
        return str(value)
    raise BadValue(f"{name} is '{value}'; give true, false, a whole number or a word")


def _compiler_flags(value) -> str:
    """Flags hold `=`, blanks and commas as they like; a quotation mark must have its other one."""
    try:
        words = shlex.split(str(value))
    except ValueError as error:
        raise BadValue(f"{FLAGS} is '{value}', which no shell can split ({error}); give flags with blanks between them") from None
    if not words or not words[0].startswith("-"):
        raise BadValue(f"{FLAGS} is '{value}'; give flags with blanks between them, such as -lineinfo or -Xptxas -O1")
    return str(value)
