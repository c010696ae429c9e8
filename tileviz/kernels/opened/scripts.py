"""Runs a file's own script, or the tests in it, with TileLang's entry points replaced; and reads
the call sites of what it leaves out."""

import functools
import importlib
import inspect
import os
import runpy
import signal
import sys
import traceback
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tileviz.kernels.opened import gpu, texts
from tileviz.kernels.opened.call_sites import CallSites, Unresolved
from tileviz.kernels.opened.events import Events
from tileviz.kernels.opened.guard import Guard
from tileviz.kernels.opened.missing import Finder
from tileviz.kernels.opened.recorder import Call, Plain, Recorder, install

STARTS = ("main", "test", "run", "bench", "check", "demo", "example")
"""How functions begin that are called where the script itself shows no kernel; those without
arguments alone."""

EACH_S = 30
"""Seconds for the call sites of one factory, and for one such function."""


class OutOfTime(BaseException):
    """The time for a piece of the script is over. No `except Exception` of the script
    catches it."""


def load() -> None:
    """Imports what every script needs, which takes seconds, before anything is forked."""
    import tilelang  # noqa: F401
    import torch  # noqa: F401


@dataclass(frozen=True)
class Asked:
    """What a child is told to open."""

    file: Path
    hash: str
    scratch: Path
    """The only folder that it may write to."""
    told: Path
    """Where what is found is told; in `scratch`."""
    seconds: float
    """For the script, from its first line on."""
    tests: tuple[str, ...] | None = None
    """Arguments for pytest; None runs the file as a script."""


class Opening:
    """One process that runs the file: everything is replaced when it is made."""

    def __init__(self, asked: Asked, events: Events, hold: Callable) -> None:
        self.asked = asked
        self.events = events
        self.file = str(asked.file)
        self.guard = Guard(asked.scratch, lambda sentence: events.tell("trouble", said=sentence))
        content = asked.file.read_bytes()
        if texts.hash_of(content) != asked.hash:
            raise RuntimeError("it was changed while it was opened; open it again")
        self.text = content.decode("utf-8-sig")
        self.factories = texts.factories(self.text)
        self.recorder = Recorder(self.file, events, self.factories, hold)
        gpu.stand_in()
        install(self.recorder)
        sys.meta_path.append(Finder(self.file, lambda name: events.tell("stood_in", name=name)))
        self.guard.install()

    def record(self) -> None:
        """Runs the script, or its tests; where no kernel showed, its functions that look like a
        start."""
        tests = self.asked.tests
        run = self._script if tests is None else functools.partial(self._tests, tests)
        how, said, _ = self.run(run, self.asked.seconds)
        if not self.recorder.kernels and how != "timeout" and tests is None:
            self._call_starts()
        self.tell_siblings()
        self.events.tell("ended", how=how, said=said)

    def read(self, known: set[str]) -> None:
        """Imports the file and resolves each factory whose title is not known from its
        call sites."""
        how, said, names = self.run(self.imported, EACH_S)
        if how != "finished":
            self.events.tell("unread", said=said)
            return
        sites = CallSites(self.text, names)
        for factory in self.factories:
            if factory.title in known:
                continue
            before = len(self.recorder.kernels)
            try:
                how, said, _ = self.run(lambda one=factory: resolve(one, names, sites, self.recorder), EACH_S)
            finally:
                self.recorder.current.clear()
                self.recorder.tuning.clear()
            if len(self.recorder.kernels) == before:
                self.events.tell("unresolved", title=factory.title, why=said)
        self.tell_siblings()

    def run(self, function: Callable, seconds: float) -> tuple[str, str, Any]:
        """(how it ended, what was said of that, what it gave) of a piece of the script."""
        signal.signal(signal.SIGALRM, _out_of_time)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            with gpu.target(), gpu.on_cpu(self.recorder.origins):
                given = function()
            return "finished", "", given
        except OutOfTime:
            return "timeout", f"it had not ended after {seconds:g} s", None
        except SystemExit as error:
            return "exited", f"it exited with {error.code}" if error.code else "", None
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a stranger's script may raise anything
            return "raised", told(error, self.file), None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def imported(self) -> dict[str, Any]:
        """The names of the file once it is imported, under its dotted name where it lies in a
        package."""
        name, root = dotted(self.file)
        self._places(root)
        if name:
            return vars(importlib.import_module(name))
        return runpy.run_path(self.file, run_name="opened")

    def tell_siblings(self) -> None:
        """Tells the hash of every module that is no installed one."""
        libraries = (
            sys.prefix,
            sys.base_prefix,
            os.path.dirname(os.__file__),
            str(Path(__file__).parents[2]),
        )
        files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
        own = [file for file in files if isinstance(file, str) and "site-packages" not in file and not file.startswith(libraries)]
        hashes = {file: texts.hash_of(Path(file).read_bytes()) for file in sorted(own) if os.path.isfile(file) and file != self.file}
        self.events.tell("siblings", files=hashes)

    def _script(self) -> None:
        self._places()
        runpy.run_path(self.file, run_name="__main__")

    def _tests(self, args: tuple[str, ...]) -> None:
        import pytest

        self._places()
        status = pytest.main([self.file, "-p", "no:cacheprovider", "-o", "addopts=", "-q", *args])
        if status:
            self.events.tell(
                "trouble",
                said=f"its tests did not all pass here, where outputs are made up (pytest's status {int(status)})",
            )

    def _places(self, root: str | None = None) -> None:
        sys.argv = [self.file]
        for folder in (os.path.dirname(self.file), root):
            if folder and folder not in sys.path:
                sys.path.insert(0, folder)

    def _call_starts(self) -> None:
        how, _, names = self.run(self.imported, EACH_S)
        for function in starts(names or {}, self.file) if how == "finished" else ():
            self.run(function, EACH_S)
            if self.recorder.kernels:
                return


