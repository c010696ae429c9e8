"""A sweep as it is asked for: completed, checked, JSON values only, and ready to be a job."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tileviz.compiler import targets
from tileviz.engine.requests import Request, local_devices, resolve
from tileviz.engine.strategies import strategy as strategy_of
from tileviz.engine.sweeps.budget import FINALISTS, Budget, budget_of, default_strategy
from tileviz.engine.sweeps.space import Count, Space, space_of
from tileviz.errors import BadValue
from tileviz.kernels import kernel as kernel_of
from tileviz.records import Config, Device, Problem, TunedConfig
from tileviz.records_json import known_fields


@dataclass(frozen=True)
class SweepRequest:
    """Everything the engine needs to know of a sweep; its configs lie in the store as rows."""

    kernel: str
    problems: tuple[Problem, ...]
    values: dict[str, tuple]
    """Values of every knob and pass config; empty for a list of configs."""
    target: str
    device: str
    strategy: str
    effort: str = "normal"
    budget: Budget = Budget()
    seed: int = 0
    inputs: str = "normal"
    l2: str = "cold"
    flush: str = "read"
    baselines: bool = True
    only_baselines: tuple[str, ...] = ()
    """Names of the baselines to run; empty for all of them."""
    finalists: int = FINALISTS
    timeout_s: float = 60.0
    """Most seconds for compiling one config, and again for its check and timing."""
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
            inputs=self.inputs,
            seed=self.seed,
            l2=self.l2,
            flush=self.flush,
            baselines=self.baselines,
            only_baselines=self.only_baselines,
            timeout_s=self.timeout_s,
        )


def resolve_sweep(
    kernel: str,
    problems: Sequence[dict[str, Any]] | dict[str, Any] | None = None,
    values: dict[str, Sequence] | None = None,
    *,
    configs: Sequence[dict[str, Any]] = (),
    fixed: dict[str, Any] | None = None,
    all_knobs: bool = True,
    presets: Iterable[TunedConfig] = (),
    strategy: str | None = None,
    effort: str = "normal",
    trials: int | None = None,
    seconds: float | None = None,
    patience: int | None = None,
    target: str | None = None,
    device: str | None = None,
    devices: list[Device] | None = None,
    inputs: str = "normal",
    seed: int = 0,
    l2: str = "cold",
    flush: str = "read",
    baselines: bool = True,
    only_baselines: Sequence[str] = (),
    finalists: int = FINALISTS,
    timeout_s: float = 60.0,
) -> tuple[SweepRequest, Space]:
    """Completes a sweep from what a person gave: one or several problems, values of knobs or a list of configs, and a budget. A knob
    without values varies as `space.offered_values` says, or without `all_knobs` stands where a run of the problem starts: at the nearest
    of the `presets`, or else the kernel's defaults. With no strategy, the effort chooses one.

    Raises BadRequest (UnknownName, BadValue) in one sentence. Configs that break a rule are no error: they are rows that say so.
    """
    described = kernel_of(kernel)
    devices = local_devices() if devices is None else devices
    asked = [problems] if isinstance(problems, dict) or problems is None else list(problems)
    settings = {
        "target": target,
        "device": device,
        "devices": devices,
        "inputs": inputs,
        "seed": seed,
        "l2": l2,
        "flush": flush,
        "only_baselines": only_baselines,
        "presets": tuple(presets),
    }
    start = {} if all_knobs else fixed
    each = [resolve(kernel, problem, start, timeout_s=timeout_s, **settings) for problem in asked]
    if not each:
        raise BadValue("a sweep needs at least one problem")
    place = next(d for d in devices if d.id == each[0].device)
    starts = {tuple(request.problem.items()): request.config for request in each}
    full = tuple(map(dict, starts))
    standing = () if all_knobs else tuple(starts.values())
    space = space_of(described, targets.target(each[0].target), full, values, configs, fixed, place, standing)
    count = space.count()
    if finalists < 0:
        raise BadValue(f"finalists is {finalists}; give a number from 0")
    request = SweepRequest(
        kernel=kernel,
        problems=full,
        values=space.all_values,
        target=each[0].target,
        device=place.id,
        strategy=_strategy(strategy, effort, count, len(full)),
        effort=effort,
        budget=budget_of(effort, trials, seconds, patience, len(full)),
        seed=seed,
        inputs=inputs,
        l2=l2,
        flush=flush,
        baselines=baselines,
        only_baselines=each[0].only_baselines,
        finalists=finalists,
        timeout_s=timeout_s,
        counted=asdict(count),
    )
    return request, space


def sweep_from_json(doc: dict[str, Any]) -> SweepRequest:
    """The SweepRequest that a store row or a job holds."""
    values = known_fields(SweepRequest, doc)
    values["problems"] = tuple(values["problems"])
    values["only_baselines"] = tuple(values.get("only_baselines", ()))
    values["budget"] = Budget(**known_fields(Budget, values["budget"]))
    values["values"] = {name: tuple(found) for name, found in values["values"].items()}
    return SweepRequest(**values)


def _strategy(name: str | None, effort: str, count: Count, problems: int) -> str:
    chosen = name or default_strategy(effort, count.unique, problems)
    strategy_of(chosen)
    return chosen
