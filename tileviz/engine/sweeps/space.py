"""The space of a sweep: knobs' values and problems in; every requested config out, with its fate
before anything is compiled."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tileviz.engine.requests import memory_rule
from tileviz.errors import BadValue, UnknownName
from tileviz.kernels.asked import AskedKernel
from tileviz.kernels.toolkit.pass_configs import parse_pass_config
from tileviz.records import Config, Device, Problem, Target

MOST_CONFIGS = 100_000
"""Requested configs of one sweep, over all problems."""

MOST_BY_DEFAULT = 10_000
"""Configs of one problem up to which a knob without values is swept over all that is offered."""

MOST_ASKED = 1024
"""Configs that a kernel is asked about at once."""

# the numbers of `shared memory 196,608 B is over the 101,376 B a block of sm_89 may use`, without
# the 89
_NUMBER = re.compile(r"(?<![\w.,])-?\d[\d,]*(?:\.\d+)?(?!\w)")


@dataclass(frozen=True)
class Point:
    """One requested config of one problem."""

    ordinal: int
    problem: int
    """Place in the space's problems."""
    config: Config
    status: Literal["", "pruned", "unsupported"] = ""
    """`pruned` or `unsupported`; empty when it is to be run."""
    broken: tuple[str, ...] = ()
    """The rules that it breaks, or why the target cannot express it."""
    same_as: int | None = None
    """Ordinal of the first config that generates the same code; that one is run."""

    @property
    def reason(self) -> str:
        return "; ".join(self.broken)


@dataclass(frozen=True)
class Count:
    """What a space holds. requested = unique + duplicates + pruned + unsupported."""

    requested: int
    unique: int
    """Configs to compile: legal, and equal ones taken once."""
    duplicates: int
    pruned: int
    unsupported: int
    rules: dict[str, int] = field(default_factory=dict)
    """Requested configs that break each kind of rule, most first; a config that breaks two counts
    in both."""


@dataclass(frozen=True)
class Space:
    """`values` of knobs and pass configs times `problems`; or the listed `configs`, in their order,
    when given."""

    kernel: AskedKernel
    target: Target
    problems: tuple[Problem, ...]
    values: dict[str, tuple]
    configs: tuple[Config, ...] = ()
    device: Device | None = None
    starts: tuple[Config, ...] = ()
    """For each problem the config at which the knobs stand that `values` does not name; empty where
    it names all of them."""

    @property
    def all_values(self) -> dict[str, tuple]:
        """Values of every knob and pass config over all problems; empty for a list of configs."""
        standing: dict[str, dict] = {}
        for start in self.starts:
            for name, value in start.items():
                standing.setdefault(name, {})[value] = None
        return {name: tuple(found) for name, found in standing.items()} | self.values

    @property
    def size(self) -> int:
        """Requested configs, without making them."""
        each = len(self.configs) or math.prod(len(v) for v in self.values.values())
        return each * len(self.problems)

    def points(self) -> Iterator[Point]:
        """Every requested config in order: problem by problem, the last knob fastest."""
        ordinal = itertools.count()
        for number, problem in enumerate(self.problems):
            cannot = self.kernel.unsupported(problem, self.target) or ""
            too_big = (
                memory_rule(self.kernel, problem, self.device) if self.device is not None else None
            )
            seen: dict[bytes, Point] = {}
            for configs in _in_lists(self._configs(number), MOST_ASKED):
                if cannot:
                    yield from (
                        Point(next(ordinal), number, config, "unsupported", (cannot,))
                        for config in configs
                    )
                else:
                    yield from self._judged(ordinal, number, configs, too_big, seen)

    def count(self) -> Count:
        """Counts by fate, and by rule: 10,000 configs in about a third of a second."""
        fates: Counter = Counter()
        rules: Counter = Counter()
        for point in self.points():
            fates[point.status or ("duplicate" if point.same_as is not None else "unique")] += 1
            if point.status == "pruned":
                rules.update({rule_kind(sentence) for sentence in point.broken})
        named = (fates[fate] for fate in ("unique", "duplicate", "pruned", "unsupported"))
        return Count(sum(fates.values()), *named, dict(rules.most_common()))

    def _configs(self, problem: int) -> Iterator[Config]:
        if self.configs:
            yield from self.configs
            return
        names, start = list(self.values), self.starts[problem] if self.starts else {}
        for combination in itertools.product(*self.values.values()):
            yield {**start, **dict(zip(names, combination, strict=True))}

    def _judged(
        self,
        ordinal: Iterator[int],
        number: int,
        configs: list[Config],
        too_big: str | None,
        seen: dict[bytes, Point],
    ) -> Iterator[Point]:
        """The points of some configs of a problem: of each code the first is judged, and `seen` by
        those that follow."""
        problem = self.problems[number]
        codes = self.kernel.codes(problem, configs, self.target)
        first = {
            code: config
            for code, config in zip(reversed(codes), reversed(configs), strict=True)
            if code not in seen
        }
        broken = dict(
            zip(first, self.kernel.broken(problem, list(first.values()), self.target), strict=True)
        )
        for code, config in zip(codes, configs, strict=True):
            found = seen.get(code)
            if found is not None:
                yield Point(
                    next(ordinal), number, config, found.status, found.broken, found.ordinal
                )
                continue
            rules = broken[code] + ((too_big,) if too_big else ())
            seen[code] = Point(next(ordinal), number, config, "pruned" if rules else "", rules)
            yield seen[code]


