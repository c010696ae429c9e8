"""Reading a lowering: what TileLang's trace tells, layouts in numbers, and what cannot be put in numbers."""

import pytest

from tests.compiler.small_gemm import Gemm
from tileviz.compiler import reading
from tileviz.errors import CompileFailed

pytestmark = pytest.mark.usefixtures("environment")


class Layout:
    """A layout whose index is what it is told."""

    def __init__(self, index: list[str], shape=(4, 4)) -> None:
        self.index, self.shape = index, shape

    def get_input_shape(self):
        return self.shape

    def get_forward_index(self):
        return self.index


def test_a_layout_is_worked_out_element_by_element():
    found = reading._layout("tile", Layout(["_i", "T.bitwise_xor(_j, _i % 2)"]))
    assert found.cells == ((0, 1, 2, 3), (5, 4, 7, 6), (8, 9, 10, 11), (13, 12, 15, 14))
    assert (found.buffer, found.kind, found.shape) == ("tile", "shared", (4, 4))


def test_of_a_tile_with_stages_the_first_is_shown():
    assert reading._layout("tile", Layout(["_i", "_j", "_k"], (3, 2, 2))).cells == ((0, 1), (2, 3))


@pytest.mark.parametrize("layout", [Layout(["no_such_word(_i)"]), Layout(["_i"], ("n", 4)), Layout(["_i"], (1 << 12, 1 << 12))])
def test_what_cannot_be_put_in_numbers_is_left_out(layout):
    assert reading._layout("tile", layout) is None


def test_the_trace_of_tilelang_is_off_again_and_prints_nothing(capfd):
    from tilelang.tools.lower_trace import core

    gemm = Gemm("sm_90a")
    found = reading.read_lowering(gemm.build, gemm.target)
    assert "LowerTileOp" in [each.name for each in found.passes] and "<html" in found.report
    assert core.get_last_session() is None
    assert "lower_trace" not in capfd.readouterr().out


def test_a_program_that_cannot_be_lowered_is_refused_in_words():
    gemm = Gemm("sm_80", {"threads": 96})
    with pytest.raises(CompileFailed, match="3 warps"):
        reading.read_lowering(gemm.build, gemm.target)
