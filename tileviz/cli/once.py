"""What becomes of an option that is given twice: a pair may be repeated under another name,
everything else is refused.

argparse takes the last one in silence, and a person would read a result of something that was not
asked for.
"""

import argparse
import csv

_GIVEN = "given"
"""Attribute of the parsed words that holds what `given` tells."""


def given(asked: argparse.Namespace) -> frozenset[str]:
    """The options with one value that were given, whatever their value: a default that was typed is
    among them."""
    return getattr(asked, _GIVEN, frozenset())


class Once(argparse.Action):
    """An option with one value. Given twice, it is refused."""

    def __call__(self, parser, namespace, values, option_string=None) -> None:
        if self.option_strings:
            _given_first(self, namespace)
        setattr(namespace, self.dest, values)


class Pairs(argparse.Action):
    """NAME=VALUE, repeated for each name. A name given twice is refused."""

    def __call__(self, parser, namespace, values, option_string=None) -> None:
        name, value = values
        found = getattr(namespace, self.dest)
        before = next((other for known, other in found if known == name), None)
        if before is not None:
            raise argparse.ArgumentError(
                self, f"{name} is given twice, {before} and {value}; give one value"
            )
        setattr(namespace, self.dest, [*found, (name, value)])


class Lists(argparse.Action):
    """NAME=VALUE,VALUE,...: the values of a name given twice are one list."""

    def __call__(self, parser, namespace, values, option_string=None) -> None:
        name, more = values
        found = dict(getattr(namespace, self.dest))
        setattr(namespace, self.dest, list({**found, name: (*found.get(name, ()), *more)}.items()))


def pair(text: str) -> tuple[str, str]:
    """`block_M=64` as a name and its value."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE")
    return name.strip(), value.strip()


def values(text: str) -> tuple[str, tuple[str, ...]]:
    """`block_M=64,128` as a name and its values. Double quotes keep a comma inside a value:
    `flags="-a,-b",-c` has two."""
    name, equals, value = text.partition("=")
    try:
        found = tuple(
            word.strip()
            for word in next(csv.reader([value], skipinitialspace=True, strict=True), ())
        )
    except csv.Error:
        found = ()
    if not equals or not name.strip() or not found or not all(found):
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE,VALUE,...")
    return name.strip(), found


def _given_first(action: argparse.Action, namespace: argparse.Namespace) -> None:
    if action.dest in given(namespace):
        raise argparse.ArgumentError(action, "given twice; it takes one value")
    setattr(namespace, _GIVEN, given(namespace) | {action.dest})
