"""Static counts against what a block executes."""

from pathlib import Path

import pytest

from tileviz.lens.executed import tensor_core_uses

CASES = Path(__file__).parent / "cases"
BLOCK_FLOPS = 2 * 128 * 128 * 1024
"""Of one block of the recorded GEMM: a 128 x 128 tile, K = 1024."""


def test_hopper_writes_eight_products_and_executes_128():
    (use,) = tensor_core_uses((CASES / "sm90a_gemm.sass").read_text())
    assert (use.opcode, use.static_count) == ("HGMMA.64x128x16.F32", 8)
    assert use.executed_per_block(BLOCK_FLOPS) == 128


def test_ampere_writes_192_products_and_each_of_four_warps_executes_2048():
    (use,) = tensor_core_uses((CASES / "sm80_gemm.sass").read_text())
    assert (use.opcode, use.static_count) == ("HMMA.16816.F32", 192)
    assert use.executed_per_block(BLOCK_FLOPS) / 4 == 2048


@pytest.mark.parametrize(
    "opcode, flops",
    [
        ("HMMA.16816.F32", 2 * 16 * 8 * 16),
        ("HMMA.1688.F32.TF32", 2 * 16 * 8 * 8),
        ("IMMA.8816.S8.S8", 2 * 8 * 8 * 16),
        ("DMMA.884", 2 * 8 * 8 * 4),
        ("QMMA.16832.F32.E4M3.E4M3", 2 * 16 * 8 * 32),
        ("HGMMA.64x256x16.F32.BF16", 2 * 64 * 256 * 16),
    ],
)
def test_the_name_of_an_opcode_tells_its_work(opcode, flops):
    (use,) = tensor_core_uses(f"        /*0a30*/   {opcode} R24, R4, R8, R24 ;")
    assert (use.opcode, use.flops) == (opcode, flops)


def test_tcgen05_names_no_shape_and_is_left_out():
    assert tensor_core_uses((CASES / "sm100a_tcgen05.sass").read_text()) == ()
