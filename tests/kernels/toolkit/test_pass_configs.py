"""TileLang's pass configs are read from the installed package without importing it."""

import subprocess
import sys

import pytest

from tileviz.errors import BadValue, UnknownName
from tileviz.kernels.toolkit.pass_configs import OFFERED, RANGES, choices, known_pass_configs, parse_pass_config


def test_the_offered_ones_are_known_to_the_installed_tilelang():
    assert set(OFFERED) <= set(known_pass_configs())


def test_reading_them_does_not_import_tilelang():
    code = "import sys; from tileviz.kernels.toolkit.pass_configs import known_pass_configs as k; k(); print('tilelang' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("tl.enable_fast_math", "true", True),
        ("tl.enable_fast_math", "off", False),
        ("tl.enable_fast_math", "1", True),
        ("tl.disable_wgmma", True, True),
        ("tl.ptxas_register_usage_level", "7", 7),
        ("tl.ptxas_register_usage_level", 3, 3),
        ("tl.config_index_bitwidth", "64", 64),
        ("tl.device_compile_flags", "-lineinfo", "-lineinfo"),
        ("tl.device_compile_flags", "--maxrregcount=64", "--maxrregcount=64"),
        ("tl.device_compile_flags", "-DX=1 -Xptxas -O1,-v", "-DX=1 -Xptxas -O1,-v"),
        ("tl.dump_ir_path", "/tmp/my dumps, of today", "/tmp/my dumps, of today"),
    ],
)
def test_values_are_taken_as_tilelang_takes_them(name, typed, value):
    assert repr(parse_pass_config(name, typed)) == repr(value)


@pytest.mark.parametrize(
    ("name", "typed", "said"),
    [
        ("tl.enable_fast_math", "banana", "tl.enable_fast_math is 'banana'; give true or false"),
        ("tl.disable_wgmma", 2, "give true or false"),
        ("tl.ptxas_register_usage_level", "99", "is 99; give a whole number from 0 to 10"),
        ("tl.ptxas_register_usage_level", "true", "give a whole number"),
        ("tl.ptxas_register_usage_level", "-1", "is -1; give a whole number from 0 to 10"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_before_anything_is_compiled(name, typed, said):
    with pytest.raises(BadValue, match=said):
        parse_pass_config(name, typed)


def test_the_offered_ones_say_what_they_take():
    assert choices("tl.ptxas_register_usage_level") == tuple(map(str, range(11)))
    assert all(choices(name) == ("true", "false") for name in OFFERED if name not in RANGES)
    assert choices("tl.device_compile_flags") == ()


def test_an_unknown_one_says_what_exists():
    with pytest.raises(UnknownName, match="no pass config 'tl.fast'; known: "):
        parse_pass_config("tl.fast", True)


def test_a_word_that_cannot_be_meant_is_refused():
    with pytest.raises(BadValue, match="give true, false, a whole number or a word"):
        parse_pass_config("tl.layout_cost_model", "rm -rf; x")


@pytest.mark.parametrize("typed", ["rm -rf; x", "64", "true", "", "-DX='1"])
def test_compiler_flags_are_flags(typed):
    with pytest.raises(BadValue, match="tl.device_compile_flags is "):
        parse_pass_config("tl.device_compile_flags", typed)
