"""Long proofs, marked `slow`: the default run leaves them out, and says how many; the release check runs them all."""

import re
from pathlib import Path

import pytest


def cases(every: list, *usual: int) -> list:
    """Cases of one test: those at the places `usual` are in every run, the others are long proofs."""
    places = {place % len(every) for place in usual}
    return [case if place in places else slow(case) for place, case in enumerate(every)]


def slow(case, id: str | None = None):
    """One case as a long proof; a tuple is one value for each parameter."""
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.slow, id=id)


def left_out(config, items: list[pytest.Item]) -> list[pytest.Item]:
    """The long proofs that nobody has asked for: by `--all`, by a `-m` that speaks of `slow`, or by node id."""
    if config.option.all or re.search(r"\bslow\b", config.option.markexpr or ""):
        return []
    asked = named(config)
    return [item for item in items if item.get_closest_marker("slow") and not any(is_named(item, *each) for each in asked)]


def named(config) -> list[tuple[Path, str]]:
    """(file, rest of the node id) of each test that stands on the command line by its node id."""
    pairs = [str(word).split("::", 1) for word in config.args if "::" in str(word)]
    return [((config.invocation_params.dir / path).resolve(), rest) for path, rest in pairs]


def is_named(item: pytest.Item, path: Path, rest: str) -> bool:
    """Whether this is the test that was named, or one of its cases."""
    own = item.nodeid.split("::", 1)[-1]
    return item.path == path and (own == rest or own.startswith((f"{rest}[", f"{rest}::")))


def words(count: int) -> str:
    """What the summary of a run says."""
    return f"{count} long proof{'s' * (count != 1)} left out; --all runs all, -m slow these alone"
