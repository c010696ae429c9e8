"""Links: what is kept, what is dropped, and what they bring back."""

from urllib.parse import parse_qs

import pytest

from tests.ui import examples
from tileviz import kernels
from tileviz.engine import requests
from tileviz.ui import links, session
from tileviz.ui.form.defaults import defaults
from tileviz.ui.parts import places


@pytest.fixture(autouse=True)
def one_cpu(monkeypatch, tmp_path):
    monkeypatch.setenv("TILEVIZ_HOME", str(tmp_path))
    monkeypatch.setattr(requests, "local_devices", lambda: [examples.CPU])
    places.devices.clear()
    yield
    places.devices.clear()


@pytest.mark.parametrize("name", kernels.names())
@pytest.mark.parametrize("word", ["cpu", "sm_80", "sm_90a", "sm_120a"])
def test_a_link_made_of_any_view_brings_back_the_same_view(name, word):
    kernel, chosen = kernels.kernel(name), places.places()[word]
    own = defaults(kernel, chosen)
    link = links.link_to(kernel, chosen, {**own.problem, **own.config})
    asked = {key: values[-1] for key, values in parse_qs(link.lstrip("?")).items()}
    kept, notes = links.checked_link(asked)
    assert kept == asked
    assert [n for n in notes if "sm_" not in n] == []


def test_words_take_their_one_spelling():
    kept, notes = links.checked_link({"M": "1_024", "enable_swizzle": "yes", "target": "9.0", "num_stages": "2.0"})
    assert kept == {"M": "1024", "enable_swizzle": "true", "target": "sm_90a", "num_stages": "2"}
    assert len(notes) == 1 and "compiled as sm_90a" in notes[0]


def test_an_unknown_kernel_takes_its_values_with_it():
    kept, notes = links.checked_link({"kernel": "gem", "M": "3"})
    assert kept == {}
    assert notes == [f"The link's kernel 'gem' does not exist here; there are {', '.join(kernels.names())}."]


def test_a_link_to_a_device_that_is_not_here_says_so():
    kept, notes = links.checked_link({"target": "cuda:0"})
    assert "target" not in kept
    assert "cuda:0" in notes[0]


def test_the_device_stands_for_its_target(monkeypatch):
    monkeypatch.setattr(requests, "local_devices", lambda: [examples.H200, examples.CPU])
    places.devices.clear()
    assert places.place("sm_90")[0].word == "cuda:0"
    assert list(places.places())[:2] == ["cuda:0", "cpu"]
    assert "sm_90a" not in places.places()


def test_own_words_of_the_page_are_left_alone():
    words = {"trial": "abc", "job": "def"}
    assert links.checked_link(words) == (words, [])


@pytest.mark.parametrize("name, value", [("block_M", "64,128"), ("M", "512,1024"), ("M", "1,024")])
def test_a_list_where_one_number_goes_is_dropped_with_a_sentence(name, value):
    kept, notes = links.checked_link({name: value, "block_N": "64"})
    assert kept == {"block_N": "64"}
    assert notes == [f"From the link, {name} is '{value}'; give one whole number, without commas; the default is used."]


@pytest.mark.parametrize("name", ["kernel", "target", "trial", "config", "view", "left", "l2", "flops", "b"])
def test_a_list_where_one_word_of_the_page_goes_is_dropped_with_a_sentence(name):
    kept, notes = links.checked_link({name: "one,two"})
    assert kept == {} and notes == [f"From the link, {name} is 'one,two'; give one value, without commas; the default is used."]


def test_a_seed_that_is_none_is_dropped_with_a_sentence():
    kept, notes = links.checked_link({"seed": "x"})
    assert kept == {} and "seed is 'x'; give a whole number" in notes[0] and "the default is used" in notes[0]


def test_no_field_or_knob_of_today_needs_the_prefix():
    """Links of earlier versions have them under their own names."""
    for name in kernels.names():
        for each in (*kernels.kernel(name).fields, *kernels.kernel(name).knobs):
            assert session.own_of(each.name) == each.name
