"""A sweep as it is asked for: completed, checked, JSON values only, and ready to be a job."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from tileviz.compiler import targets
from tileviz.engine.options import ANYWHERE, SWEPT_S, USUAL, Measuring, Where
from tileviz.engine.requests import Request, local_devices, resolve
from tileviz.engine.strategies import strategy as strategy_of
from tileviz.engine.sweeps.budget import FINALISTS, Budget, Effort, budget_of, default_strategy
from tileviz.engine.sweeps.space import Count, Space, space_of
from tileviz.errors import BadValue
from tileviz.kernels import kernel as kernel_of
from tileviz.records import Config, Problem, TunedConfig
from tileviz.records_json import known_fields


@dataclass(frozen=True)
class SweepRequest(Measuring):
    """Everything the engine needs to know of a sweep; its configs lie in the store as rows. What
    says how each is measured is in `options.Measuring`."""

    kernel: str
    problems: tuple[Problem, ...]
    values: dict[str, tuple]
    """Values of every knob and pass config; empty for a list of configs."""
    target: str
    device: str
    strategy: str
    effort: Effort = "normal"
    budget: Budget = Budget()
    timeout_s: float = field(default=SWEPT_S, kw_only=True)
    finalists: int = FINALISTS
    counted: dict[str, Any] = field(default_factory=dict)
    """The space's Count: requested, unique, duplicates, pruned, unsupported, rules."""
    kind: str = "sweep"

    def trial_request(self, problem: int, config: Config) -> Request:
        """The request of one config of it."""
        return Request(
            kind="run",
            kernel=self.kernel,
            problem=self.problems[problem],
            config=config,
            target=self.target,
            device=self.device,
            **self.measured_by(),
        )


@dataclass(frozen=True)
class Given:
    """What is given of a sweep's configs beside the values of its knobs."""

    configs: Sequence[dict[str, Any]] = ()
    """A list of configs, in place of values."""
    fixed: dict[str, Any] | None = None
    """Knobs that stay at one value."""
    all_knobs: bool = True
    """Whether a knob without values varies, as `space.offered_values` says; else it stands where a
    run of the problem starts."""


@dataclass(frozen=True)
class Searching:
    """How a space is searched, and when it is enough; None leaves it to the effort."""

    strategy: str | None = None
    effort: Effort = "normal"
    trials: int | None = None
    """Most configs, over all problems."""
    seconds: float | None = None
    patience: int | None = None
    finalists: int = FINALISTS
    """Configs of each problem that are measured again in turn."""


NOTHING_MORE = Given()
BY_EFFORT = Searching()


def resolve_sweep(
    kernel: str,
    problems: Sequence[dict[str, Any]] | dict[str, Any] | None = None,
    values: Mapping[str, Sequence] | None = None,
    *,
    given: Given = NOTHING_MORE,
    searching: Searching = BY_EFFORT,
    where: Where = ANYWHERE,
    measuring: Measuring = USUAL,
    presets: Iterable[TunedConfig] = (),
) -> tuple[SweepRequest, Space]:
    """Completes a sweep from what a person gave: one or several problems, values of knobs or a list
    of configs, and how to search. A knob that stands does so at the nearest of the `presets`, or
    else at the kernel's default.

    Raises BadRequest (UnknownName, BadValue) in one sentence. Configs that break a rule are no
    error: they are rows that say so.
    """
    devices = local_devices() if where.devices is None else where.devices
    where = replace(where, devices=devices)
    measuring = replace(
        measuring, timeout_s=SWEPT_S if measuring.timeout_s is None else measuring.timeout_s
    )
    each = _of_each(kernel, problems, given, where, measuring, tuple(presets))
    place = next(d for d in devices if d.id == each[0].device)
    starts = {tuple(request.problem.items()): request.config for request in each}
    full = tuple(map(dict, starts))
    standing = () if given.all_knobs else tuple(starts.values())
    target = targets.target(each[0].target)
    space = space_of(
        kernel_of(kernel), target, full, values, given.configs, given.fixed, place, standing
    )
    count = space.count()
    if searching.finalists < 0:
        raise BadValue(f"finalists is {searching.finalists}; give a number from 0")
    request = SweepRequest(
        kernel=kernel,
        problems=full,
        values=space.all_values,
        target=each[0].target,
        device=place.id,
        strategy=_strategy(searching.strategy, searching.effort, count, len(full)),
        effort=searching.effort,
        budget=budget_of(
            searching.effort, searching.trials, searching.seconds, searching.patience, len(full)
        ),
        finalists=searching.finalists,
        counted=asdict(count),
        **each[0].measured_by(),
    )
    return request, space


def _of_each(
    kernel: str,
    problems,
    given: Given,
    where: Where,
    measuring: Measuring,
    presets: tuple[TunedConfig, ...],
) -> list[Request]:
    """The run that each problem of a sweep starts from."""
    asked = [problems] if isinstance(problems, dict) or problems is None else list(problems)
    if not asked:
        raise BadValue("a sweep needs at least one problem")
    start = {} if given.all_knobs else given.fixed
    return [
        resolve(kernel, problem, start, where=where, measuring=measuring, presets=presets)
        for problem in asked
    ]


def sweep_from_json(doc: dict[str, Any]) -> SweepRequest:
    """The SweepRequest that a store row or a job holds."""
    values = known_fields(SweepRequest, doc)
    values["problems"] = tuple(values["problems"])
    values["only_baselines"] = tuple(values.get("only_baselines", ()))
    values["budget"] = Budget(**known_fields(Budget, values["budget"]))
    values["values"] = {name: tuple(found) for name, found in values["values"].items()}
    return SweepRequest(**values)


def _strategy(name: str | None, effort: Effort, count: Count, problems: int) -> str:
    chosen = name or default_strategy(effort, count.unique, problems)
    strategy_of(chosen)
    return chosen
