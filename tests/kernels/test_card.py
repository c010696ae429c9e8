"""A kernel's card: plain data that is the same after a journey as JSON, for every kernel."""

import json
from dataclasses import replace

import msgspec
import pytest

from tileviz import kernels
from tileviz.errors import BadRequest
from tileviz.kernels.built_in import card_of
from tileviz.kernels.card import Card, pass_configs
from tileviz.kernels.toolkit.fields import Choice, Flag, Knob, Real, Size

EVERY = pytest.mark.parametrize("card", [card_of(kernels.code(name)) for name in kernels.names()], ids=lambda card: card.name)


@EVERY
def test_a_card_is_the_same_after_a_journey_as_json(card):
    arrived = Card.from_json(card.to_json())
    assert arrived == card
    assert arrived.hash == card.hash
    assert json.loads(card.to_json())["fields"][0]["type"] == "size"


@EVERY
def test_fields_and_knobs_parse_as_before_the_journey(card):
    arrived = Card.from_json(card.to_json())
    for before, after in zip((*card.fields, *card.knobs), (*arrived.fields, *arrived.knobs), strict=True):
        assert type(before) is type(after)
        assert after.parse(before.default) == before.parse(before.default)
    for before, after in zip(card.knobs, arrived.knobs, strict=True):
        assert [after.parse(str(choice)) for choice in before.choices] == list(before.choices)
        assert [type(choice) for choice in after.choices] == [type(choice) for choice in before.choices]
        assert after.offered("sm_80") == before.offered("sm_80")


@EVERY
def test_a_card_says_what_the_declaration_says(card):
    kernel = kernels.code(card.name)
    assert (card.title, card.summary, card.fields, card.knobs) == (
        kernel.title,
        kernel.summary,
        kernel.fields,
        kernel.knobs,
    )
    assert [b.name for b in card.baselines] == [b.name for b in kernel.baselines]
    assert (card.origin.hash, card.origin.built_in) == (kernel.source_hash, True)


def test_each_kernel_has_a_hash_of_its_own_that_follows_its_code():
    cards = [card_of(kernels.code(name)) for name in kernels.names()]
    assert len({card.hash for card in cards}) == len(cards)
    edited = replace(cards[0], origin=replace(cards[0].origin, hash="0" * 16))
    assert edited.hash != cards[0].hash


@pytest.mark.parametrize(
    "value",
    [
        Size("M", 4096, help="rows", minimum=2, maximum=9, weight=0.5),
        Choice("dtype", ("float16", "int8"), "int8"),
        Choice("D", (64, 128), 64),
        Flag("causal", True),
        Real("scale", None),
        Knob("cluster", (1, 2, 4), 1, only={2: ("sm_90a",)}),
        Knob("store", ("direct", "halves"), "direct", only={"halves": ("sm_90a",)}),
        Knob("enable_swizzle", (True, False), True, only={True: ("sm_90a",)}),
    ],
    ids=lambda value: f"{type(value).__name__} {value.name}",
)
def test_every_kind_of_value_survives_the_journey(value):
    assert msgspec.json.decode(msgspec.json.encode(value), type=Size | Choice | Flag | Real | Knob) == value


def test_a_choice_for_some_targets_is_offered_there_alone_after_the_journey():
    knob = msgspec.json.decode(msgspec.json.encode(Knob("cluster", (1, 2), 1, only={2: ("sm_90a",)})), type=Knob)
    assert (knob.offered("sm_90a"), knob.offered("sm_80")) == ((1, 2), (1,))


def test_what_is_no_card_is_refused_by_the_field():
    with pytest.raises(msgspec.ValidationError, match="`title`"):
        Card.from_json(b'{"name": "gemm"}')
    with pytest.raises(msgspec.ValidationError, match=r"\$\.fields"):
        Card.from_json(card_of(kernels.code("gemm")).to_json().replace(b'"type":"size"', b'"type":"sise"'))


def test_a_field_that_is_not_there_is_said():
    with pytest.raises(BadRequest, match="gemm has no field 'block_M'"):
        card_of(kernels.code("gemm")).field("block_M")


def test_pass_configs_are_the_names_with_a_dot():
    assert pass_configs({"threads": 128, "tl.enable_fast_math": True}) == {"tl.enable_fast_math": True}
