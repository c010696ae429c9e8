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
    borrowed = sorted({(n.value.id, n.attr) for node in kept for n in ast.walk(node) if _is_borrowed(n, modules)})
    used = {n.id for node in kept for n in ast.walk(node) if isinstance(n, ast.Name)} | set(roots)
    imports = [ast.get_source_segment(source, n) for n in kept if isinstance(n, (ast.Import, ast.ImportFrom)) and not _is_ours(n)]
    own = [_segment(source, n) for n in kept if not isinstance(n, (ast.Import, ast.ImportFrom))]
    for module, name in borrowed:
        own = [re.sub(rf"\b{module}\.{name}\b", f"{module}_{name}", text) for text in own]
    parts = ["\n".join(imports)] if imports else []
    parts += [definitions(_source(n.module), tuple(a.name for a in n.names if a.name in used)) for n in kept if _is_of_kernels(n)]
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
    named = [(n.module, a) for n in tree.body if _is_under_kernels(n) for a in n.names]
    return {a.asname or a.name: f"{module}.{a.name}" for module, a in named if _is_module(f"{module}.{a.name}")}


def _is_under_kernels(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(f"{KERNELS}.")


@functools.cache
def _is_module(name: str) -> bool:
    """Whether this full name is a module's, and not that of something in one."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # what it would lie in is no package
        return False


def _is_borrowed(node: ast.AST, modules: dict[str, str]) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules


def _segment(source: str, node: ast.stmt) -> str:
    """Text of a definition with its decorators."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    return "\n".join(source.splitlines()[first - 1 : node.end_lineno])


def _is_of_kernels(node: ast.stmt) -> bool:
    """`from tileviz.kernels.toolkit.tiles import DTYPE_BYTES`; but base gives only declarations, and `T`."""
    return _is_under_kernels(node) and node.module != BASE and not all(_is_module(f"{node.module}.{a.name}") for a in node.names)


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
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        if out and first > out[-1][0] + 1:
            out.append((0, ""))
        out += [(number, lines[number - 1]) for number in range(first, node.end_lineno + 1)]
    return tuple(out)
