"""A scripted compiler and a scripted device for sweeps: what a config does is told by its block_N. Importable in the engine's children."""

import os
import signal
import time
from dataclasses import dataclass, replace
from pathlib import Path

from tileviz.engine.jobs.race import Raced
from tileviz.engine.requests import Request
from tileviz.errors import CompileFailed, LaunchFailed, RuntimeFailed
from tileviz.measured import Timing, Verdict
from tileviz.records import Artifact, Resources, SharedBytes, Trial

FAST, FINE, COMPILE_FAILS, COMPILE_CRASHES, COMPILE_HANGS, TWIN_OF_FAST = 1, 2, 3, 4, 5, 6
WRONG, ILLEGAL, RUN_CRASHES, RUN_HANGS, NO_ROOM, SLOW, OUT_OF_MEMORY, ENGINE_ERROR, FITS_NOWHERE = 7, 8, 9, 10, 11, 12, 13, 14, 15
DIES_EARLY = 1313
"""The N of a problem whose inputs kill the child that draws them."""
RACE_FAILS, RACE_CRASHES, RACE_HANGS = 71, 72, 73
"""The N of problems over which TileLang's AutoTuner fails, dies, or goes on for ever."""
MICROSECONDS = {FAST: 10.0, FINE: 10.05, SLOW: 90.0, TWIN_OF_FAST: 10.0}

EXPECTED = {
    FAST: "ok", FINE: "ok", COMPILE_FAILS: "compile_failed", COMPILE_CRASHES: "crashed", COMPILE_HANGS: "timeout", TWIN_OF_FAST: "ok",
    WRONG: "wrong_result", ILLEGAL: "runtime_failed", RUN_CRASHES: "crashed", RUN_HANGS: "timeout", NO_ROOM: "launch_failed", SLOW: "ok",
    OUT_OF_MEMORY: "runtime_failed", ENGINE_ERROR: "runtime_failed", FITS_NOWHERE: "launch_failed",
}  # fmt: skip
"""The status each of them must end with."""


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)
    time.sleep(5)


@dataclass(frozen=True)
class ScriptedCompile:
    """In the place of CompileJob."""

    request: Request
    executable: bool = False

    def __call__(self, report) -> Artifact:
        what = self.request.config["block_N"]
        report("phase", "lower")
        text = f"source {FAST if what == TWIN_OF_FAST else what} of {self.request.problem['N']}"
        artifact = Artifact(self.request.key, "cpu", text, "c", resources=Resources(stack_bytes=64), seconds={"lower": 0.01})
        report("source", artifact)
        if what == COMPILE_FAILS:
            raise CompileFailed("g++ refused the generated code: line 7", "all that g++ said")
        if what == COMPILE_CRASHES:
            crash()
        if what == COMPILE_HANGS:
            time.sleep(60)
        if what == OUT_OF_MEMORY:
            raise MemoryError
        if what == FITS_NOWHERE:
            return replace(artifact, target="sm_89", resources=Resources(shared_bytes=SharedBytes(dynamic=131_072), blocks_per_sm=0))
        return replace(artifact, instructions={"source": {"branch": what}})


@dataclass(frozen=True)
class ScriptedReady:
    """In the place of ReadyJob: dies where the problem says so."""

    request: Request

    def __call__(self, report) -> None:
        report("phase", "inputs and reference")
        if self.request.problem["N"] == DIES_EARLY:
            crash()


@dataclass(frozen=True)
class ScriptedConfig:
    """In the place of ConfigJob."""

    request: Request
    trial: Trial
    best_us: float | None = None
    patient: bool = False

    def __call__(self, report) -> Trial:
        what = self.request.config["block_N"]
        report("phase", "check")
        if what == WRONG:
            verdict = Verdict(False, 1.0, 1.0, 0.1)
            return replace(self.trial, status="wrong_result", reason="8 of 104 columns never written (96-103)", verdict=verdict)
        if what == ILLEGAL:
            raise RuntimeFailed("the kernel failed while running: an illegal memory access was encountered")
        if what == NO_ROOM:
            raise LaunchFailed("the device refused the launch: too many resources")
        if what == RUN_CRASHES:
            crash()
        if what == ENGINE_ERROR:
            raise ZeroDivisionError("division by zero")
        report("phase", "time")
        if what == RUN_HANGS:
            time.sleep(60)
        time.sleep(float(os.environ.get("SCRIPTED_SECONDS", "0")))
        return replace(self.trial, verdict=Verdict(True, 0.0, 0.0, 0.0), timing=timing(MICROSECONDS.get(what, 20.0 + what)))


@dataclass(frozen=True)
class ScriptedFinals:
    """In the place of FinalsJob: every finalist again, the two fastest tied."""

    entries: tuple

    def __call__(self, report):
        report("phase", "the best again, in turn")
        trials = [replace(trial, timing=replace(trial.timing, note="measured in turn")) for _, trial in self.entries]
        order = sorted(trials, key=lambda trial: trial.timing.median_us)
        return trials, [trial.trial for trial in order[:2]]


@dataclass(frozen=True)
class ScriptedRace:
    """In the place of RaceJob: the first config is the best, or what the problem's N says."""

    request: Request
    configs: tuple
    folder: str

    def __call__(self, report) -> Raced:
        report("phase", "race TileLang's AutoTuner")
        Path(self.folder, "autotuner.log").write_text("DEBUG:Compilation failed for config")
        what = self.request.problem["N"]
        if what == RACE_FAILS:
            raise RuntimeFailed("TileLang's AutoTuner found no config that compiles and runs", "its log")
        if what == RACE_CRASHES:
            crash()
        if what == RACE_HANGS:
            time.sleep(60)
        return Raced(self.configs[0], 11.5, 52.3, len(self.configs), 1)


@dataclass(frozen=True)
class ScriptedBeside:
    """In the place of BesideJob: theirs takes what MICROSECONDS says, and a wrong one is found out."""

    theirs: tuple
    ours: tuple | None

    def __call__(self, report):
        request, trial = self.theirs
        trial = ScriptedConfig(request, trial)(report)
        ours = self.ours[1] if self.ours else None
        tied = [trial.trial, ours.trial] if ours and trial.timing and trial.timing.median_us < 1.01 * ours.timing.median_us else []
        return ours, trial, tied


def timing(median_us: float) -> Timing:
    return Timing(tuple(median_us * (1 + 0.001 * (i % 3 - 1)) for i in range(30)), "perf_counter", "n/a")
