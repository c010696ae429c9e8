"""Every kind of job: what takes it through the engine."""

from tileviz.engine.jobs import ceilings, importance, profile, race, reading, structure
from tileviz.engine.jobs.compile import CompileTask
from tileviz.engine.jobs.run import RunTask
from tileviz.engine.jobs.sweep import SweepTask
from tileviz.engine.jobs.task import Task
from tileviz.errors import EngineError

KINDS: dict[str, type[Task]] = {
    "compile": CompileTask,
    "run": RunTask,
    "sweep": SweepTask,
    ceilings.KIND: ceilings.CeilingsTask,
    importance.KIND: importance.ImportanceTask,
    profile.KIND: profile.ProfileTask,
    race.KIND: race.RaceTask,
    reading.KIND: reading.ReadTask,
    structure.KIND: structure.StructureTask,
}


class UnknownTask(Task):
    """A job that another version queued."""

    def begin(self) -> None:
        raise EngineError(
            f"this version of tileviz knows no job of this kind; it knows {', '.join(KINDS)}"
        )


def task_of(kind: str) -> type[Task]:
    """What a job of this kind becomes."""
    return KINDS.get(kind, UnknownTask)
