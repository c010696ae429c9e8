"""Values of a stranger's arguments as JSON, tagged where JSON has no word for them, and as words
for a terminal."""

import math
from typing import Any

LONGEST_WORDS = 60
"""Characters of a value that is shown."""


def stored(value: object) -> Any:
    """The JSON value: {"dtype": "float16"}, {"tuple": [...]}, {"dict": [[key, value], ...]},
    {"float": "inf"}; what cannot be kept is {"unkept": its type}."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, (tuple, list)):
        return {type(value).__mro__[-2].__name__: [stored(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[stored(key), stored(item)] for key, item in value.items()]}
    if type(value).__name__ == "dtype":
        return {"dtype": str(value).removeprefix("torch.")}
    return {"unkept": type(value).__name__}


def is_kept(value: Any) -> bool:
    """Whether what `stored` gave says all of the value."""
    if not isinstance(value, dict):
        return True
    if "unkept" in value:
        return False
    parts = value.get("tuple") or value.get("list") or [part for pair in value.get("dict", ()) for part in pair]
    return all(map(is_kept, parts))


def dtype_of(value: Any) -> str:
    """One word for what a stored value is: int, float, bool, text, dtype, tuple, list, dict, none
    or the type that could not be kept."""
    if value is None:
        return "none"
    if isinstance(value, dict):
        tag = next(iter(value))
        return value[tag] if tag == "unkept" else tag
    return {bool: "bool", int: "int", float: "float", str: "text"}[type(value)]


def words(value: Any) -> str:
    """A stored value as a person writes it, cut where it is long."""
    text = _written(value)
    return text if len(text) <= LONGEST_WORDS else text[: LONGEST_WORDS - 1] + "…"


def name_of(function) -> str:
    """Of a callable that a script hands over."""
    inner = getattr(function, "func", function)  # of a functools.partial
    return getattr(inner, "__qualname__", None) or type(inner).__name__


def _written(value: Any) -> str:
    if not isinstance(value, dict):
        return value if isinstance(value, str) else repr(value)
    tag, content = next(iter(value.items()))
    if tag in ("tuple", "list"):
        inner = ", ".join(map(_written, content))
        return f"({inner})" if tag == "tuple" else f"[{inner}]"
    if tag == "dict":
        return "{" + ", ".join(f"{_written(key)}: {_written(item)}" for key, item in content) + "}"
    return f"<{content}>" if tag == "unkept" else content
