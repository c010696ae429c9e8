"""Where code stops itself because the architecture lacks an instruction that it asks for. PTX in, words out."""

import re

# The headers of CUTLASS and TileLang put this where an instruction does not exist, after printing its name; a guard is `trap;` instead.
# 	brkpt;
_STOP = re.compile(r"^\s*brkpt;", re.M)
# .global .align 1 .b8 $str$4[88] = {65, 116, 116, 101, 109, 112, 116, 105, 110, 103, 32, ...};
_TEXT = re.compile(r"\.b8 \S+\[\d+\] = \{([\d, ]+)\}")
# Attempting to use SM89_16x8x32_F32E4M3E4M3F32_TN without CUTE_ARCH_MMA_SM89_ENABLED
_LACKING = re.compile(r"(?:Attempting|Trying) to use ([\w:]+)|(\S.*?) not implemented")


def stops(ptx: str, target: str) -> str | None:
    """`sm_80 lacks SM89_...: in 16 places the code stops itself, which ends the CUDA context`; None where it does not."""
    count = len(_STOP.findall(ptx))
    if not count:
        return None
    lacking = _named(ptx) or "an instruction that the code asks for"
    return f"{target} lacks {lacking}: in {count:,} place{'s' * (count != 1)} the code stops itself, which ends the CUDA context"


def _named(ptx: str) -> str:
    """The instruction that the headers print before the code stops; empty where they print none."""
    texts = (bytes(map(int, found.split(","))).decode("latin-1") for found in _TEXT.findall(ptx))
    named = next((match for text in texts if (match := _LACKING.match(text))), None)
    return (named[1] or named[2]) if named else ""
