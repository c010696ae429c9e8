"""Names of targets: what is offered, how it may be spelled, what it becomes."""

import pytest

from tileviz.compiler import targets
from tileviz.errors import UnknownName


@pytest.mark.parametrize("name", targets.TARGETS)
def test_an_offered_target_keeps_its_name_and_carries_no_mapping(name):
    found = targets.target(name)
    assert found.name == name
    assert (found.limits is None) == (name == "cpu")
    assert bool(found.note) == (name == "sm_70"), "only sm_70 has something to say"


@pytest.mark.parametrize(
    "asked, name",
    [("sm_90", "sm_90a"), ("90", "sm_90a"), ("9.0", "sm_90a"), ("sm_100", "sm_100a"), ("10.3", "sm_103a"), ("compute_120", "sm_120a")],
)  # fmt: skip
def test_an_architecture_without_its_suffix_gets_it_and_the_note_says_so(asked, name):
    found = targets.target(asked)
    assert found.name == name
    assert f"is compiled as {name}" in found.note


@pytest.mark.parametrize(
    "asked, name",
    [("80", "sm_80"), ("SM89", "sm_89"), ("8.6", "sm_86"), ("CPU", "cpu"), ("c", "cpu"), ("sm90a", "sm_90a"), ("8.7", "sm_87")],
)
def test_a_loose_spelling_is_understood_without_a_note(asked, name):
    assert (targets.target(asked).name, targets.target(asked).note) == (name, "")


@pytest.mark.parametrize("asked", ["sm_999", "foo", "", "9", "sm_90b", "sm_80a", "cuda", "hopper", "120.0", None, "sm_"])
def test_an_unknown_target_says_which_there_are(asked):
    with pytest.raises(UnknownName, match="known: cpu, sm_100a"):
        targets.target(asked)


def test_sm_70_is_source_only_and_the_others_are_not():
    assert [name for name in targets.LIMITS if targets.target(name).source_only] == ["sm_70"]
    assert "no machine code" in targets.target("sm_70").note


@pytest.mark.parametrize(
    "name, shared_per_block",
    [("sm_75", 65_536), ("sm_80", 166_912), ("sm_89", 101_376), ("sm_90a", 232_448), ("sm_100a", 232_448), ("sm_120a", 101_376)],
)  # fmt: skip
def test_limits_of_shared_memory_are_those_of_the_programming_guide(name, shared_per_block):
    limits = targets.target(name).limits
    assert limits.shared_per_block_bytes == shared_per_block
    assert limits.shared_per_sm_bytes == shared_per_block + limits.shared_reserved_bytes
