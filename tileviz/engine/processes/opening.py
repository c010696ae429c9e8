"""Opens a file with TileLang kernels: starts the child that runs it, watches its memory and its
clock, and leaves nothing of it behind."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, cast

import msgspec

from tileviz.bench import memory
from tileviz.engine.processes import family
from tileviz.errors import BadRequest
from tileviz.kernels.opened import events, merging, texts
from tileviz.kernels.opened.found import Found

SCRIPT_S = 60.0
"""Seconds that a script gets where none are said."""

MEMORY_BYTES = 12 << 30
"""Most memory of a script, or half of what is free where that is less."""

LONGEST_S = 3600.0
"""Of a whole opening: each step of the child has a clock of its own."""

LOOKS_S = 0.5
NEXT = b"\0the next file\0"
"""Printed by the child before each of several files, so that what their scripts print can be told
apart."""

TAIL_BYTES = 8192
"""Of what a script printed, the end."""

FOLDERS = (
    "HOME",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "TILELANG_CACHE_DIR",
    "TILELANG_TMP_DIR",
    "TORCH_EXTENSIONS_DIR",
    "TORCHINDUCTOR_CACHE_DIR",
    "TRITON_CACHE_DIR",
    "TRITON_HOME",
    "TORCH_HOME",
    "HF_HOME",
    "CUDA_CACHE_PATH",
    "MPLCONFIGDIR",
    "TILEVIZ_HOME",
)
"""Variables that lead a script's files into its scratch folder."""

SETTINGS = {
    "CUDA_VISIBLE_DEVICES": "",
    "TILELANG_DISABLE_CACHE": "1",
    "TQDM_DISABLE": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "MPLBACKEND": "Agg",
    "OMP_NUM_THREADS": "1",
    "PYTHONUNBUFFERED": "1",
}
"""Opening uses no GPU and times nothing."""


@dataclass(frozen=True)
class Request:
    """What is to be opened, and how long that may take."""

    file: Path
    tests: tuple[str, ...] | None = None
    """Arguments for pytest, which then runs the file; None runs it as a script."""
    targets: tuple[str, ...] = ()
    """Compile each kernel for these."""
    seconds: float = SCRIPT_S
    """For the script, once torch and TileLang are imported."""
    memory_bytes: int = MEMORY_BYTES


@dataclass(frozen=True)
class Task:
    """A request whose file was read."""

    request: Request
    path: Path
    text: str
    hash: str


def open_file(request: Request) -> Found:
    """What a file holds. Runs it, in a child that is gone afterwards.

    Raises BadRequest for what is no Python file, and for one in which nothing is a kernel.
    """
    [answer] = open_files([request])
    if isinstance(answer, BadRequest):
        raise answer
    return answer


def open_files(requests: Sequence[Request]) -> list[Found | BadRequest]:
    """What each file holds, or why it cannot be opened; one after another, from one process that
    imported torch and TileLang once."""
    tasks = [_task(request) for request in requests]
    right = [task for task in tasks if isinstance(task, Task)]
    answers = iter(_opened(right) if right else ())
    return [task if isinstance(task, BadRequest) else next(answers) for task in tasks]


def _task(request: Request) -> Task | BadRequest:
    path = Path(os.path.abspath(request.file))
    try:
        return Task(request, path, *texts.text_of(path))
    except BadRequest as error:
        return error


def _opened(tasks: list[Task]) -> list[Found | BadRequest]:
    scratch = Path(tempfile.mkdtemp(prefix="tileviz-open-")).resolve()
    try:
        run = Run(tasks, scratch)
        run.wait()
        return [
            _answer(*one, run)
            for one in zip(tasks, map(events.read, run.told), run.printed, strict=True)
        ]
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _answer(task: Task, told: list[dict], printed: str, run: "Run") -> Found | BadRequest:
    found = found_in(told, task.path, texts.factories(task.text), task.hash)
    troubles = [*found.troubles, *run.troubles, *_changed(task.path, task.hash)]
    found = msgspec.structs.replace(found, troubles=tuple(troubles), printed=printed)
    if found.kernels:
        return found
    because = f"; {troubles[0]}" if troubles else ""
    return BadRequest(
        f"{task.path} holds no TileLang kernel that could be found{because}", found.printed
    )


