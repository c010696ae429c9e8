"""TileLang's pass visualizer, on demand: a page of HTML beside the artifact."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tileviz.engine import client
from tileviz.engine.jobs.lowering import LoweringJob
from tileviz.engine.jobs.reading import ReadTask
from tileviz.engine.processes.reports import Report, quiet
from tileviz.engine.requests import Request
from tileviz.store import Store

KIND = "structure"

PAGE = "structure.html"


@dataclass(frozen=True)
class StructureJob(LoweringJob):
    """Runs the front half of the pipeline once more, watched by the visualizer. Gives the page by
    its file's name."""

    def __call__(self, report: Report = quiet) -> dict[str, str]:
        from tileviz.compiler import structure

        report("phase", "read the structure")
        title = f"{self.request.kernel} for {self.request.target}"
        return {
            PAGE: structure.read_structure(
                self.build, self.target, self.pass_configs, self.kernel.source, title
            )
        }


class StructureTask(ReadTask):
    """Leaves a file and no trial, as a reading does."""

    def reading_job(self) -> StructureJob:
        return StructureJob(self.request)


def submit(store: Store, request: Request) -> str:
    """Queues the making of the page and gives the job's id."""
    return client.queue(store, KIND, asdict(replace(request, kind=KIND, device=None)))


def stored(store: Store, key: str) -> Path | None:
    """The page of the config with this key, or None."""
    page = store.files.folder(key) / PAGE
    return page if page.is_file() else None
