"""The compile children of one sweep: each takes one config after another, is killed at its
deadline, and is replaced when it dies."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tileviz.engine.jobs.task import NO_PROCESS, START_S
from tileviz.engine.processes.lanes import Child
from tileviz.errors import ToolError
from tileviz.records import Artifact, Status, Trial

RECYCLE = 40
"""Configs after which a child makes room for a fresh one: what TileLang keeps in memory goes with
it."""

MOST_UNBORN = 3
"""Children in a row that could not be started before the sweep is given up: it is no config's
fault."""


@dataclass
class Item:
    """One config on its way."""

    ordinal: int
    problem: int
    trial: Trial
    source: Artifact | None = None
    """What lowering gave, before the rest is compiled."""

    def ended(
        self, status: Status, reason: str, detail: str = "", artifact: str | None = None
    ) -> Trial:
        """Its trial, with what went wrong, and the code that there is."""
        return replace(
            self.trial,
            status=status,
            reason=reason,
            detail=detail,
            artifact=artifact or self.trial.artifact,
        )


@dataclass
class Worker:
    child: Child
    item: Item | None = None
    deadline: float = 0.0
    began: bool = False
    phase: str = "start"
    done: int = 0


class CompilePool:
    """At most `size` children at work; `start` gives a new one, `learn_exit` waits for how one
    ended."""

    def __init__(
        self,
        size: int,
        start: Callable[[], Child],
        learn_exit: Callable[[Child], None],
        timeout_s: float,
    ) -> None:
        self.size = size
        self.start = start
        self.learn_exit = learn_exit
        self.timeout_s = timeout_s
        self.workers: list[Worker] = []
        self.unborn = 0

    @property
    def busy(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.item is not None]

    @property
    def has_room(self) -> bool:
        return len(self.busy) < self.size

    def give(self, item: Item, job) -> None:
        """Hands a job to a free child, or to a new one."""
        worker = next((w for w in self.workers if w.item is None), None)
        if worker is None:
            worker = Worker(self.start())
            self.workers.append(worker)
        worker.item, worker.phase, worker.began, worker.deadline = (
            item,
            "start",
            False,
            time.monotonic() + START_S,
        )
        worker.child.send(job)

    def hear(self, worker: Worker) -> tuple[Item, Artifact | Trial] | None:
        """One message of a child: its item with the artifact, or with the trial that failed; None
        when there is nothing to do."""
        if worker not in self.workers:
            return None
        try:
            kind, *rest = worker.child.connection.recv()
        except (EOFError, OSError):
            return self._died(worker)
        item = worker.item
        if kind == "started":
            worker.began, worker.deadline = True, time.monotonic() + self.timeout_s
        elif kind == "phase":
            worker.phase = rest[0]
        elif kind == "source" and item is not None:
            item.source = rest[0]
        elif kind in ("done", "failed") and item is not None:
            self._free(worker)
            return item, rest[0] if kind == "done" else item.ended(*rest)
        return None

    def overdue(self) -> Iterator[tuple[Item, Trial]]:
        """Kills the children that are past their deadline; gives their items with the trial that
        timed out, and those of children that were dead already when they were handed their
        config."""
        now = time.monotonic()
        for worker in self.busy:
            item = worker.item
            if item is None:
                continue
            if worker.child.killed:
                yield item, self._death_of(worker, item)
            elif now >= worker.deadline:
                self._drop(worker)
                if not worker.began:
                    self._count_unborn()
                    yield item, item.ended("crashed", NO_PROCESS)
                    continue
                reason = (
                    f"compiling was stopped after {self.timeout_s:g} s; raise the"
                    " timeout or use smaller tiles"
                )
                yield item, item.ended("timeout", reason)

    def kill(self) -> None:
        for worker in list(self.workers):
            self._drop(worker)

    def _free(self, worker: Worker) -> None:
        worker.item = None
        worker.done += 1
        if worker.done >= RECYCLE:
            self._drop(worker)

    def _died(self, worker: Worker) -> tuple[Item, Trial] | None:
        if worker.item is not None:
            return worker.item, self._death_of(worker, worker.item)
        self._drop(worker)
        return None

    def _death_of(self, worker: Worker, item: Item) -> Trial:
        """Drops a dead child; its item's trial, with how it died."""
        self.learn_exit(worker.child)
        how, was_born, why = (
            worker.child.death(),
            worker.child.pid is not None,
            worker.child.why_unborn or NO_PROCESS,
        )
        self._drop(worker)
        if not was_born:
            self._count_unborn(why)
            return item.ended("crashed", why)
        self.unborn = 0
        return item.ended("crashed", f"the process died in phase '{worker.phase}': {how}")

    def _count_unborn(self, why: str = NO_PROCESS) -> None:
        self.unborn += 1
        if self.unborn >= MOST_UNBORN:
            raise ToolError(why)

    def _drop(self, worker: Worker) -> None:
        self.workers.remove(worker)
        worker.child.kill()
