"""The engine's own process: takes jobs from the store, runs them in children, and writes what they
report.

One thread, one loop: new jobs, messages of children, cancels and deadlines. It never imports torch
or TileLang itself.
"""

import fcntl
import logging
import os
import shlex
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tileviz import settings
from tileviz.compiler import runtime, scratch, targets, toolchain
from tileviz.engine import client
from tileviz.engine.jobs.background import FactsJob, HeaderJob
from tileviz.engine.jobs.ceilings import FACT, CeilingsJob, with_stored_ceilings
from tileviz.engine.jobs.kinds import task_of
from tileviz.engine.jobs.task import Task
from tileviz.engine.processes import heartbeat, starts, tag
from tileviz.engine.processes.channel import Connection, with_news
from tileviz.engine.processes.lanes import Child, ForkServer, MeasureLane
from tileviz.engine.requests import local_devices, usable
from tileviz.errors import StoreError, TilevizError
from tileviz.records import Device, JobView
from tileviz.store import Store, Watch
from tileviz.store.home import home_for_others
from tileviz.store.store import INDUCTOR

log = logging.getLogger("tileviz.engine")

MOST_COMPILE_SLOTS = 32
"""More children than these get in each other's way: on 64 cores, 16, 32 and 64 of them took 7.7,
5.2 and 7.2 s for 82 configs."""