def resolve(factory: texts.Factory, names: dict[str, Any], sites: CallSites, recorder: Recorder) -> None:
    """Builds the first call site of a factory whose values are known, else its defaults. Raises
    Unresolved."""
    impl = names.get(factory.name)
    if impl is None:
        raise Unresolved("it is defined inside another function, whose arguments are not known")
    errors = []
    for site, way in sites.of(factory.name):
        try:
            args, kwargs = sites.arguments(site)
            return build(impl, way, args, kwargs, recorder)
        except Exception as error:  # a stranger's factory may raise anything for these values
            errors.append(f"line {site.lineno}: {first_line(error)}")
    try:
        return build(impl, "compile", [], {}, recorder)
    except Exception as error:
        errors.append(first_line(error))
    raise Unresolved(errors[0])


def build(impl, way: str, args: list, kwargs: dict, recorder: Recorder) -> None:
    """Makes the kernel of a factory for these arguments; the recorder keeps it."""
    before = len(recorder.kernels)
    if hasattr(impl, "params") and hasattr(impl, "buffer_map"):
        recorder.compile(impl)
    elif inspect.isfunction(impl):
        made = impl(*args, **kwargs)
        if hasattr(made, "buffer_map"):
            recorder.kernel(made, None, None, {}, Call(Plain(impl), tuple(args), kwargs))
    elif way == "compile":
        impl.compile(*args, **kwargs)
    else:
        impl(*args, **kwargs)
    if len(recorder.kernels) == before:
        raise Unresolved("the call makes no kernel")


def starts(names: dict[str, Any], file: str) -> list[types.FunctionType]:
    """Functions of the file that take no arguments and are named like a start, `main` first."""
    own = [value for value in names.values() if inspect.isfunction(value) and value.__code__.co_filename == file]
    ready = [function for function in own if function.__name__.startswith(STARTS) and not _needs_arguments(function)]
    return sorted(ready, key=lambda function: (STARTS.index(_start_of(function)), function.__name__))


def dotted(file: str) -> tuple[str | None, str | None]:
    """(dotted name, folder of the top package) of a file in a package, else (None, None)."""
    parts, folder = [Path(file).stem], os.path.dirname(file)
    while os.path.exists(os.path.join(folder, "__init__.py")):
        parts.insert(0, os.path.basename(folder))
        folder = os.path.dirname(folder)
    return (".".join(parts), folder) if len(parts) > 1 else (None, None)


def told(error: BaseException, file: str) -> str:
    """What a script raised, with the last line of the file that had a part in it."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return first_line(error) + (f" (line {lines[-1]})" if lines else "")


def first_line(error: BaseException) -> str:
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    name = type(error).__name__
    return f"{name}: {text[:200]}" if text and not isinstance(error, Unresolved) else text or name


def _needs_arguments(function) -> bool:
    parameters = inspect.signature(function).parameters.values()
    return any(p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


def _start_of(function) -> str:
    return next(start for start in STARTS if function.__name__.startswith(start))


def _out_of_time(*args) -> None:
    raise OutOfTime
