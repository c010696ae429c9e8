"""Compiling one config: tile program to artifact, unless the artifact is stored already; the trial
says what came of it."""

from dataclasses import dataclass, replace
from typing import Any

from tileviz import lens, texts
from tileviz.compiler import pipeline
from tileviz.engine.jobs.compiled import blank_trial, with_code
from tileviz.engine.jobs.lowering import LoweringJob
from tileviz.engine.jobs.task import Task
from tileviz.engine.processes.reports import Report, quiet
from tileviz.engine.requests import Request, request_from_json
from tileviz.records import Artifact, JobView, Status, Trial
from tileviz.store import Store, new_id


@dataclass(frozen=True)
class CompileJob(LoweringJob):
    """Tile program to artifact: source, PTX, cubin, SASS, resources, counts."""

    executable: bool = False
    """Also leave what the measure lane loads: needs a C++ compiler."""

    def __call__(self, report: Report = quiet) -> Artifact:
        source = self.kernel.source

        def on_source(artifact: Artifact) -> None:
            report("source", finished(artifact))

        def finished(artifact: Artifact) -> Artifact:
            return replace(counted(artifact), program=artifact.program or source)

        artifact = pipeline.compile_program(
            self.build,
            self.target,
            self.pass_configs,
            key=self.request.key,
            until=self.request.until,
            executable=self.executable,
            report=lambda phase: report("phase", phase),
            on_source=on_source,
        )
        return finished(artifact)


class CompileTask(Task[Request]):
    """Leaves the code of one config, and a trial that says what it takes or why there is none."""

    executable = False
    """Whether the code will be run, too."""

    def __init__(self, engine, job: JobView) -> None:
        super().__init__(engine, job)
        self.trial = Trial(new_id(), "", {}, {}, "", self.doc.get("device"), "ok")

    def begin(self) -> None:
        self.request = request_from_json(self.doc)
        self.trial = blank_trial(self.request)
        stored = stored_code(self.store, self.request)
        if stored is not None:
            self._go_on_with(stored)
            return
        self.ask_child(CompileJob(self.request, executable=self.executable))

    def told(self, kind: str, value: Any) -> None:
        if kind == "source":
            self.store.save_artifact(value, complete=False)
            self.store.job_has(self.job, artifact=value.key)
        elif kind == "trial":
            self._save(value)

    def made(self, artifact: Artifact, /) -> None:
        self.store.save_artifact(artifact, complete=self.request.until == "all")
        if self.request.until == "all":
            self.engine.prepare(self.request.target)
        self._go_on_with(artifact)

    def coded(self) -> None:
        """The code is there, and a launch of it can work."""
        self._save(self.trial)
        self._end("done")

    def refuse(self, status: Status, reason: str, detail: str = "") -> None:
        """The trial keeps what went wrong; the job itself is done."""
        self._save(replace(self.trial, status=status, reason=reason, detail=detail))
        self._end("done")

    def cancel(self) -> None:
        self._kill()
        if self.trial.timing is None:
            self._save(
                replace(self.trial, status="cancelled", reason="cancelled before it was timed")
            )
        self._end("cancelled", "cancelled")

    def _go_on_with(self, artifact: Artifact) -> None:
        """The artifact is there, made now or stored before. The trial's seconds are those of this
        job alone."""
        self.store.job_has(self.job, artifact=artifact.key)
        self.trial = with_code(self.trial, artifact, dict(self.seconds))
        if self.trial.status == "ok":
            self.coded()
            return
        self._save(self.trial)
        self._end("done")

    def _save(self, trial: Trial) -> None:
        self._close_phase()
        self.trial = replace(trial, seconds={**trial.seconds, **self.seconds})
        self.store.save_trial(self.trial)
        self.store.job_has(self.job, trial=self.trial.trial)


def stored_code(store: Store, request: Request) -> Artifact | None:
    """The request's code where it is stored, with every text of the registry."""
    found = store.artifact(request.key, complete=True)
    return None if found is None or texts.lacking(found) else found


def counted(artifact: Artifact) -> Artifact:
    """The artifact with static instruction counts of every text it has."""
    found = {
        name: (texts.named(name, artifact.source_language), texts.content(artifact, name))
        for name in texts.counted()
    }
    return replace(
        artifact,
        instructions={
            name: lens.counts(text, kind.language) for name, (kind, text) in found.items() if text
        },
    )
