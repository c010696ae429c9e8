"""TileLang's pass visualizer over our own programs: a page that stands alone, under the same knobs and pass configs."""

import pytest

from tests.compiler.small_gemm import Gemm
from tileviz.compiler import structure
from tileviz.errors import CompileFailed, Unsupported

pytestmark = pytest.mark.usefixtures("environment")


def page(gemm: Gemm, passes: dict | None = None) -> str:
    return structure.read_structure(gemm.build, gemm.target, passes or {}, "def program(): the tile program", "gemm for tests")


def test_the_page_steps_from_the_tile_program_to_instructions_and_stands_alone(capfd):
    text = page(Gemm("sm_90a"))
    assert text.lstrip().lower().startswith("<!doctype html") and "gemm for tests" in text
    assert "the tile program" in text and "LowerTileOp" in text and "tma_load" in text
    assert "http://" not in text and "https://" not in text, "nothing is fetched from elsewhere"
    assert capfd.readouterr().out == ""


def test_it_follows_the_target_and_the_pass_configs():
    assert "tma_load" not in page(Gemm("sm_80"))
    assert "tma_load" not in page(Gemm("sm_90a"), {"tl.disable_tma_lower": True, "tl.disable_warp_specialized": True})
    assert page(Gemm("sm_90a"), {"tl.device_compile_flags": "-lineinfo --use_fast_math"})


def test_nothing_of_one_program_is_left_for_the_next():
    page(Gemm("sm_80"))
    assert structure._handed == []


def test_the_cpu_target_is_not_read():
    with pytest.raises(Unsupported, match="CUDA targets only"):
        page(Gemm("cpu"))


def test_a_program_that_does_not_lower_says_why():
    with pytest.raises(CompileFailed):
        page(Gemm("sm_80", {"threads": 96}))
    assert structure._handed == []
