"""What all tests share: a store of their own, an engine that is gone afterwards, and reasons for what cannot run here."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests import long_proofs, workers

ROOT = Path(__file__).resolve().parent.parent
ENGINE_IDLE_S = "60"
"""Longer than any wait between two presses of one test, on a busy machine, too; the fixtures stop the engine themselves."""

ODD = "the home\"s 'name' \\ here"
"""Name of a home with letters that a shell reads as its own."""

if not os.path.exists("/dev/nvidiactl"):
    # torch.compile takes seconds for each shape, and then gives its function back as it is. Tests of it on the CPU, in
    # tests/engine/test_engine.py and tests/bench/test_baselines.py, have the real one; so have those on a GPU.
    os.environ.setdefault("TORCH_COMPILE_DISABLE", "1")

os.environ["TILEVIZ_RECORDED"] = "none"  # what is recorded changes; tests of it name a file of their own


LEFT_OUT = pytest.StashKey[int]()
"""How many long proofs this run leaves out."""


def pytest_addoption(parser) -> None:
    parser.addoption("--all", action="store_true", help="run the long proofs (marked slow), too, as the release check does")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config) -> int:
    """`-n auto` of pyproject.toml: the whole suite in several workers, a few files in none."""
    return 0 if config.option.collectonly else workers.count(config.option.file_or_dir)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log) -> workers.ByFile | None:
    """By file, unless the command line names another way of dealing."""
    if workers.is_dealt_otherwise(config.invocation_params.args):
        return None
    config.option.loadscopereorder = False  # the order of collection is ours: see below
    return workers.ByFile(config, log)


def pytest_collection_modifyitems(config, items) -> None:
    """Leaves long proofs out, skips what needs a GPU or a browser where there is none, and says both. In a worker, what takes longest
    comes first."""
    leave_out(config, items)
    if hasattr(config, "workerinput") and not workers.is_dealt_otherwise(config.invocation_params.args):
        items.sort(key=lambda item: workers.place(item.nodeid))
    needs = {"gpu": no_gpu, "e2e": no_browser}
    for name, missing in needs.items():
        marked = [item for item in items if item.get_closest_marker(name)]
        reason = missing() if marked else None
        for item in marked if reason else ():
            item.add_marker(pytest.mark.skip(reason=reason))


def leave_out(config, items: list[pytest.Item]) -> None:
    """A worker tells the number to the process that prints the summary."""
    long = long_proofs.left_out(config, items)
    config.stash[LEFT_OUT] = len(long)
    if hasattr(config, "workeroutput"):
        config.workeroutput["left_out"] = len(long)
    if long:
        ids = set(map(id, long))
        items[:] = [item for item in items if id(item) not in ids]
        config.hook.pytest_deselected(items=long)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error) -> None:
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter, config) -> None:
    if count := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(long_proofs.words(count))


def no_gpu() -> str | None:
    """Why GPU tests cannot run here, or None. Asked in another process, so that this one never touches CUDA; where the driver has no
    device file, PyTorch is not even imported for the question."""
    if not os.path.exists("/dev/nvidiactl"):
        return "no CUDA device on this machine"
    code = "import torch, sys; sys.exit(0 if torch.cuda.is_available() else 3)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if done.returncode == 0:
        return None
    return "no CUDA device on this machine" if done.returncode == 3 else f"torch cannot be asked for a CUDA device: {done.stderr[-200:]}"


def browser_path() -> str | None:
    """TILEVIZ_BROWSER, a Chromium of the system, or the one that Playwright installed."""
    named = [os.environ.get("TILEVIZ_BROWSER"), *map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))]
    found = next((path for path in named if path), None)
    if found:
        return found
    code = "from playwright.sync_api import sync_playwright as p\nwith p() as play: print(play.chromium.executable_path)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    path = done.stdout.strip()
    return path if path and os.path.exists(path) else None


def no_browser() -> str | None:
    return None if browser_path() else "no Chromium found: .ci/needs installs one, or set TILEVIZ_BROWSER"


@dataclass(frozen=True)
class Done:
    """A finished command."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> dict:
        """The one JSON document on stdout; NaN and infinity, which are not JSON, are refused."""
        return json.loads(self.out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))

    @property
    def sentence(self) -> str:
        """The last line of the log."""
        return self.err.strip().splitlines()[-1] if self.err.strip() else ""