def space_of(
    kernel: AskedKernel,
    target: Target,
    problems: Sequence[Problem],
    values: Mapping[str, Sequence] | None = None,
    configs: Sequence[Config] = (),
    fixed: Config | None = None,
    device: Device | None = None,
    starts: Sequence[Config] = (),
) -> Space:
    """A checked space. A knob in `fixed` takes that one value; one without values stands where its
    problem's config in `starts` has it, or without `starts` takes what `offered_values` says. Pass
    configs are knobs by their TileLang name.

    Raises UnknownName for a knob that is not there, BadValue for a value it cannot take or a space
    that is too large.
    """
    full = tuple(kernel.configs([{**(fixed or {}), **config} for config in configs], target))
    named = (
        {} if configs else _values(kernel, target, values or {}, fixed or {}, complete=not starts)
    )
    space = Space(kernel, target, tuple(problems), named, full, device, tuple(starts))
    if not space.problems:
        raise BadValue("a sweep needs at least one problem")
    if space.size > MOST_CONFIGS:
        raise BadValue(
            f"the space holds {space.size:,} configs; at most {MOST_CONFIGS:,}: give fewer values"
        )
    return space


def _in_lists(configs: Iterator[Config], most: int) -> Iterator[list[Config]]:
    while found := list(itertools.islice(configs, most)):
        yield found


def rule_kind(sentence: str) -> str:
    """A broken rule without its numbers: configs that break the same rule share it."""
    return _NUMBER.sub("#", sentence)


def offered_values(
    kernel: AskedKernel, target: Target, given: Mapping[str, Sequence] | None = None
) -> dict[str, tuple]:
    """Values of each knob that has none in `given`: every choice made for the target; but where all
    of them, with those that are given, make more than MOST_BY_DEFAULT configs, the knobs that the
    kernel declares last stay at the target's default."""
    out = {
        knob.name: tuple(knob.offered(target.name))
        for knob in kernel.knobs
        if knob.name not in (given or {})
    }
    size = math.prod(len(found) for found in (*(given or {}).values(), *out.values()))
    usual = kernel.config({}, target)
    for knob in reversed(kernel.knobs):
        if size > MOST_BY_DEFAULT and len(out.get(knob.name, ())) > 1:
            size //= len(out[knob.name])
            out[knob.name] = (usual[knob.name],)
    return out


def _values(
    kernel: AskedKernel,
    target: Target,
    values: Mapping[str, Sequence],
    fixed: Config,
    complete: bool,
) -> dict[str, tuple]:
    known = {knob.name: knob for knob in kernel.knobs}
    for name in (*values, *fixed):
        if name not in known and "." not in name:
            raise UnknownName.of(f"knob of {kernel.name}", name, known)
        if name in values and name in fixed:
            raise BadValue(
                f"{name} is to stay at {fixed[name]} and to be swept: give it with -k or"
                " with -s, not both"
            )
    asked = {name: (value,) for name, value in fixed.items()} | dict(values)
    asked |= offered_values(kernel, target, asked) if complete else {}
    out = {
        name: tuple(knob.parse(value) for value in asked[name])
        for name, knob in known.items()
        if name in asked
    }
    out |= {
        name: tuple(parse_pass_config(name, value) for value in asked[name])
        for name in sorted(asked)
        if "." in name
    }
    empty = [name for name, found in out.items() if not found]
    if empty:
        raise BadValue(f"no values for {', '.join(empty)}; give at least one")
    return out
