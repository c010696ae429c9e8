"""The tile program: the kernel's own file, as it was when it was compiled."""

from tileviz.texts.base import Reader, Text

TEXTS = (
    Text(
        name="program",
        title="Python",
        language="python",
        extension="py",
        file="program.py",
        reader=Reader(),
        made="given",
    ),
)
