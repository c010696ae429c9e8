"""Values as people type them: what is taken, and the sentence for what is not."""

import pytest

from tileviz.errors import BadValue
from tileviz.kernels.toolkit.base import Choice, Flag, Knob, Real, Size


@pytest.mark.parametrize(("typed", "value"), [("4096", 4096), ("4_096", 4096), ("1e3", 1000), (7.0, 7), (7, 7)])
def test_a_size_takes_whole_numbers_in_any_spelling(typed, value):
    assert Size("M", 1).parse(typed) == value


@pytest.mark.parametrize("item", [Size("M", 1), Knob("M", (64, 128), 64)])
@pytest.mark.parametrize("typed", ["64,128", "1,000", "1000,2000", "64,"])
def test_a_list_is_never_one_number(item, typed):
    with pytest.raises(BadValue, match=f"M is '{typed}'; give one whole number, without commas"):
        item.parse(typed)


@pytest.mark.parametrize("typed", ["", "x", "1.5", None, True, "nan", "inf", [], 0, -3, 2**31])
def test_a_size_refuses_the_rest_in_a_sentence(typed):
    with pytest.raises(BadValue, match="M is "):
        Size("M", 1).parse(typed)


@pytest.mark.parametrize(
    ("typed", "value"), [("", None), ("none", None), (None, None), ("auto", None), ("0", 0.0), ("-0.5", -0.5), (1, 1.0)]
)
def test_a_real_number_may_be_left_open(typed, value):
    assert Real("scale", None).parse(typed) == value


@pytest.mark.parametrize("typed", ["nan", "inf", "-inf", "x", "1e39", "1e400", -3.5e38, 1.1e38])
def test_a_real_number_must_be_one_that_a_program_can_multiply_with(typed):
    with pytest.raises(BadValue, match="scale is "):
        Real("scale", None).parse(typed)
    with pytest.raises(BadValue, match=r"scale is 1e39; give a number from -1e\+38 to 1e\+38"):
        Real("scale", None).parse("1e39")


@pytest.mark.parametrize("typed", ["1e-50", "-1e-50", 7e-46, 5e-324])
def test_a_real_number_that_float32_rounds_to_0_is_refused(typed):
    with pytest.raises(BadValue, match=f"scale is {typed}, which float32 rounds to 0; give 0, or a number of at least 1.4e-45"):
        Real("scale", None).parse(typed)


@pytest.mark.parametrize("typed", ["0", "-0.0", "1e-45", "-1e-45", "1e-38", "1e38", "-1e38", 1e10])
def test_what_float32_holds_is_taken_as_it_is(typed):
    assert Real("scale", None).parse(typed) == float(typed)


@pytest.mark.parametrize(("typed", "value"), [("true", True), ("NO", False), ("1", True), ("0", False), (True, True)])
def test_a_flag_takes_yes_and_no(typed, value):
    assert Flag("causal", False).parse(typed) is value


def test_a_choice_takes_its_own_words_and_numbers():
    assert Choice("D", (64, 128), 64).parse("128") == 128
    with pytest.raises(BadValue, match="D is '96'; give one of 64, 128"):
        Choice("D", (64, 128), 64).parse(96)


def test_a_knob_takes_numbers_that_are_not_offered():
    assert Knob("block_M", (64, 128), 64).parse("96") == 96


def test_a_knob_of_whole_warps_refuses_part_of_one():
    threads = Knob("threads", (128, 256), 128, minimum=32, maximum=1024, step=32)
    assert threads.parse("96") == 96
    with pytest.raises(BadValue, match="threads is 33; give a multiple of 32 from 32 to 1,024"):
        threads.parse("33")


def test_a_knob_of_powers_of_two_refuses_the_numbers_between():
    width = Knob("block_N", (1024,), 1024, power_of_two=True)
    assert width.parse(4096) == 4096
    with pytest.raises(BadValue, match="block_N is 1,000; give a power of two"):
        width.parse(1000)
