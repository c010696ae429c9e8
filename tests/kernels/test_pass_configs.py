"""TileLang's pass configs are read from the installed package without importing it."""

import subprocess
import sys

import pytest

from tileviz.errors import BadValue, UnknownName
from tileviz.kernels.pass_configs import OFFERED, known_pass_configs, parse_pass_config


def test_the_offered_ones_are_known_to_the_installed_tilelang():
    assert set(OFFERED) <= set(known_pass_configs())


def test_reading_them_does_not_import_tilelang():
    code = "import sys; from tileviz.kernels.pass_configs import known_pass_configs as k; k(); print('tilelang' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


@pytest.mark.parametrize(("typed", "value"), [("true", True), ("off", False), ("7", 7), (True, True), (3, 3)])
def test_values_are_taken_as_tilelang_takes_them(typed, value):
    assert (
        parse_pass_config("tl.ptxas_register_usage_level", typed) is value
        or parse_pass_config("tl.ptxas_register_usage_level", typed) == value
    )


def test_an_unknown_one_says_what_exists():
    with pytest.raises(UnknownName, match="no pass config 'tl.fast'; known: "):
        parse_pass_config("tl.fast", True)


def test_a_value_that_cannot_be_meant_is_refused():
    with pytest.raises(BadValue, match="give true, false, a whole number or a word"):
        parse_pass_config("tl.enable_fast_math", "rm -rf; x")
