"""Contrast of two colours, which ink reads on one, and the scale of speeds."""

from collections.abc import Sequence

SPEEDS = (
    "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58",
    "#b5de2b", "#fde725",
)  # fmt: skip
"""Viridis from slow to fast, at equal steps. The figures carry these very stops, so that a cell's
colour is known here, too."""

SCALE = [[place / (len(SPEEDS) - 1), colour] for place, colour in enumerate(SPEEDS)]
"""The same for plotly's `colorscale`."""

BLACK, WHITE = "#000000", "#ffffff"

Rgb = tuple[float, float, float]
"""Red, green and blue, 0 to 1, as a screen takes them."""


def rgb(colour: str) -> Rgb:
    """Of `#rrggbb`."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def at_share(share: float) -> Rgb:
    """What plotly paints between two stops of SPEEDS: red, green and blue each on a straight
    line."""
    place = min(max(share, 0.0), 1.0) * (len(SPEEDS) - 1)
    left = min(int(place), len(SPEEDS) - 2)
    red, green, blue = (
        a + (b - a) * (place - left)
        for a, b in zip(rgb(SPEEDS[left]), rgb(SPEEDS[left + 1]), strict=True)
    )
    return red, green, blue


def linear(colour: Rgb) -> Rgb:
    """As light adds up (sRGB, IEC 61966-2-1)."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour)
    return red, green, blue


def contrast(one: Rgb, other: Rgb) -> float:
    """1 to 21, by WCAG 2.2."""
    dark, light = sorted(
        sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True))
        for colour in (one, other)
    )
    return (light + 0.05) / (dark + 0.05)


def ink(ground: Rgb, inks: Sequence[str] = (BLACK, WHITE)) -> str:
    """The ink that reads best on a ground; black or white has 4.58 or more on any."""
    return max(inks, key=lambda colour: contrast(rgb(colour), ground))