class Engine:
    """`run()` returns when there was no work for `idle_s` seconds."""

    def __init__(
        self,
        store: Store,
        devices: list[Device],
        idle_s: float,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.store = store
        self.environment = tag.environment() if environment is None else environment
        self.devices = devices = usable(devices)
        self.idle_s = idle_s
        self.compile_slots = settings.compile_workers() or min(
            os.cpu_count() or 1, MOST_COMPILE_SLOTS
        )
        self.fork_server = ForkServer.start()
        self.prepared: set[str] = set()
        self.background: list[Child] = []
        self.lanes = {device.id: MeasureLane(device.id, self.fork_server) for device in devices}
        self.tasks: dict[str, Task] = {}
        self.facts: dict[str, Child] = {}
        self.without_ceilings: dict[str, Device] = {}
        self.last_work = self.began = time.monotonic()
        self.last_beat = 0.0
        self.has_lived = False
        self.before_died_of = ""
        """Last words of the engine before, where it died."""
        self.stopping = False
        self._watch = Watch(store)

    def run(self) -> None:
        self.store.recover_jobs(died_of=self.before_died_of)
        stored = self.store.devices()
        for device in (with_stored_ceilings(device, stored) for device in self.devices):
            self.store.save_device(device)
            if device.id != "cpu":
                self._ask_facts(device)
                self.prepare(device.target)
        try:
            while not self.stopping and not self._is_idle():
                self._step()
        finally:
            self._kill_all()

    def _step(self) -> None:
        self._beat()
        try:
            if self._watch.changed():
                self._take_new_jobs()
                self._take_cancels()
        except StoreError as error:
            log.error("%s", error)
            time.sleep(0.5)
        self._ask_ceilings()
        for task in list(self.tasks.values()):
            task.guarded(task.advance)
            self._beat()
        if hangs := self.fork_server.hangs():
            self._replace_fork_server(hangs)
        self._listen(0.02 if self.tasks else 0.05)
        for task in list(self.tasks.values()):
            task.guarded(task.enforce_deadline)
            if task.ended or task.has_results:
                self._live()
            if task.ended:
                del self.tasks[task.job]
                self.last_work = time.monotonic()

    def _beat(self) -> None:
        """Tells clients that the loop goes on."""
        now = time.monotonic()
        if now - self.last_beat < heartbeat.BEAT_S:
            return
        self.last_beat = now
        heartbeat.beat(self.store.home)
        if now - self.began > starts.LIVES_S:
            self._live()

    def _live(self) -> None:
        if not self.has_lived:
            self.has_lived = True
            starts.lived(self.store.home)

    def _take_new_jobs(self) -> None:
        active = self.store.jobs(active=True, limit=200, oldest_first=True)
        for job in active:
            if job.state != "queued" or job.id in self.tasks or self._must_queue(job, active):
                continue
            if sum(task.is_compiling for task in self.tasks.values()) >= self.compile_slots:
                self._watch.forget()
                return
            if self.store.claim(job.id):
                log.info("job %s: %s", job.id, job.kind)
                task = self.tasks[job.id] = task_of(job.kind)(self, job)
                task.guarded(lambda task=task: self._begin(task))

    def _begin(self, task: Task) -> None:
        """Begins a job that belongs here. Raises EngineError for one of another environment,
        TilevizError where its device is not here."""
        client.refuse_other_environment(
            self.store.home, task.doc.get(client.ENVIRONMENT, self.environment), self.environment
        )
        device = task.doc.get("device")
        if device is not None and device not in self.lanes:
            raise TilevizError(f"there is no device '{device}' here")
        task.begin()

    def _must_queue(self, job: JobView, active: list[JobView]) -> bool:
        """Whether its device has such a job already, or another comes first; single runs go between
        the configs of a sweep."""
        kind, device = task_of(job.kind), job.request.get("device")
        if not kind.one_at_a_time:
            return False
        return any(
            t.one_at_a_time and t.doc.get("device") == device for t in self.tasks.values()
        ) or kind.must_wait(job, active)

    def _take_cancels(self) -> None:
        for job in self.store.asked_to_stop():
            if job in self.tasks:
                self.tasks[job].guarded(self.tasks[job].cancel)

    def _listen(self, timeout: float) -> None:
        """Waits for messages of the fork server and the children, and handles one of each."""
        hear: dict[Connection, Callable[[], None]] = {
            self.fork_server.control: self._hear_fork_server
        }
        hear |= {
            c: partial(t.guarded, step) for t in self.tasks.values() for c, step in t.ears().items()
        }
        hear |= {c.connection: partial(self._hear_facts, d) for d, c in self.facts.items()}
        hear |= {c.connection: partial(self._hear_background, c) for c in self.background}
        for connection in with_news(
            [connection for connection in hear if not connection.closed], timeout
        ):
            self._beat()
            try:
                hear[connection]()
            except StoreError as error:  # of a device's facts; a task hears its own
                log.error("%s", error)

    def _hear_fork_server(self) -> None:
        try:
            self.fork_server.listen()
        except (EOFError, OSError):
            self._replace_fork_server(
                "the process that starts all others died; `python -m tileviz doctor` and"
                " engine.log say why"
            )

    def _replace_fork_server(self, why: str) -> None:
        """Starts another. Children that wait to be born die with the old one, and their jobs hear
        it; those that live go on."""
        log.error("%s", why)
        self.fork_server.kill(why)
        self.fork_server = ForkServer.start()
        self.prepared.clear()
        for lane in self.lanes.values():
            lane.fork_server = self.fork_server

    def learn_exit(self, child: Child) -> None:
        """Waits a little for the exit status of a child that the fork server made."""
        try:
            self.fork_server.learn_exit(child)
        except (EOFError, OSError):
            log.error("the fork server of a dead child is dead, too")

    def prepare(self, target: str) -> None:
        """Makes NVRTC's precompiled header of an architecture in the background, once, so that
        later compiles are fast."""
        described = targets.target(target)
        if target in self.prepared or not described.is_cuda or described.source_only:
            return
        self.prepared.add(target)
        child = self.fork_server.child()
        child.send(HeaderJob(target))
        self.background.append(child)

    def _hear_background(self, child: Child) -> None:
        try:
            message = child.connection.recv()
        except (EOFError, OSError):
            message = ("failed", "crashed", child.death(), "")
        if message[0] == "failed":
            log.error("background job: %s", message[1:3])
        if message[0] in ("done", "failed"):
            self.background.remove(child)
            child.kill()

    def _ask_facts(self, device: Device) -> None:
        child = self.lanes[device.id].child()
        child.send(FactsJob(device))
        self.facts[device.id] = child
        self.lanes[device.id].busy = True

    def _hear_facts(self, device: str) -> None:
        child, lane = self.facts[device], self.lanes[device]
        try:
            kind, *rest = child.connection.recv()
        except (EOFError, OSError):
            log.error("device %s: asking for its facts failed: %s", device, child.death())
            lane.drop()
            del self.facts[device]
            return
        if kind in ("done", "failed"):
            del self.facts[device]
            lane.busy = False
            if kind == "done":
                self.store.save_device(rest[0])
                if FACT not in rest[0].facts:
                    self.without_ceilings[device] = rest[0]
            else:
                log.error("device %s: %s", device, rest)

    def _ask_ceilings(self) -> None:
        """Measures the ceilings of a GPU that has none yet, in the lane's same child, while nothing
        else wants it; asked for once."""
        if self.tasks or not self.without_ceilings:
            return
        name, device = next(iter(self.without_ceilings.items()))
        lane = self.lanes[name]
        if lane.busy:
            return
        del self.without_ceilings[name]
        lane.busy = True
        self.facts[name] = lane.child()
        self.facts[name].send(CeilingsJob(device))

    def _is_idle(self) -> bool:
        if self.tasks or self.facts or self.background:
            self.last_work = time.monotonic()
        if time.monotonic() - self.last_work < self.idle_s:
            return False
        try:
            return not self.store.jobs(active=True, limit=1)
        except StoreError as error:
            log.error("%s", error)
            return False

    def _kill_all(self) -> None:
        for task in self.tasks.values():
            task.kill_children()
        for lane in self.lanes.values():
            lane.drop()
        for child in self.background:
            child.kill()
        self.fork_server.kill()


def configure_children(home: Path, scratch_folder: Path) -> None:
    """What PyTorch, Triton and CUDA read in the children: their caches under our home, devices
    counted as NVML counts them. What the user set is kept. PyTorch writes its commands as a shell
    does, so a home that a shell would not take as one word is named by a link to it."""
    caches = (
        home if shlex.quote(str(home)) == str(home) else scratch_folder / scratch.HOME
    ) / INDUCTOR
    for name, value in {
        "TORCHINDUCTOR_CACHE_DIR": str(caches),
        "TRITON_CACHE_DIR": str(caches / "triton"),
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        **home_for_others(home),
    }.items():
        os.environ.setdefault(name, value)


def serve(home: Path | None = None) -> int:
    """Runs the engine of this home until it has no work; returns at once when another one is
    alive."""
    store, here = Store(home), tag.engine_tag()
    while _serve_until_idle(store, here) and store.jobs(active=True, limit=1):
        log.info("a job came while the engine ended: it goes on")
    return 0


def _serve_until_idle(store: Store, here: dict[str, str]) -> bool:
    """False when another engine is alive or this one was told to stop. A job that came before the
    lock was given back saw an engine alive, and started none: the caller looks for it."""
    with open(store.home / heartbeat.LOCK, "a+") as lock:
        if not _locked(lock):
            return False
        lock.seek(0)
        lock.truncate()
        lock.write(str(os.getpid()))
        lock.flush()
        before = starts.began(store.home)
        tag.write_tag(store.home, here)
        with scratch.opened(store.home) as folder:
            toolchain.configure_environment(store.home)
            configure_children(store.home, folder)
            engine = Engine(
                store, local_devices(), settings.engine_idle_s(), tag.without_package(here)
            )
            engine.before_died_of = before
            signal.signal(signal.SIGTERM, lambda *_: setattr(engine, "stopping", True))
            log.info("engine %s started for %s", os.getpid(), store.home)
            engine.run()
            starts.lived(store.home)
            runtime.clear_headers(store.home)
        log.info("engine %s ends", os.getpid())
    return not engine.stopping


def _locked(lock, seconds: float = 0.5) -> bool:
    """Takes the engine's lock. A client that only asks who holds it does so for a moment, so it is
    tried for a while."""
    end = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
