"""`run` and `compile`: hand a request to the engine, wait for it, give the result."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, TypeVar, Unpack

from tileviz.api.results import Compiled, Result
from tileviz.engine import client, options, presets
from tileviz.engine.requests import Request, resolve, saving
from tileviz.errors import EngineError, TilevizError
from tileviz.records import Trial, TunedConfig
from tileviz.store import Store, StoreWithRecorded

CANCEL_WAIT_S = 15.0
"""Seconds to wait after Ctrl-C until the engine has killed what was running."""

T = TypeVar("T")


class Measuring(TypedDict, total=False):
    """How something is measured. What is left out is as on the page."""

    inputs: str
    """`normal`, `zeros`, `ones`, `integers`, `nan` or `inf`."""
    seed: int
    """Of random inputs."""
    l2: str
    """State of the L2 cache before each sample on a GPU: `cold` or `warm`."""
    flush: str
    """How it is emptied: `read`, `write` or `none`."""
    baselines: bool | Sequence[str]
    """All, none, or those of these names."""
    timeout_s: float
    """Most seconds for compiling, and again for check and timing, and again for each baseline."""


def run(
    kernel: str,
    problem: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
    *,
    device: str | None = None,
    use_presets: bool = True,
    save: str | None = None,
    **measuring: Unpack[Measuring],
) -> Result:
    """Compiles one config where needed, checks it against the reference and times it, beside the
    baselines.

    `problem` has sizes, dtype and flags, `config` knobs and pass configs; what is left out starts
    from the nearest preset, or with `use_presets=False` from the kernel's own defaults. `device` is
    `cpu`, `cuda:0`, ...: the first GPU, or else the CPU. `save` names an .npz file for inputs and
    output.

    A config that cannot be compiled or is wrong raises nothing: the result says so (`ok`, `status`,
    `reason`). Raises BadRequest for a name or number that makes no sense, EngineError and
    StoreError where nothing can be run. Ctrl-C stops what was running.
    """
    store = StoreWithRecorded()
    asked = resolve(
        kernel,
        dict(problem or {}),
        dict(config or {}),
        kind="run",
        where=options.Where(device=device),
        measuring=options.Measuring(**measured(measuring)),
        presets=starts(store, kernel, use_presets),
    )
    return Result(_done(store, saving(asked, save)), store)


def compile(
    kernel: str,
    problem: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
    *,
    target: str | None = None,
    use_presets: bool = True,
    timeout_s: float = 120.0,
) -> Compiled:
    """Generates and compiles the code of one config for any target, `sm_75` to `sm_120a` or `cpu`;
    nothing is run, and no GPU is needed.

    Without a `target` it is that of the first device here. The rest is as for `run`.
    """
    store = StoreWithRecorded()
    asked = resolve(
        kernel,
        dict(problem or {}),
        dict(config or {}),
        kind="compile",
        where=options.Where(target),
        measuring=options.Measuring(timeout_s=timeout_s),
        presets=starts(store, kernel, use_presets),
    )
    return Compiled(_done(store, asked), store)


def measured(asked: Mapping[str, Any], known: type = Measuring) -> dict[str, Any]:
    """Options of `known` as the engine takes them. Raises TypeError for another one, as for any
    keyword that is not known."""
    unknown = sorted(set(asked) - set(known.__annotations__))
    if unknown:
        raise TypeError(f"no option '{unknown[0]}'; known: {', '.join(known.__annotations__)}")
    rest = {name: value for name, value in asked.items() if name != "baselines"}
    chosen = asked.get("baselines", True)
    if isinstance(chosen, bool):
        return {**rest, "baselines": chosen}
    return {
        **rest,
        "baselines": True,
        "only_baselines": (chosen,) if isinstance(chosen, str) else tuple(chosen),
    }


def starts(store: Store, kernel: str, use_presets: bool) -> tuple[TunedConfig, ...]:
    """What knobs that are not given may start from."""
    return presets.known(store, kernel) if use_presets else ()


def heeding_ctrl_c(wait: Callable[[float | None], T], stop: Callable[[], None]) -> T:
    """What `wait` gives, which takes its most seconds. Ctrl-C stops the work itself, too, and waits
    a little until it has."""
    try:
        return wait(None)
    except KeyboardInterrupt:
        stop()
        # it was told to stop; who pressed Ctrl-C waits no longer than that
        with contextlib.suppress(TimeoutError):
            wait(CANCEL_WAIT_S)
        raise


def _done(store: Store, request: Request) -> Trial:
    """The trial of a request, when its job has ended. Raises EngineError and StoreError."""
    job = client.submit(store, request)
    try:
        ended = heeding_ctrl_c(lambda most: client.wait(store, job, timeout=most), lambda: client.cancel(store, job))
    except EngineError:
        store.cancel(job)  # nobody waits for it any more
        raise
    trial = store.trial(ended.trial) if ended.trial else None
    if trial is None:
        reason = ended.reason or "no reason was given"
        raise TilevizError(f"the job ended as {ended.state} without a result: {reason}; see {store.home / 'engine.log'}")
    return trial
