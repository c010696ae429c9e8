"""Colours that mean something: contrast on both pages, told apart by the colour-blind, and the ink on each cell of a heatmap."""

import itertools
import math

import pytest

from tileviz.ui.charts import colour, screen, style
from tileviz.ui.charts.colour import Rgb, contrast, rgb
from tileviz.ui.sweeps.heatmap import KIND_COLOURS, MEASURED, cell_ink

PAGES = ("#ffffff", "#f1f4f8", "#11151b")
"""The theme's two grounds where it is light, and the page where it is dark."""

BLIND = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
"""Machado, Oliveira, Fernandes: A Physiologically-based Model for Simulation of Color Vision Deficiency, 2009, severity 1.0; for linear
red, green and blue."""

APART = 20.0
"""CIE 1976 distance in L*a*b*; about 2.3 is the least that can be seen with both side by side."""

APART_FROM_A_SCALE = 12.0

SHARES = [n / 1000 for n in range(1001)]


def seen(one: Rgb, blind: str) -> tuple[float, float, float]:
    """L*, a*, b* of a colour (D65) as someone sees it; `blind` empty for full sight."""
    light = colour.linear(one)
    if blind:
        light = tuple(min(1.0, max(0.0, sum(w * c for w, c in zip(row, light)))) for row in BLIND[blind])
    to_xyz = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [sum(w * c for w, c in zip(row, light)) / white for row, white in zip(to_xyz, (0.9505, 1.0, 1.089))]
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def test_contrast_is_that_of_the_guidelines():
    assert contrast(rgb("#000000"), rgb("#ffffff")) == pytest.approx(21)
    assert contrast(rgb("#777777"), rgb("#ffffff")) == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("floor", (0.0, 0.48, 0.9))
def test_a_number_has_4_5_to_1_on_its_cell_for_every_share(floor):
    for share in SHARES:
        place = floor + (1 - floor) * share
        assert contrast(rgb(cell_ink(MEASURED, place, floor)), colour.at_share(share)) >= 4.5


@pytest.mark.parametrize("kind", KIND_COLOURS)
def test_a_word_has_4_5_to_1_on_the_colour_of_what_was_not_measured(kind):
    assert contrast(rgb(cell_ink(kind, float("nan"), 0.5)), rgb(KIND_COLOURS[kind])) >= 4.5


def test_the_ring_has_a_tone_that_is_seen_on_every_cell():
    grounds = [*(colour.at_share(share) for share in SHARES), *map(rgb, KIND_COLOURS.values()), *map(rgb, PAGES)]
    for ground in grounds:
        assert max(contrast(rgb(tone), ground) for tone in screen.RING) >= 4.5


@pytest.mark.parametrize("page", PAGES)
def test_marks_have_3_to_1_on_the_page_of_both_themes(page):
    low = {role: contrast(rgb(own), rgb(page)) for role, own in style.COLOURS.items() if contrast(rgb(own), rgb(page)) < 3}
    assert not low


@pytest.mark.parametrize("blind", ("", *BLIND))
@pytest.mark.parametrize("colours", (style.COLOURS, KIND_COLOURS), ids=("roles", "kinds"))
def test_colours_of_different_meaning_are_told_apart_without_one_kind_of_cones(colours, blind):
    near = {
        (one, other): math.dist(seen(rgb(colours[one]), blind), seen(rgb(colours[other]), blind))
        for one, other in itertools.combinations(colours, 2)
    }
    assert min(near.values()) >= APART, near


@pytest.mark.parametrize("blind", ("", *BLIND))
def test_what_was_not_measured_is_no_colour_of_the_scale(blind):
    scale = [seen(colour.at_share(share), blind) for share in SHARES[::20]]
    for kind, own in KIND_COLOURS.items():
        assert min(math.dist(seen(rgb(own), blind), point) for point in scale) >= APART_FROM_A_SCALE, kind


@pytest.mark.parametrize("blind", ("", *BLIND))
def test_the_scale_of_speeds_grows_lighter_with_each_step(blind):
    light = [seen(colour.at_share(share), blind)[0] for share in SHARES[::20]]
    assert light == sorted(light)
