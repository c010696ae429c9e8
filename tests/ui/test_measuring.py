"""How a run is measured: what the command says, and what a stored result was measured with."""

from dataclasses import replace

from tests.asked import resolve
from tests.ui import examples
from tileviz.ui.form.measuring import Measuring, differences, l2_of, options, seed_mistake


def asked(**more):
    return resolve("gemm", {}, {}, device="cuda:0", devices=[examples.H200], **more)


def measured(**more):
    return examples.trial(device=examples.H200, timing=examples.timing(50.0, timer="cupti", **{"l2": "cold", "flush": "read", **more}))


def test_the_command_names_what_is_not_the_default():
    assert options(asked()) == []
    assert options(asked(l2="warm", inputs="zeros", seed=7)) == ["--inputs", "zeros", "--seed", "7", "--l2", "warm"]
    assert options(resolve("gemm", kind="compile", target="sm_80", devices=[])) == []


def test_the_link_holds_what_is_not_the_default():
    assert Measuring().changed == {}
    assert Measuring(flush="write").changed == {"flush": "write"}


def test_a_result_measured_otherwise_says_with_what():
    assert differences(asked(), measured()) == ""
    assert differences(asked(l2="warm"), measured()) == "a cold L2"
    assert differences(asked(), measured(flush="write")) == "a flush that writes"
    assert differences(asked(), replace(measured(), inputs="zeros", seed=3)) == "inputs zeros, seed 3"


def test_without_a_flush_the_l2_is_warm():
    assert l2_of(asked(flush="none")) == "warm"
    assert differences(asked(flush="none"), measured(l2="warm", flush="none")) == ""


def test_a_seed_that_is_none_is_a_sentence():
    assert seed_mistake("12") == ""
    for text in ("", "-1", "x", "2147483648", "\u00b2"):
        assert "give a whole number" in seed_mistake(text)
