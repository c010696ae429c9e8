"""TileLang's lowered IR, the last form before the source."""

from tileviz.texts.base import Reader, Text
from tileviz.texts.source import COUNTERS

READER = Reader(names=COUNTERS)

TEXTS = (
    Text(
        name="ir",
        title="IR",
        language="ir",
        extension="tir",
        file="kernel.tir",
        reader=READER,
        made="lowered",
    ),
)
