"""The child that opens a file: forks one process that runs its script and one that reads its call
sites, and outlives both.

`python -m tileviz.engine.processes.opened_child REQUEST.json ...`. What the two see is told in
files of the scratch folder the moment they see it. This process runs no code of the file.
"""

import ctypes
import json
import os
import resource
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import msgspec

from tileviz.compiler import pipeline
from tileviz.compiler import targets as known_targets
from tileviz.engine.processes import family
from tileviz.engine.processes.opening import NEXT
from tileviz.errors import TilevizError
from tileviz.kernels.opened import events, holding, merging, texts
from tileviz.kernels.opened.found import Code
from tileviz.kernels.opened.scripts import EACH_S, Asked, Opening, load

ENDS_S = 5.0
"""Grace after the script's own time, before it is killed: it may be in a call that no signal
interrupts."""

LOOKS_S = 0.05

PR_SET_CHILD_SUBREAPER = 36


def main(requests: list[dict]) -> None:
    """Opens the file of each request, as `opening` writes them, one after another, each in a
    process of its own where there are several."""
    threading.Thread(target=end_with_parent, args=(requests[0]["scratch"],), daemon=True).start()
    load()
    adopt()
    if len(requests) == 1:
        Child(requests[0]).open()
        return
    for request in requests:
        os.write(1, NEXT)
        pid = os.fork()
        if not pid:
            try:
                Child(request).open()
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        family.kill_below(os.getpid())
        reap()


def end_with_parent(scratch: str) -> None:
    """Waits for the end of standard input, which whoever asked holds open; then ends all that goes
    on here, and leaves no file."""
    while os.read(0, 4096):
        continue
    family.kill_below(os.getpid())
    shutil.rmtree(scratch, ignore_errors=True)
    os._exit(1)


def adopt() -> None:
    """What the processes below leave behind comes to this one."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Child:
    """The parent of the two processes: it starts them, outlives them, and waits for those that hold
    their programs."""

    def __init__(self, request: dict) -> None:
        tests = None if request["tests"] is None else tuple(request["tests"])
        places = [Path(request[name]) for name in ("scratch", "told")]
        self.asked = Asked(
            Path(request["file"]), request["hash"], *places, request["seconds"], tests
        )
        self.told = self.asked.told
        self.memory_bytes = request["memory_bytes"]
        self.compiled = compiler(request["targets"]) if request["targets"] else None
        self.own = events.Events(self.told, "parent")
        self.seconds = self.asked.seconds + EACH_S + ENDS_S
        (self.told / holding.FOLDER).mkdir()
        adopt()

    def open(self) -> None:
        """The script first; the call sites where it left a factory out."""
        self.own.tell("ready")
        status = self._forked(merging.RECORDED, lambda opening: opening.record())
        if not self._told("ended"):
            self.own.tell("ended", **how_it_ended(status, self.asked.seconds))
        self._finish()
        known = merging.settled(events.read(self.told))
        if any(
            factory.title not in known and factory.is_outermost for factory in self._factories()
        ):
            status = self._forked(merging.READ, lambda opening: opening.read(known))
            if status != 0:
                self.own.tell("unread", said=how_it_ended(status, self.asked.seconds)["said"])
            self._finish()
        self.own.tell("over")

    def _forked(self, part: str, work: Callable[[Opening], None]) -> int | None:
        """Works in a process of its own session; gives its exit status, negative for a signal, None
        where it had to be killed."""
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            self._work(part, work)
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            ended = reap()
            if pid in ended:
                return ended[pid]
            time.sleep(LOOKS_S)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return None

    def _work(self, part: str, work: Callable[[Opening], None]) -> NoReturn:
        """What a forked process does. Never returns."""
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        own = events.Events(self.told, part)
        status = 1
        try:
            resource.setrlimit(resource.RLIMIT_DATA, (self.memory_bytes, self.memory_bytes))
            work(Opening(self.asked, own, holding.holder(own, holding.Limits(), self.compiled)))
            status = 0
        except BaseException as error:  # the script may still raise anything
            own.tell(
                "ended",
                how="raised",
                said=f"{type(error).__name__}: {error}"
                if type(error) is not RuntimeError
                else str(error),
            )
        finally:
            os._exit(status)

    def _finish(self) -> None:
        """Lets the holders work to their end."""
        while holding.at_work(self.told):
            reap()
            time.sleep(LOOKS_S)

    def _told(self, name: str) -> list[dict]:
        return [event for event in events.read(self.told) if event["event"] == name]

    def _factories(self) -> list[texts.Factory]:
        return (
            texts.factories(self.asked.file.read_text("utf-8-sig"))
            if self.asked.file.is_file()
            else []
        )


def reap() -> dict[int, int]:
    """Exit statuses of all children that ended since the last look, negative for a signal."""
    ended = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if not pid:
            return ended
        ended[pid] = os.waitstatus_to_exitcode(status)


def how_it_ended(status: int | None, seconds: float) -> dict[str, str]:
    """`how` and `said` of a process that could not say so itself."""
    if status is None:
        return {"how": "timeout", "said": f"it hung, and was killed some time after {seconds:g} s"}
    if status < 0:
        return {"how": "killed", "said": f"it was killed by {signal.Signals(-status).name}"}
    return {"how": "exited", "said": f"it left with os._exit({status})"}


def compiler(targets: list[str]) -> Callable:
    """What a holder compiles its program with: yields a dict for each target, as `found.Code` takes
    it."""

    def compiled(program, pass_configs: dict, flags: list[str]) -> Iterator[dict]:
        configs = {str(getattr(name, "value", name)): value for name, value in pass_configs.items()}
        configs |= {"tl.device_compile_flags": flags} if flags else {}
        for name in targets:
            yield msgspec.to_builtins(code_of(program, name, configs))

    return compiled


def code_of(program, target: str, configs: dict) -> Code:
    """What tileviz's compiler makes of a T.prim_func, or its reason."""
    try:
        made = pipeline.compile_program(
            lambda: program, known_targets.target(target), configs, key="opened"
        )
    except TilevizError as error:
        last = next((line for line in reversed(error.detail.splitlines()) if line.strip()), "")
        return Code(
            target=target,
            reason=f"{error.message} ({last.strip()[:300]})" if last else error.message,
        )
    found = made.resources
    return Code(
        target=target,
        cuda_lines=made.source.count("\n") + 1,
        registers=found.registers,
        spill_bytes=found.spill_bytes,
    )


if __name__ == "__main__":
    main([json.loads(Path(path).read_text()) for path in sys.argv[1:]])
