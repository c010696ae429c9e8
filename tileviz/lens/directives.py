"""Words in a source that only a formatter, a linter or a type checker reads: hidden where a person reads."""

import re

_PYTHON = r"fmt:[ ]?(?:on|off|skip)|noqa(?::[ ]?[A-Z]+\d+(?:,[ ]?[A-Z]+\d+)*)?|ruff:[ ]?noqa(?::[ \w,]+)?|type:[ ]?ignore(?:\[[\w,\- ]+\])?"
_PYTHON += r"|pylint:[ ]?(?:disable|enable)=[\w,\- ]+|yapf:[ ]?(?:disable|enable)|isort:[ ]?\w+|pragma:[ ]?no[ ]cover"
_C = r"clang-format[ ](?:on|off)|NOLINT(?:NEXTLINE|BEGIN|END)?(?:\([\w,\-.* ]*\))?"

#     )  # fmt: skip  # type: ignore[misc]        // clang-format off        /* clang-format on */
DIRECTIVES = {
    "python": re.compile(rf"(?:[ \t]*#[ \t]*(?:{_PYTHON}))+[ \t]*$", re.M),
    "cuda": re.compile(rf"[ \t]*(?://[ \t]*(?:{_C})|/\*[ \t]*(?:{_C})[ \t]*\*/)[ \t]*$", re.M),
}
DIRECTIVES["c"] = DIRECTIVES["cuda"]


def hide(text: str, language: str) -> str:
    """The text without them. Every line stays, so that numbers and columns do; one that held nothing else is empty."""
    return DIRECTIVES[language].sub("", text) if language in DIRECTIVES else text
