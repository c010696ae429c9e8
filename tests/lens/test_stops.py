"""Stops for want of an instruction, as the headers leave them in PTX; guards of other kinds are none."""

from pathlib import Path

import pytest

from tileviz.lens.stops import stops

CASES = Path(__file__).parent / "cases"


def printed(text: str) -> str:
    return f".global .align 1 .b8 $str[{len(text) + 1}] = {{{', '.join(str(byte) for byte in text.encode())}}};\n"


@pytest.mark.parametrize(
    "text, name",
    [
        ("Attempting to use SM89_16x8x32_F32E4M3E4M3F32_TN without CUTE_ARCH_MMA_SM89_ENABLED", "SM89_16x8x32_F32E4M3E4M3F32_TN"),
        ("Trying to use tma without CUTE_ARCH_TMA_SM90_ENABLED.", "tma"),
        ("AtomicAddx2 not implemented", "AtomicAddx2"),
        ("/opt/include/cute/arch/mma_sm89.hpp", "an instruction that the code asks for"),
    ],
)
def test_what_the_headers_print_names_the_instruction(text, name):
    told = stops(printed("0 && x") + printed(text) + "\tbrkpt;\n", "sm_80")
    assert told == f"sm_80 lacks {name}: in 1 place the code stops itself, which ends the CUDA context"


def test_each_stop_counts_and_a_guard_does_not():
    assert "in 2 places" in stops("\tcall.uni vprintf;\n\t// begin inline asm\n\tbrkpt;\n\t// end inline asm\n\tbrkpt;\n", "sm_80")
    assert stops("\t@%p1 trap;\n\ttrap;\n", "sm_80") is None


@pytest.mark.parametrize("folder", sorted(path.parent.name for path in CASES.glob("*/kernel.ptx")))
def test_no_kernel_of_ours_stops_itself(folder):
    assert stops((CASES / folder / "kernel.ptx").read_text(), "sm_80") is None
