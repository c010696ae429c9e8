"""`compile`, `run` and `show`: submit, watch, print one trial."""

import json
import sys
from dataclasses import replace
from typing import assert_never

from tileviz import kernels, texts
from tileviz.cli import tables
from tileviz.cli.cancel import how_to
from tileviz.cli.explained import explained
from tileviz.cli.once import given
from tileviz.cli.terminal import ReaderLeft, reader_left
from tileviz.compiler import targets
from tileviz.engine import client, presets
from tileviz.engine.options import Measuring, Where
from tileviz.engine.requests import Request, local_devices, resolve, saving
from tileviz.errors import BadRequest, EngineError, Limitation, TilevizError
from tileviz.records import Artifact, JobView, Trial, TunedConfig
from tileviz.records_json import to_json
from tileviz.store import Store, StoreWithRecorded

CANCEL_WAIT_S = 15.0
"""Seconds to wait after Ctrl-C until the engine has killed what was running."""


def compile(asked) -> int:
    """Generates and compiles; with `--emit` prints one text. `--emit source` without `--json` only
    lowers."""
    text = field_of(asked.emit) if asked.emit else None
    source_only = text == "source" and not asked.json
    store = StoreWithRecorded()
    request = resolve(
        asked.kernel,
        *_chosen(asked),
        kind="compile",
        where=Where(asked.target, asked.device),
        measuring=Measuring(timeout_s=asked.timeout),
        until="source" if source_only else "all",
        presets=presets_of(store, asked),
    )
    job, trial = _do(store, request, asked)
    return _print(store, trial, asked, artifact=job.artifact or trial.artifact)


def run(asked) -> int:
    """Compiles where needed, checks and times, always anew."""
    if asked.l2 == "warm" and "flush" in given(asked):
        raise BadRequest(
            "--flush says how L2 is emptied, and --l2 warm leaves it full: give one of them"
        )
    store = StoreWithRecorded()
    request = resolve(
        asked.kernel,
        *_chosen(asked),
        kind="run",
        where=Where(asked.target, asked.device),
        measuring=replace(measuring_of(asked), flush=asked.flush),
        presets=presets_of(store, asked),
    )
    _job, trial = _do(store, saving(request, asked.save), asked)
    return _print(store, trial, asked)


def show(asked) -> int:
    """A stored trial. Raises BadRequest when there is none of this id."""
    store = StoreWithRecorded()
    trial = store.trial(asked.trial)
    if trial is None:
        recent = ", ".join(t.trial for t in store.trials(limit=5)) or "none yet"
        raise BadRequest(f"no trial '{asked.trial}' under {store.home}; the newest: {recent}")
    status = _print(store, trial, asked, artifact=trial.artifact)
    return status if asked.emit else 0


def field_of(emit: str) -> str:
    """The field of an artifact that a word of `--emit` means."""
    return "source" if emit == "cuda" else emit


def document(trial: Trial, text: str | None = None, content: str | None = None) -> dict:
    """The JSON document of a trial, with the text that was asked for."""
    return {**to_json(trial), **({"text": {text: content}} if text else {})}


def emitted(trial: Trial, artifact: Artifact | None, text: str) -> str:
    """One text of a trial's artifact. Raises Limitation, with the reason, when it has none: a tool
    that is missing, or what the trial itself says, such as what the compiler refused."""
    content = texts.content(artifact, text) if artifact is not None else None
    if content is None:
        raise Limitation(f"no {text} for this trial: {texts.why_none(trial, artifact, text)}")
    return content


def _chosen(asked) -> tuple[dict[str, str], dict[str, str]]:
    if asked.target and targets.target(asked.target).note:
        say(targets.target(asked.target).note)
    return dict(asked.problem), dict(asked.config)


def presets_of(store: Store, asked) -> tuple[TunedConfig, ...]:
    """What knobs that are not given may start from."""
    return () if asked.no_presets else presets.known(store, asked.kernel)


def measuring_of(asked) -> Measuring:
    """How a run or a sweep is measured, from the words that both commands take."""
    return Measuring(
        inputs=asked.inputs,
        seed=asked.seed,
        l2=asked.l2,
        baselines=not asked.no_baselines,
        only_baselines=tuple(asked.baselines),
        timeout_s=asked.timeout,
    )


