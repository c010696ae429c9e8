"""What jobs share that need a device and nothing compiled before: they leave something else than a
trial."""

from dataclasses import dataclass
from typing import Any

from tileviz.engine.jobs.task import Asking, Task


@dataclass(frozen=True)
class OnDevice:
    """What such a job asks of the lane."""

    device: str
    timeout_s: float


class LaneTask(Task[Asking]):
    """Waits for its device and runs one job there; what goes wrong is the job's reason."""

    what = ""
    """In a sentence: what was stopped."""

    def begin(self) -> None:
        self.request = self.asked()
        self.wait_for_device()

    def asked(self) -> Asking:
        raise NotImplementedError

    def measured(self, value: Any, /) -> None:
        self.keep(value)
        self._end("done")

    def keep(self, value: Any, /) -> None:
        """Stores what the job gave."""
        raise NotImplementedError

    def late_words(self) -> str:
        return f"{self.what} was stopped after {self.request.timeout_s:g} s"