class Run:
    """One child at work."""

    def __init__(self, tasks: list[Task], scratch: Path) -> None:
        self.scratch = scratch
        self.told = [scratch / f"told{number}" for number in range(len(tasks))]
        self.troubles: list[str] = []
        self._tails = [b""]
        asked, free = tasks[0].request.memory_bytes, memory.free_bytes("cpu")
        self._limit = asked if free is None else min(asked, free // 2)
        for folder in (*self.told, scratch / "work", *(scratch / name.lower() for name in FOLDERS)):
            folder.mkdir()
        requests = [self._ask(task, told) for task, told in zip(tasks, self.told, strict=True)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tileviz.engine.processes.opened_child", *requests],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=scratch / "work",
            env=environment(scratch),
            start_new_session=True,
        )
        self._held_open = cast(IO[bytes], self._process.stdin)
        self._output = cast(BufferedReader, self._process.stdout)
        self._reader = threading.Thread(target=self._drain, daemon=True)
        self._reader.start()

    def _ask(self, task: Task, told: Path) -> str:
        """Path of the request as the child reads it."""
        request = task.request
        path = told / "request.json"
        document = {
            "file": str(task.path),
            "hash": task.hash,
            "scratch": str(self.scratch),
            "told": str(told),
            "seconds": request.seconds,
            "tests": request.tests,
            "targets": request.targets,
            "memory_bytes": self._limit,
        }
        path.write_text(json.dumps(document))
        return str(path)

    @property
    def printed(self) -> list[str]:
        """The end of what each script printed."""
        count = len(self.told)
        tails = self._tails if count == 1 else [*self._tails[1:], *[b""] * count][:count]
        return [
            tail.decode("utf-8", "replace").replace(str(self.scratch), "SCRATCH") for tail in tails
        ]

    def wait(self) -> None:
        """Until the child has ended, by itself or by its clock or for its memory; then nothing of
        it is alive."""
        end = time.monotonic() + LONGEST_S
        try:
            while self._process.poll() is None and time.monotonic() < end:
                self._watch_memory()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(LOOKS_S)
            if self._process.returncode is None:
                self.troubles.append(f"it was stopped after {LONGEST_S / 60:g} minutes")
            elif self._process.returncode:
                self.troubles.append(
                    f"the process that opens it ended with status {self._process.returncode}"
                )
        finally:
            family.kill(self._process.pid, str(self.scratch))
            self._held_open.close()
            self._process.wait()
            self._reader.join(2)

    def _watch_memory(self) -> None:
        """Kills the largest process of the script once all together take more than they may."""
        pids = family.family(self._process.pid, str(self.scratch)) - {self._process.pid}
        if family.resident_bytes(pids) <= self._limit:
            return
        taken = family.memory_bytes(pids)
        if sum(taken.values()) <= self._limit:
            return
        largest = max(taken, key=lambda pid: taken[pid])
        with contextlib.suppress(ProcessLookupError):
            os.kill(largest, 9)
        sentence = f"it took more than {self._limit / 1e9:.1f} GB of memory and was stopped"
        if sentence not in self.troubles:
            self.troubles.append(sentence)

    def _drain(self) -> None:
        """Reads what is printed, so that no script waits for a reader, and keeps the end of each
        file's."""
        while chunk := self._output.read1(1 << 16):
            texts_ = (self._tails[-1] + chunk).split(NEXT)
            self._tails[-1:] = [text[-TAIL_BYTES:] for text in texts_]


def environment(scratch: Path) -> dict[str, str]:
    """The user's environment with all folders in scratch, and no GPU."""
    root = str(Path(__file__).resolve().parents[3])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH", ""))))
    folders = {name: str(scratch / name.lower()) for name in FOLDERS}
    return {
        **os.environ,
        **SETTINGS,
        **folders,
        "TEMP": folders["TMPDIR"],
        "TMP": folders["TMPDIR"],
        "PYTHONPATH": path,
        family.MARK: str(scratch),
    }


def found_in(told: list[dict], path: Path, factories: list[texts.Factory], hash_: str) -> Found:
    """The record of a file, from what its children told."""

    def of(name: str) -> list[dict]:
        return [event for event in told if event["event"] == name]

    ended = next(iter(of("ended")), {"how": "killed", "said": "it was stopped before it began"})
    said = (
        [f"its script {_ENDED[ended['how']]}{': ' if ended['said'] else ''}{ended['said']}"]
        if ended["how"] != "finished"
        else []
    )
    said += [f"its call sites could not be read: {event['said']}" for event in of("unread")]
    said += [event["said"] for event in of("trouble")]
    siblings = {file: word for event in of("siblings") for file, word in event["files"].items()}
    return Found(
        file=str(path),
        hash=hash_,
        siblings=siblings,
        kernels=merging.kernels(told, factories, str(path)),
        stood_in=tuple(dict.fromkeys(event["name"] for event in of("stood_in"))),
        troubles=tuple(dict.fromkeys(said)),
        ended=ended["how"],
    )


_ENDED = {
    "raised": "raised an error",
    "exited": "ended early",
    "timeout": "was stopped",
    "killed": "was killed",
}


def _changed(path: Path, hash_: str) -> Sequence[str]:
    try:
        same = texts.hash_of(path.read_bytes()) == hash_
    except OSError:
        return [f"{path.name} was removed while it was opened"]
    return [] if same else [f"{path.name} was changed while it was opened; open it again"]
