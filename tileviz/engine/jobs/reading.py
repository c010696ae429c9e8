"""Reads how a config is lowered: its passes and layouts, as files beside the artifact. Compiling
needs none of it, so it is its own job."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tileviz.engine import client
from tileviz.engine.jobs.lowering import LoweringJob
from tileviz.engine.jobs.task import Task
from tileviz.engine.processes.reports import Report, quiet
from tileviz.engine.requests import Request, request_from_json
from tileviz.records_json import to_json
from tileviz.store import Store

KIND = "read"

PASSES, LAYOUTS, REPORT = "passes.json", "layouts.json", "lowering.html"


@dataclass(frozen=True)
class StoredReading:
    """What a reading left: passes and layouts as the JSON of `compiler.reading`, and TileLang's
    report as a file."""

    passes: list[dict[str, Any]]
    """{"name", "phase", "depth", "added", "removed", "diff"} in order."""
    layouts: list[dict[str, Any]]
    """{"buffer", "kind", "shape", "dtype", "cells", "registers", "replicated", "expression"}"""
    report: Path | None


@dataclass(frozen=True)
class ReadingJob(LoweringJob):
    """Lowers once more, watched by TileLang's own trace. Gives the files by name."""

    def __call__(self, report: Report = quiet) -> dict[str, str]:
        from tileviz.compiler import reading

        report("phase", "read the lowering")
        found = reading.read_lowering(self.build, self.target, self.pass_configs)
        return {
            PASSES: json.dumps(to_json(found.passes), separators=(",", ":")),
            LAYOUTS: json.dumps(to_json(found.layouts), separators=(",", ":")),
            REPORT: found.report,
        }


class ReadTask(Task[Request]):
    """A reading on its way through the engine. It leaves files and no trial."""

    def begin(self) -> None:
        self.request = request_from_json(self.doc)
        self.ask_child(self.reading_job())

    def reading_job(self) -> Callable[..., dict[str, str]]:
        return ReadingJob(self.request)

    def made(self, files: dict[str, str], /) -> None:
        self.store.files.write_more(
            self.request.key, {name: text for name, text in files.items() if text}
        )
        self._end("done")


def submit(store: Store, request: Request) -> str:
    """Queues a reading of a request's config and gives the job's id."""
    return client.queue(store, KIND, asdict(replace(request, kind=KIND, device=None)))


def stored(store: Store, key: str) -> StoredReading | None:
    """What was read of the config with this key, or None."""
    folder = store.files.folder(key)
    if not (folder / PASSES).is_file():
        return None
    passes, layouts = (json.loads((folder / name).read_text()) for name in (PASSES, LAYOUTS))
    return StoredReading(passes, layouts, folder / REPORT if (folder / REPORT).is_file() else None)
