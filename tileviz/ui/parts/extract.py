"""Takes the functions that a script needs out of a kernel's file, with all they use, so that they stand alone."""

import ast
import functools
import importlib.util
import inspect
import re

KERNELS = "tileviz.kernels"
BASE = f"{KERNELS}.toolkit.base"


@functools.cache
def definitions(source: str, roots: tuple[str, ...]) -> str:
    """The top-level functions and constants of a file that `roots` need, and the imports they use, in the file's order.

    A function of another kernel's module, `gemm.reference`, comes along as `gemm_reference`. Other imports of ours are left out: `T` is
    TileLang's language itself.
    """
    tree = ast.parse(source)
    kept = _needed(tree, roots)
    modules = _kernel_modules(tree)
    borrowed = sorted({pair for node in kept for n in ast.walk(node) if (pair := _borrowed(n, modules)) is not None})
    used = {n.id for node in kept for n in ast.walk(node) if isinstance(n, ast.Name)} | set(roots)
    imported = (ast.get_source_segment(source, n) for n in kept if isinstance(n, (ast.Import, ast.ImportFrom)) and not _is_ours(n))
    imports = [text for text in imported if text is not None]
    own = [_segment(source, n) for n in kept if not isinstance(n, (ast.Import, ast.ImportFrom))]
    for module, name in borrowed:
        own = [re.sub(rf"\b{module}\.{name}\b", f"{module}_{name}", text) for text in own]
    parts = ["\n".join(imports)] if imports else []
    parts += [definitions(_source(module), tuple(a for a in names if a in used)) for module, names in map(_of_kernels, kept) if module]
    return "\n\n\n".join([*parts, *(_borrow(modules[module], name, f"{module}_{name}") for module, name in borrowed), *own])


def _borrow(module: str, name: str, new_name: str) -> str:
    """A function or a constant of another module of ours, under a name that tells where it is from."""
    return re.sub(rf"^(def )?{name}\b(?=\(| =)", rf"\g<1>{new_name}", definitions(_source(module), (name,)), flags=re.M)


def _source(module: str) -> str:
    return inspect.getsource(importlib.import_module(module))


def _needed(tree: ast.Module, roots: tuple[str, ...]) -> list[ast.stmt]:
    named = {name: node for node in tree.body for name in _names_of(node)}
    wanted, queue = set(), list(roots)
    while queue:
        name = queue.pop()
        if name in wanted or name not in named:
            continue
        wanted.add(name)
        queue += [n.id for n in ast.walk(named[name]) if isinstance(n, ast.Name)]
    return [node for node in tree.body if wanted & set(_names_of(node))]


def _names_of(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(a.asname or a.name).split(".")[0] for a in node.names]
    if isinstance(node, ast.Assign):
        return [t.id for t in node.targets if isinstance(t, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def _kernel_modules(tree: ast.Module) -> dict[str, str]:
    """{name in this file: full name} of the kernel modules that it imports."""
    named = [(module, a) for n in tree.body for module, names in [_under_kernels(n)] for a in names]
    return {a.asname or a.name: f"{module}.{a.name}" for module, a in named if _is_module(f"{module}.{a.name}")}


def _under_kernels(node: ast.stmt) -> tuple[str, list[ast.alias]]:
    """(module, names) of an import from under KERNELS; of any other statement ("", [])."""
    if isinstance(node, ast.ImportFrom) and node.module and f"{node.module}.".startswith(f"{KERNELS}."):
        return node.module, node.names
    return "", []


@functools.cache
def _is_module(name: str) -> bool:
    """Whether this full name is a module's, and not that of something in one."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # what it would lie in is no package
        return False


def _borrowed(node: ast.AST, modules: dict[str, str]) -> tuple[str, str] | None:
    """(module, name) of a use such as `gemm.reference`; None of anything else."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
        return node.value.id, node.attr
    return None


def _segment(source: str, node: ast.stmt) -> str:
    """Text of a definition with its decorators."""
    rows = _rows(node)
    return "\n".join(source.splitlines()[rows.start - 1 : rows.stop - 1])


def _rows(node: ast.stmt) -> range:
    """Lines of a definition with its decorators, from 1."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    return range(first, (node.end_lineno or node.lineno) + 1)


def _of_kernels(node: ast.stmt) -> tuple[str, list[str]]:
    """(module, names) of `from tileviz.kernels.toolkit.tiles import DTYPE_BYTES`; but base gives only declarations, and `T`: of it, and of
    any other statement, ("", [])."""
    module, names = _under_kernels(node)
    if module in ("", BASE) or all(_is_module(f"{module}.{a.name}") for a in names):
        return "", []
    return module, [a.name for a in names]


def _is_ours(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "tileviz"


def program_roots(source: str) -> tuple[str, ...]:
    """The names to start from in a file that holds a tile program: `program`, or every function where it holds parts of one."""
    functions = tuple(node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    return ("program",) if "program" in functions else functions


@functools.cache
def as_it_stands(source: str, roots: tuple[str, ...]) -> str:
    """The functions and constants that `roots` need, as far as they stand in this file."""
    kept = (node for node in _needed(ast.parse(source), roots) if not isinstance(node, (ast.Import, ast.ImportFrom)))
    return "\n\n\n".join(_segment(source, node) for node in kept)


@functools.cache
def numbered(source: str, roots: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    """(line number, text) of the functions and constants that `roots` need, as they stand in the file; (0, "") between two of them."""
    tree, lines = ast.parse(source), source.splitlines()
    out: list[tuple[int, str]] = []
    for node in _needed(tree, roots):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        rows = _rows(node)
        if out and rows.start > out[-1][0] + 1:
            out.append((0, ""))
        out += [(number, lines[number - 1]) for number in rows]
    return tuple(out)
