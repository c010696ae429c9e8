"""Compiling one config: tile program to artifact, and whether the artifact is stored already."""

from dataclasses import dataclass, replace

from tileviz import lens
from tileviz.compiler import machine_code, pipeline, targets
from tileviz.engine.processes.reports import Report, quiet
from tileviz.engine.requests import Request
from tileviz.kernels import code as code_of
from tileviz.kernels.card import pass_configs
from tileviz.records import Artifact
from tileviz.store import Store


@dataclass(frozen=True)
class CompileJob:
    """Tile program to artifact: source, PTX, cubin, SASS, resources, counts."""

    request: Request
    executable: bool = False
    """Also leave what the measure lane loads: needs a C++ compiler."""

    def __call__(self, report: Report = quiet) -> Artifact:
        request, described = self.request, code_of(self.request.kernel)
        target = targets.target(request.target)

        def on_source(artifact: Artifact) -> None:
            report("source", finished(artifact))

        def finished(artifact: Artifact) -> Artifact:
            return replace(counted(artifact), program=artifact.program or described.source)

        artifact = pipeline.compile_program(
            lambda: described.build(request.problem, request.config, target),
            target,
            described.pass_configs(request.config),
            key=request.key,
            until=request.until,
            executable=self.executable,
            report=lambda phase: report("phase", phase),
            on_source=on_source,
        )
        return finished(artifact)


def stored_code(store: Store, request: Request) -> Artifact | None:
    """The request's code where it is stored, whole, and by the compiler that is asked for now."""
    found = store.artifact(request.key, complete=True)
    if found is None or not machine_code.is_as_asked(found.compiler, pass_configs(request.config)):
        return None
    return found


def counted(artifact: Artifact) -> Artifact:
    """The artifact with static instruction counts of every text it has."""
    texts = {"source": (artifact.source, artifact.source_language), "ptx": (artifact.ptx, "ptx"), "sass": (artifact.sass, "sass")}
    return replace(artifact, instructions={name: lens.counts(text, language) for name, (text, language) in texts.items() if text})
