"""TileLang's lowered IR, the last form before the source."""

from tileviz.texts.base import Reader, Text
from tileviz.texts.source import COUNTERS

TEXTS = (
    Text(
        name="ir",
        title="IR",
        language="ir",
        extension="tir",
        file="kernel.tir",
        reader=Reader(names=COUNTERS),
        made="lowered",
    ),
)