def tileviz_process(*words: str, cwd: Path = ROOT, **env: str) -> subprocess.Popen:
    """`python -m tileviz words...`, started; with Ctrl-C heard, also where the tests themselves run in the background of a shell."""
    command = [sys.executable, "-m", "tileviz", *map(str, words)]
    return subprocess.Popen(
        command,
        cwd=cwd,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def tileviz(*words: str, timeout: float = 120, cwd: Path = ROOT, **env: str) -> Done:
    """`python -m tileviz words...`, finished. Nobody ever sees a traceback."""
    process = tileviz_process(*words, cwd=cwd, **env)
    try:
        out, err = process.communicate(timeout=timeout)
    finally:
        process.kill()
    assert "Traceback" not in out + err, out + err
    return Done(process.returncode, out, err)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of the browser for the end-to-end tests."""
    return browser_path() or pytest.skip(no_browser())


@pytest.fixture(scope="session")
def compiled_once(tmp_path_factory) -> Path:
    """TileLang's cache for all tests of this run, so that the same program is built once."""
    return tmp_path_factory.mktemp("tilelang")


@pytest.fixture(scope="session")
def compiler_home(tmp_path_factory) -> Path:
    """A home of the tests that call the compiler themselves."""
    return tmp_path_factory.mktemp("compiler")


@pytest.fixture
def home(tmp_path, monkeypatch, compiled_once) -> Iterator[Path]:
    """A TILEVIZ_HOME of this test alone. Its engine is stopped afterwards, and nothing of it may be left running."""
    folder = make_home(tmp_path / "home", compiled_once)
    monkeypatch.setenv("TILEVIZ_HOME", str(folder))
    monkeypatch.setenv("TILEVIZ_ENGINE_IDLE", ENGINE_IDLE_S)
    yield folder
    assert not stop_engine(folder), "processes of this test's engine outlived it"


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory, compiled_once) -> Iterator[Path]:
    """A TILEVIZ_HOME and engine for the tests of one module that do not harm them."""
    folder = make_home(tmp_path_factory.mktemp("shared") / ODD, compiled_once)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILEVIZ_HOME", str(folder))
        patch.setenv("TILEVIZ_ENGINE_IDLE", ENGINE_IDLE_S)
        yield folder
    assert not stop_engine(folder), "processes of this module's engine outlived it"


def make_home(folder: Path, compiled_once: Path) -> Path:
    """A home whose caches of TileLang and torch.compile are the shared ones."""
    from tileviz.compiler import toolchain

    folder.mkdir(parents=True)
    inductor = compiled_once.parent / "inductor"
    inductor.mkdir(exist_ok=True)
    (folder / "inductor").symlink_to(inductor, target_is_directory=True)
    (folder / f"tilelang-{toolchain.cache_tag()}").symlink_to(compiled_once, target_is_directory=True)
    return folder


def processes_of(home: Path) -> list[psutil.Process]:
    """Every process that was started with this TILEVIZ_HOME, this one left out."""
    found = []
    for process in psutil.process_iter():
        try:
            if (
                process.pid != os.getpid()
                and process.environ().get("TILEVIZ_HOME") == str(home)
                and process.status() != psutil.STATUS_ZOMBIE
            ):
                found.append(process)
        except psutil.Error:
            continue  # it ended meanwhile, or belongs to someone else
    return found


def engine_pid(home: Path) -> int | None:
    """Process id of the engine of this home, from its lock file; None when there is none alive."""
    lock = home / "engine.lock"
    text = lock.read_text().strip() if lock.is_file() else ""
    if not text.isdigit() or not psutil.pid_exists(int(text)):
        return None
    return int(text) if psutil.Process(int(text)) in processes_of(home) else None


def none_left(home: Path, seconds: float = 60.0) -> list[psutil.Process]:
    """Waits until no process of this home is left; gives those that are."""
    end = time.monotonic() + seconds
    while (left := processes_of(home)) and time.monotonic() < end:
        time.sleep(0.1)
    return left


def stop_engine(home: Path) -> list[psutil.Process]:
    """Ends the engine of a home as its owner would; gives what was left after a long wait, after killing that, too."""
    for process in processes_of(home):
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.cmdline()[1:] == ["-m", "tileviz.engine"]:  # one that is only starting has no lock yet
                process.terminate()
    left = none_left(home)
    for process in left:
        process.kill()
    return left
