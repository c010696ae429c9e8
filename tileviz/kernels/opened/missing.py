"""Stands in for modules that are not installed, so that a file that imports them still opens;
whatever computes with one fails."""

import ast
import importlib.abc
import importlib.machinery
import os
import sys
import types
from collections.abc import Callable

NEVER = ("tilelang", "tvm", "tvm_ffi", "torch", "numpy", "pytest", "_pytest", "hip", "cuda")
"""Modules that are never stood in for: what asks for them copes by itself."""

FOLDERS_UP = 4
"""How far above a file the root of its project is looked for."""


class MissingModuleUsed(RuntimeError):
    """A module that is not installed was asked to compute something."""


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Last on the path of finders. `told` gets the name of each module that is stood
    in for, once."""

    def __init__(self, file: str, told: Callable[[str], None]) -> None:
        self.file = file
        self.told = told
        self.names: set[str] = set()

    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top in NEVER or top.startswith("_") or top in sys.stdlib_module_names:
            return None
        if path is None and (spec := self._above(top)) is not None:
            return spec
        if _copes_itself():
            return None
        if top not in self.names:
            self.names.add(top)
            self.told(top)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Module(spec.name)

    def exec_module(self, module) -> None: ...

    def _above(self, top: str):
        """A module in a folder above the file: a project that is run from its root."""
        folder = os.path.dirname(self.file)
        for _ in range(FOLDERS_UP):
            folder = os.path.dirname(folder)
            if folder.count(os.sep) < 2:
                return None
            for base in (folder, os.path.join(folder, "src")):
                if _holds(base, top):
                    sys.path.append(base)
                    return importlib.machinery.PathFinder.find_spec(top, [base])
        return None


class Module(types.ModuleType):
    """A module that is not there: any name of it exists."""

    def __getattr__(self, name: str):
        if name == "__version__":
            return "0.0.0"
        if name.startswith("__"):
            raise AttributeError(name)
        return Thing(f"{self.__name__}.{name}")


class Thing:
    """What a missing module holds: a decorator, a context manager, a base class; with a tensor it
    fails."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return Thing(f"{self._name}.{name}")

    def __call__(self, *args, **kwargs):
        if len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type)):
            return args[0]
        if any(_is_tensor(value) for value in (*args, *kwargs.values())):
            raise MissingModuleUsed(f"{self._name} is not installed")
        return Thing(f"{self._name}()")

    def __getitem__(self, index):
        return self

    def __or__(self, other):
        return self

    __ror__ = __or__

    def __mro_entries__(self, bases):
        return (object,)

    def __enter__(self):
        return self

    def __exit__(self, *args) -> bool:
        return False

    def __bool__(self) -> bool:
        return False

    def __iter__(self):
        raise MissingModuleUsed(f"{self._name} is not installed")


def _is_tensor(value) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _holds(base: str, top: str) -> bool:
    folder = os.path.join(base, top)
    if os.path.exists(f"{folder}.py") or os.path.exists(os.path.join(folder, "__init__.py")):
        return True
    return os.path.isdir(folder) and any(name.endswith(".py") for name in os.listdir(folder))


def _copes_itself() -> bool:
    """Whether the import stands in a library, or inside a try: it then fails as it
    would anywhere."""
    frame = sys._getframe(2)
    while frame is not None and ("importlib" in frame.f_code.co_filename or frame.f_code.co_filename == __file__):
        frame = frame.f_back
    if frame is None:
        return False
    file, line = frame.f_code.co_filename, frame.f_lineno
    if "site-packages" in file or file.startswith((sys.base_prefix, sys.prefix)):
        return True
    try:
        with open(file, encoding="utf-8") as text:
            tree = ast.parse(text.read())
    except (OSError, ValueError, SyntaxError):
        return True
    tries = (node for node in ast.walk(tree) if isinstance(node, ast.Try) and node.handlers)
    return any(statement.lineno <= line <= (statement.end_lineno or line) for node in tries for statement in node.body)
