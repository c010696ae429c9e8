"""What a person types into the set-up, as values: lists of numbers, problems from sizes with
several values, and the count in words."""

import itertools
import re
from collections.abc import Sequence
from typing import Any

from tileviz.errors import BadValue, TilevizError
from tileviz.formats import word

EVERY, IN_STEP = "every combination", "in step"
"""How sizes with several values make problems."""

MOST_PROBLEMS = 200


def words_in(text: str) -> list[str]:
    """`64, 128 256` as words. A `..` makes doublings: `64..512` is 64, 128, 256, 512."""
    out: list[str] = []
    for part in re.split(r"[\s,;]+", text.strip()):
        span = re.fullmatch(r"(\d+)\.\.(\d+)", part)
        out += _doublings(int(span[1]), int(span[2])) if span else [part] if part else []
    return list(dict.fromkeys(out))


def parsed(item, words: Sequence[str]) -> tuple[list[str], str]:
    """(the words in their one spelling, without those that cannot be meant; a sentence about the
    first of these or "")."""
    good, wrong = [], ""
    for each in words:
        try:
            good.append(word(item.parse(each)))
        except TilevizError as error:
            wrong = wrong or error.message
    return list(dict.fromkeys(good)), wrong


def problems_of(values: dict[str, list[str]], how: str = EVERY) -> list[dict[str, str]]:
    """A problem for every combination of the values; or, in step, the first of each, the second of
    each, and so on, where a field with one value keeps it. Raises BadValue."""
    if how == EVERY:
        size = 1
        for found in values.values():
            size *= max(1, len(found))
        if size > MOST_PROBLEMS:
            raise BadValue(
                f"these sizes make {size:,} problems; at most {MOST_PROBLEMS}: give fewer, or take"
                " them in step"
            )
        return [
            dict(zip(values, found, strict=True)) for found in itertools.product(*values.values())
        ]
    lengths = {name: len(found) for name, found in values.items() if len(found) > 1}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise BadValue(f"in step, every size with several values needs equally many: {told}")
    steps = max(lengths.values(), default=1)
    return [
        {name: found[step] if len(found) > 1 else found[0] for name, found in values.items()}
        for step in range(steps)
    ]


def count_words(counted: dict[str, Any]) -> str:
    """`27 to run of 3,240 requested: 3,213 are the same code as another, ...`."""
    parts = [
        f"{counted[name]:,} {words}"
        for name, words in (
            ("duplicates", "the same code as another"), ("pruned", "break a rule"),
            ("unsupported", "this target cannot express"),
        )
        if counted[name]
    ]  # fmt: skip
    return f"{counted['unique']:,} to run of {counted['requested']:,} requested" + (
        f": {', '.join(parts)}" if parts else ""
    )


def rule_lines(counted: dict[str, Any], most: int = 6) -> list[str]:
    """A line for each rule that is broken, the most frequent first."""
    rules = list(counted.get("rules", {}).items())
    lines = [f"{count:,}: {rule}" for rule, count in rules[:most]]
    return lines + ([f"and {len(rules) - most} more rules"] if len(rules) > most else [])


def effort_words(effort: str, budget: dict[str, Any], unique: int) -> str:
    """What Start will do, as far as the budget says it."""
    limits = []
    if budget.get("trials") is not None and budget["trials"] < unique:
        limits.append(f"at most {budget['trials']:,} of them")
    if budget.get("seconds") is not None:
        limits.append(f"at most {budget['seconds']:g} s of search")
    if budget.get("patience") is not None:
        limits.append(f"until the best has not moved for {budget['patience']:,} configs")
    return f"effort {effort}: " + (", ".join(limits) or "all of them")


def _doublings(low: int, high: int) -> list[str]:
    out, value = [], max(1, low)
    while value <= high:
        out.append(str(value))
        value *= 2
    return out or [str(low)]