def _do(store: Store, request: Request, asked) -> tuple[JobView, Trial]:
    """Submits, says each phase on stderr, and gives the ended job with its trial. Ctrl-C cancels
    the job."""
    if request.preset:
        say(f"knobs that were not given: {request.preset} (--no-presets takes the plain defaults)")
    job = client.submit(store, request)
    try:
        ended = client.wait(store, job, on_phase=_say_phase, each=lambda: _look_for_reader(job))
    except KeyboardInterrupt:
        _stop(store, job, request, asked)
        raise
    except EngineError:
        store.cancel(job)  # nobody waits for it any more
        raise
    trial = store.trial(ended.trial) if ended.trial else None
    if trial is None:
        raise TilevizError(
            f"the job ended as {ended.state} without a result:"
            f" {ended.reason or 'no reason was given'}; see {store.home / 'engine.log'}"
        )
    return ended, trial


def _look_for_reader(job: str) -> None:
    """Raises ReaderLeft where nobody would read the result: the job goes on without its command."""
    if reader_left():
        raise ReaderLeft(
            f"nobody reads the output any more; job {job} goes on, and its result is"
            f" stored: {how_to(job)} stops it"
        )


def _say_phase(job: JobView) -> None:
    match job.state:
        case "queued":
            say(f"queued, {job.queue_position} before it" if job.queue_position else "queued")
        case "running":
            if job.phase:
                say(f"{job.phase} ...")
        case "cancelling" | "done" | "failed" | "cancelled":
            pass
        case _:
            assert_never(job.state)


def _stop(store: Store, job: str, request: Request, asked) -> None:
    client.cancel(store, job)
    try:
        ended = client.wait(store, job, timeout=CANCEL_WAIT_S)
    except TimeoutError as error:
        say(f"the job was told to stop, but has not ended yet: {error}")
        ended = store.job(job)
    if not asked.json:
        return
    trial = store.trial(ended.trial) if ended and ended.trial else None
    left = {
        "kernel": request.kernel,
        "problem": request.problem,
        "config": request.config,
        "target": request.target,
        "device": request.device,
    }
    print(
        json.dumps(
            document(trial)
            if trial
            else {"trial": None, **left, "status": "cancelled", "reason": "stopped before it ended"}
        )
    )


def _print(store: Store, trial: Trial, asked, artifact: str | None = None) -> int:
    """Prints a trial or one of its texts; the exit status is 0 when it is ok."""
    emit = getattr(asked, "emit", None)
    text = field_of(emit) if emit else None
    code = artifact or trial.artifact
    found = store.artifact(code) if code else None
    content, why_none = None, ""
    if text:
        try:
            content = emitted(trial, found, text)
        except Limitation as error:
            if trial.status == "ok":
                raise
            why_none = error.message
    told = explained(trial, found)
    if asked.json:
        print(json.dumps({**document(trial, text, content), **told.document}))
    elif content is not None:
        sys.stdout.write(content if content.endswith("\n") else content + "\n")
    elif not text:
        print(tables.trial_text(trial, _device_name(trial), _math_mode(trial), told))
    if trial.detail and trial.status not in ("ok", "pruned"):
        say(trial.detail.rstrip())
    if trial.status == "crashed":
        say(f"the engine's log is {store.home / 'engine.log'}")
    if trial.status != "ok" and (asked.json or text):
        say(why_none or f"{trial.status}: {trial.reason}")
    return 0 if trial.status == "ok" else 1


def _math_mode(trial: Trial) -> str:
    """Precision of the products, such as `TF32`; empty where there are none, or the kernel is not
    here."""
    try:
        kernel, target = kernels.kernel(trial.kernel), targets.target(trial.target)
    except BadRequest:
        return ""
    return kernel.math_mode(trial.problem, target) if kernel.cost(trial.problem).flops else ""


def _device_name(trial: Trial) -> str:
    if trial.device is None:
        return ""
    return next(
        (f"{device.id}, {device.name}" for device in local_devices() if device.id == trial.device),
        trial.device,
    )


def say(words: str) -> None:
    """A line of the log."""
    print(words, file=sys.stderr, flush=True)
