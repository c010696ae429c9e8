"""A kernel with fields and a knob that are called like words of the page: links to it keep both apart."""

from urllib.parse import parse_qs

import pytest

from tests.kernels.widened_here import widened  # noqa: F401
from tests.ui.test_links import one_cpu  # noqa: F401
from tileviz import kernels
from tileviz.ui import links
from tileviz.ui.parts import places

pytestmark = pytest.mark.usefixtures("widened")


def test_fields_and_knobs_that_are_called_like_words_of_the_page_stand_behind_a_prefix():
    kernel, chosen = kernels.kernel("odd_names"), places.places()["cpu"]
    link = links.link_to(kernel, chosen, {"N": 100, "seed": 7, "kernel": "tent", "at": 512}, seed="11")
    asked = {key: values[-1] for key, values in parse_qs(link.lstrip("?")).items()}
    assert asked["kernel"] == "odd_names" and asked["seed"] == "11", "the page's own words mean what they always do"
    assert (asked["own-seed"], asked["own-kernel"], asked["own-at"], asked["N"]) == ("7", "tent", "512", "100")
    assert links.checked_link(asked) == (asked, [])
    kept, notes = links.checked_link({"kernel": "odd_names", "own-kernel": "hat", "own-at": "512"})
    assert kept == {"kernel": "odd_names", "own-at": "512"} and "kernel is 'hat'; give one of box, tent" in notes[0]
