"""What the text of a file says before anything of it runs: its factories, and why it cannot be
opened."""

import ast
import hashlib
from dataclasses import dataclass
from pathlib import Path

from tileviz.errors import BadRequest
from tileviz.kernels.opened.found import Form

MOST_BYTES = 4 << 20
"""Of a file of kernels."""


@dataclass(frozen=True)
class Factory:
    """A function of the text that is decorated as a kernel, or holds a T.prim_func."""

    name: str
    title: str
    """With the functions around it: `outer.<locals>.kernel`."""
    line: int
    """As `co_firstlineno` counts: of its first decorator."""
    form: Form
    parameters: tuple[str, ...]
    """Those without a default."""
    end: int
    """Its last line."""

    @property
    def is_outermost(self) -> bool:
        """Whether an import of the file gives it a name."""
        return self.title == self.name


def text_of(path: Path) -> tuple[str, str]:
    """(text, hash) of a Python file. Raises BadRequest, in one sentence, for what is
    no such file."""
    if path.is_dir():
        raise BadRequest(f"{path} is a folder; name a Python file in it")
    if not path.exists():
        raise BadRequest(f"there is no file {path}")
    if not path.is_file():
        raise BadRequest(f"{path} is no ordinary file; name a Python file")
    if path.suffix == ".ipynb":
        raise BadRequest(f"{path} is a notebook; export it as a Python file (jupyter nbconvert --to script) and open that")
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise BadRequest(f"{path} has {size / 1e6:.0f} MB; a file of kernels has at most {MOST_BYTES >> 20} MB")
        content = path.read_bytes()
    except OSError as error:
        raise BadRequest(f"{path} cannot be read: {error.strerror}") from error
    return _python(path, content), hash_of(content)


def hash_of(content: bytes) -> str:
    """SHA-256, first 16 digits."""
    return hashlib.sha256(content).hexdigest()[:16]


def factories(text: str) -> list[Factory]:
    """In the order of the text."""
    found: list[Factory] = []
    _collect(ast.parse(text), "", found)
    return found


def _python(path: Path, content: bytes) -> str:
    if b"\0" in content:
        raise BadRequest(f"{path} is a binary file; name a Python file")
    try:
        text = content.decode("utf-8-sig")
        ast.parse(text)
    except UnicodeDecodeError as error:
        raise BadRequest(f"{path} is no text in UTF-8 (byte {error.start}); name a Python file") from error
    except SyntaxError as error:
        raise BadRequest(f"{path} is no Python: {error.msg}, line {error.lineno}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise BadRequest(f"{path} cannot be read as Python: {type(error).__name__}") from error
    return text


def _collect(node: ast.AST, around: str, found: list[Factory]) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            title = f"{around}{child.name}"
            if _is_factory(child):
                found.append(_factory(child, title))
            else:
                _collect(child, f"{title}.<locals>.", found)
        elif isinstance(child, ast.ClassDef):
            _collect(child, f"{around}{child.name}.", found)
        elif not isinstance(child, ast.expr):
            _collect(child, around, found)


def _is_factory(function: ast.FunctionDef) -> bool:
    if any(_decorates(decorator, ("jit", "autotune", "lazy_jit")) for decorator in function.decorator_list):
        return True
    return _holds_prim_func(function) and bool(function.args.args)


def _factory(function: ast.FunctionDef, title: str) -> Factory:
    lazy = _holds_prim_func(function)
    decorated = any(_decorates(decorator, ("jit", "autotune", "lazy_jit")) for decorator in function.decorator_list)
    form = "bare" if not decorated else "lazy" if lazy else "eager"
    arguments = function.args
    positional = arguments.posonlyargs + arguments.args
    needed = positional[: len(positional) - len(arguments.defaults)]
    needed += [p for p, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None]
    line = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    return Factory(
        function.name,
        title,
        line,
        form,
        tuple(parameter.arg for parameter in needed),
        function.end_lineno or line,
    )


def _holds_prim_func(function: ast.FunctionDef) -> bool:
    """Whether a T.prim_func is defined directly in it."""
    return any(
        isinstance(node, ast.FunctionDef) and any(_decorates(decorator, ("prim_func",)) for decorator in node.decorator_list)
        for statement in function.body
        for node in ([statement] if isinstance(statement, ast.FunctionDef) else _outside_functions(statement))
    )


def _outside_functions(node: ast.AST):
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, ast.FunctionDef):
            yield from _outside_functions(child)


def _decorates(decorator: ast.expr, names: tuple[str, ...]) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    words = ast.unparse(called).split(".")
    return words[-1] in names and words[0] not in ("triton", "torch", "numba", "jax")
