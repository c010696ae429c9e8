"""Every kind of word of the code pane has 4.5:1 on every tint of a row, in both themes: read from the style sheet and the themes."""

import re
import tomllib
from pathlib import Path

import pytest

from tileviz.ui.charts.colour import Rgb, contrast, linear, rgb
from tileviz.ui.parts import codepane

CSS = (Path(codepane.__file__).parent / "codepane.css").read_text()
THEMES = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text())["theme"]

TINTS = (
    "", ".row:hover", ".row.at", ".row.lit", ".row.lit.at", ".row.m-removed", ".row.m-added", ".row.m-changed", ".row.m-filler",
)  # fmt: skip
WORDS = (".t-comment", ".t-pre", ".t-word", ".t-text", ".t-num", ".pane")
CLASSES = re.findall(r"\.c-\w+ \{ --hue: (#\w+)", CSS)

MIXED = re.compile(r"color-mix\(in (\w+), (var\([\w-]+\)|#\w+) (\d+)%, (var\([\w-]+\)|transparent)\)")


def declared(selector: str, name: str) -> str:
    """What the rule that is for this selector alone says of a property."""
    (found,) = re.findall(rf"(?m)^{re.escape(selector)} \{{[^}}]*?(?<![\w-]){name}: ([^;]+);", CSS)
    return found


def known(theme: str, word: str) -> Rgb:
    if word.startswith("#"):
        return rgb(word)
    if word == "var(--dim)":
        return mixed(theme, re.search(r"--dim: ([^;]+);", CSS)[1])
    first, *rest = word.removeprefix("var(--st-").removesuffix(")").split("-")
    return rgb(THEMES[theme][first + "".join(part.title() for part in rest)])


def mixed(theme: str, told: str, ground: Rgb | None = None) -> Rgb:
    """The colour of a value of the style sheet; what it mixes with nothing lies over `ground`."""
    found = MIXED.search(told)
    if not found:
        return known(theme, told)
    space, one, percent, other = found.groups()
    share, below = int(percent) / 100, ground if other == "transparent" else known(theme, other)
    if space == "srgb":
        return blend(known(theme, one), below, share)
    return from_oklab(blend(to_oklab(known(theme, one)), to_oklab(below), share))


def blend(one, other, share: float):
    return tuple(share * a + (1 - share) * b for a, b in zip(one, other, strict=True))


# Bjorn Ottosson's OKLab (https://bottosson.github.io/posts/oklab/), which CSS Color 4 takes.
LMS = ((0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566), (0.0883024619, 0.2817188376, 0.6299787005))
LAB = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)
LMS_OF_LAB = ((1, 0.3963377774, 0.2158037573), (1, -0.1055613458, -0.0638541728), (1, -0.0894841775, -1.2914855480))
RGB_OF_LMS = (
    (4.0767416621, -3.3077115913, 0.2309699292), (-1.2684380046, 2.6097574011, -0.3413193965), (-0.0041960863, -0.7034186147, 1.7076147010),
)  # fmt: skip


def times(matrix, vector):
    return tuple(sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)


def to_oklab(colour: Rgb):
    return times(LAB, [max(0.0, part) ** (1 / 3) for part in times(LMS, linear(colour))])


def from_oklab(lab) -> Rgb:
    light = [min(1.0, max(0.0, part)) for part in times(RGB_OF_LMS, [part**3 for part in times(LMS_OF_LAB, lab)])]
    return tuple(12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055 for part in light)


def ground_of(theme: str, tint: str) -> Rgb:
    page = known(theme, "var(--st-code-background-color)")
    return mixed(theme, declared(tint, "background"), page) if tint else page


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("tint", TINTS)
def test_every_word_has_4_5_to_1_on_every_tint_of_a_row(theme, tint):
    ground = ground_of(theme, tint)
    low = {word: contrast(mixed(theme, declared(word, "color")), ground) for word in WORDS}
    number = "var(--st-text-color)" if tint and "hover" not in tint else "var(--dim)"  # see `.row.at > i`
    low["line number"] = contrast(known(theme, number), ground)
    assert {word: round(value, 2) for word, value in low.items() if value < 4.5} == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_class_of_instructions_has_4_5_to_1_on_its_own_ground(theme):
    assert len(CLASSES) == 15
    page, text = known(theme, "var(--st-background-color)"), known(theme, "var(--st-text-color)")
    pairs = {
        hue: [from_oklab(blend(to_oklab(rgb(hue)), to_oklab(other), share)) for other, share in ((text, 0.45), (page, 0.24))]
        for hue in CLASSES
    }
    assert "var(--hue) 24%" in CSS and "var(--hue) 45%" in CSS
    assert {hue: round(contrast(*pair), 2) for hue, pair in pairs.items() if contrast(*pair) < 4.5} == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("tint", TINTS)
def test_what_was_searched_for_has_4_5_to_1_on_a_tint(theme, tint):
    ground = mixed(theme, declared(".found", "background"), ground_of(theme, tint))
    ink = mixed(theme, declared(".found", "color"))
    assert contrast(ink, ground) >= 4.5


def test_a_mix_in_oklab_is_that_of_css():
    """Half red and half blue is rgb(140, 83, 162) there."""
    found = from_oklab(blend(to_oklab(rgb("#ff0000")), to_oklab(rgb("#0000ff")), 0.5))
    assert [round(255 * part) for part in found] == pytest.approx([140, 83, 162], abs=1)
