"""How a sweep takes the lane of its device for one job after another, lets single runs in between,
and counts what it used."""

import time

from tileviz.engine.jobs.task import Task
from tileviz.engine.processes.device_lock import WAITING
from tileviz.engine.sweeps.request import SweepRequest


class LaneUser(Task[SweepRequest]):
    """A task with `request.device`, whose `child` is the lane's while it has it."""

    lane_phase = "start"
    lane_since = 0.0
    busy_s = 0.0
    """Seconds of the search in which the lane measured for this sweep."""
    first_ready: float | None = None
    """When there was first something to measure."""

    def use_lane(self, job) -> None:
        """Takes the free lane and hands it a job."""
        lane = self.engine.lanes[self.request.device]
        lane.busy = True
        self.lane_phase, self.lane_since = "start", time.monotonic()
        self._hand_over(lane.child(), job)

    def keep_time(self, kind: str, *rest) -> None:
        """What a message of the lane's child says of its step: its seconds count while it has the
        device."""
        if kind == "started":
            self.began = True
            self._set_deadline()
        elif kind == "phase":
            self.lane_phase = rest[0]
            self.deadline = None if self.lane_phase == WAITING else self.deadline

    def others_wait(self) -> bool:
        """True when a single run waits for the same device: it goes first, between two configs."""
        waiting = (
            task for task in self.engine.tasks.values() if task is not self and task.stage == "wait"
        )
        return any(task.request.device == self.request.device for task in waiting)

    def leave_lane(self, spoiled: bool = False) -> None:
        """Gives the lane back. After an illegal access a CUDA context is of no more use, so its
        child goes."""
        lane = self.engine.lanes[self.request.device]
        self._count_busy()
        self.child, self.deadline = None, None
        if spoiled and self.request.device != "cpu":
            lane.drop()
        lane.busy = False

    def drop_lane(self) -> None:
        """Kills the lane's child."""
        self._count_busy()
        self.child, self.deadline = None, None
        self.engine.lanes[self.request.device].drop()

    def _count_busy(self) -> None:
        if self.stage == "search" and self.first_ready is not None:
            self.busy_s += time.monotonic() - max(self.lane_since, self.first_ready)
