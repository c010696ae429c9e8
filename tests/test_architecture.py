"""Who imports whom: the table of the design, held by reading every module's imports."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tileviz import kernels

ROOT = Path(__file__).resolve().parent.parent
ISLANDS = ("kernels", "compiler", "lens", "bench", "store")
SHARED = ("errors", "measured", "records", "records_json", "settings")
MAY_IMPORT = {
    **{name: (name, *SHARED) for name in ISLANDS},
    "errors": (),
    "measured": (),
    "records": ("measured",),
    "settings": ("errors",),
    "records_json": ("measured", "records"),
    "data": SHARED,
    "engine": ("engine", *ISLANDS, *SHARED),
    "formats": (),
    "ui": ("ui", "engine", *ISLANDS, *SHARED, "formats"),
    "cli": ("cli", "engine", *ISLANDS, *SHARED, "formats"),
    "api": ("api", "engine", *ISLANDS, *SHARED, "formats", "ui"),
    "__main__": ("cli",),
    "__init__": ("api",),
}
DRAWS = Path("tileviz/api/figures.py")
"""The one module of the Python API that may import `ui`, for its charts, and only within functions: a result has a figure when it is
asked for one, and `import tileviz` brings no Streamlit."""

ROOMS = {
    "parts": ("parts", "form"),
    "charts": ("charts", "parts"),
    "form": ("form", "parts"),
    "explore": ("explore", "form", "charts", "parts"),
    "codeview": ("codeview", "form", "charts", "parts"),
    "sweeps": ("sweeps", "form", "charts", "parts"),
    "system": ("form", "charts", "parts"),
}
"""Rooms of `ui`, and of which others each may import: no page knows another page. What lies beside the rooms is the frame of all pages."""

FRAME = ("ahead", "back", "door", "look", "nav", "web")
"""Modules of `ui` that are in no room. They see the rooms that the frame is drawn with, and no page."""

ONLY_IN = {
    "streamlit": ("ui", "pages", "app"),
    "plotly": ("ui", "pages", "app", "api"),
    "starlette": ("ui",),
    "sqlite3": ("store",),
    "tilelang": ("kernels", "compiler"),
    "tvm": ("compiler",),
    "torch": ("kernels", "compiler", "bench", "engine"),
}


def modules() -> list[Path]:
    return [*sorted((ROOT / "tileviz").rglob("*.py")), *sorted((ROOT / "pages").glob("*.py")), *ROOT.glob("app.py")]


def place(path: Path) -> str:
    """The part of the project a module belongs to: an island, `engine`, `ui`, `cli`, `pages`, `app`, `errors`, ..."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts[1] if parts[0] == "tileviz" else parts[0]


def imports(path: Path, at_import_only: bool = False) -> set[str]:
    """Full names of what a module imports, wherever in it; relative imports are spelled out."""
    tree = ast.parse(path.read_text(), str(path))
    package = path.relative_to(ROOT).parent.parts
    found = set()
    for node in _at_import(tree) if at_import_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            found |= {module} | {f"{module}.{alias.name}" for alias in node.names}
    return found


def _at_import(node):
    """The nodes that run when the module is imported: everything outside function bodies."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from _at_import(child)


def heads(names: set[str]) -> set[str]:
    return {name.split(".")[0] for name in names}


def parts_used(names: set[str]) -> set[str]:
    """Parts of tileviz that a module imports from."""
    return {name.split(".")[1] for name in names if name.startswith("tileviz.")}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_what_its_part_may(path):
    where = place(path)
    if where in MAY_IMPORT:
        assert parts_used(imports(path)) - {"__version__"} <= set(MAY_IMPORT[where])
    else:
        assert where in ("pages", "app"), f"{path} lies in no part that the table knows"
        assert "cli" not in parts_used(imports(path))


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_library_is_imported_only_where_it_belongs(path):
    used = heads(imports(path))
    for library, places in ONLY_IN.items():
        assert library not in used or place(path) in places, f"{path.relative_to(ROOT)} imports {library}"


def test_the_python_api_reaches_into_ui_for_charts_alone_and_only_when_asked_for_one():
    for path in modules():
        if place(path) in ("api", "__init__"):
            assert "ui" not in parts_used(imports(path, at_import_only=True)), f"{path.relative_to(ROOT)} imports ui at import"
            assert "ui" not in parts_used(imports(path)) or path == ROOT / DRAWS, f"{path.relative_to(ROOT)} imports ui"


@pytest.mark.parametrize("path", [path for path in modules() if place(path) == "ui"], ids=lambda path: str(path.relative_to(ROOT)))
def test_a_room_of_the_pages_imports_no_other_page(path):
    parts = path.relative_to(ROOT / "tileviz" / "ui").with_suffix("").parts
    used = {name.split(".")[2] for name in imports(path) if name.startswith("tileviz.ui.")}
    if parts[0] in ROOMS:
        assert used <= set(ROOMS[parts[0]]), f"{path.relative_to(ROOT)} imports {sorted(used - set(ROOMS[parts[0]]))}"
    else:
        assert parts[0] in (*FRAME, "__init__"), f"{path.relative_to(ROOT)} lies in no room that the table knows"
        assert used <= {*FRAME, "form", "parts"}, f"the frame reaches into {sorted(used)}"


def test_pages_and_app_import_only_package_level_names_beside_ui():
    for path in modules():
        if place(path) in ("pages", "app"):
            deep = {n for n in _from_modules(path) if n.startswith("tileviz.") and n.count(".") > 1 and not n.startswith("tileviz.ui")}
            assert not deep, f"{path.relative_to(ROOT)} reaches into {sorted(deep)}"


def _from_modules(path: Path) -> set[str]:
    return {n.module for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ImportFrom) and n.module and not n.level}


def test_our_own_variables_are_read_by_settings_alone():
    """Where each is checked; the folder of results is made and refused by `store.home`."""
    for path in modules():
        if place(path) != "settings" and path.name != "home.py":
            reads = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, (ast.Call, ast.Subscript)) and _reads_ours(n)]
            assert not reads, f"{path.relative_to(ROOT)}:{reads[0].lineno} reads a variable that settings should"


def _reads_ours(node) -> bool:
    """`os.environ.get("TILEVIZ_X")`, `os.environ["TILEVIZ_X"]` or `os.getenv("TILEVIZ_X")`, the name as a word or from settings."""
    outer, inner = (node.func, node.args) if isinstance(node, ast.Call) else (node.value, [node.slice])
    named = inner and (ast.unparse(inner[0]).strip("'").startswith("TILEVIZ_") or ast.unparse(inner[0]).startswith("settings."))
    return bool(named) and ast.unparse(outer) in ("os.environ", "os.environ.get", "os.getenv")


OWN = tuple(".".join(module.split(".")[:3]) for module in kernels.MODULES.values())
"""The modules and packages of the kernels themselves."""

CODE = ("tileviz.kernels.code", "tileviz.kernels.built_in", "tileviz.kernels.toolkit.base", *OWN)
"""What gives the code of a kernel, not its card and answers."""

CHILDREN = ("Job", "Measurement")
"""How the classes end whose code runs in children of the engine."""

PROGRAMS = ("tileviz/engine/jobs/ncu_target.py",)
"""Modules that are a child's whole program."""


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_kernel_is_asked_and_only_children_have_its_code(path):
    """Pages, commands, store, engine and sweeps know cards and answers; a job that builds or runs a kernel has its code."""
    if place(path) == "kernels" or str(path.relative_to(ROOT)) in PROGRAMS:
        return
    tree = ast.parse(path.read_text())
    used = [(name, where) for name, where in _uses(tree, _names_of_code(tree)) if not where.endswith(CHILDREN)]
    assert not used, f"{path.relative_to(ROOT)} has the code of a kernel: {used}"


@pytest.mark.parametrize(
    "text",
    [
        "from tileviz.kernels import code",
        "from tileviz.kernels import code as code_of\n\nclass Task:\n    kernel = code_of('gemm')",
        "from tileviz import kernels\n\ndef page():\n    return kernels.code('gemm')",
        "import tileviz.kernels\nprint(tileviz.kernels.code('gemm'))",
        "from tileviz.kernels.toolkit.base import Kernel\n\ndef draw(kernel: Kernel): ...",
        "from tileviz.kernels.built_in import BuiltIn",
        "from tileviz.kernels.softmax.softmax import KERNEL",
        "from tileviz.kernels.gemm import gemm",
    ],
)
def test_every_way_to_the_code_of_a_kernel_is_seen(text):
    tree = ast.parse(text)
    assert [where for _, where in _uses(tree, _names_of_code(tree)) if not where.endswith(CHILDREN)]


def test_a_job_may_have_the_code_of_a_kernel():
    tree = ast.parse("from tileviz.kernels import code\n\nclass CompileJob:\n    def __call__(self): return code('gemm')")
    assert [where for _, where in _uses(tree, _names_of_code(tree))] == ["CompileJob"]


def _names_of_code(tree) -> dict[str, str]:
    """{the name under which a module knows it: what gives the code of a kernel}."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            named = {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name: full for name, full in named.items() if full.startswith(CODE)}
            found |= {f"{name}.code": full for name, full in named.items() if full == "tileviz.kernels"}
        if isinstance(node, ast.Import):
            found |= {alias.asname or alias.name: alias.name for alias in node.names if alias.name.startswith(CODE)}
            found |= {f"{alias.asname or alias.name}.code": alias.name for alias in node.names if alias.name == "tileviz.kernels"}
    return found


def _uses(node, names: dict[str, str], where: str = "") -> Iterator[tuple[str, str]]:
    """(name, the outermost class or function that uses it); one that is imported and used nowhere is used by the module."""
    used = [(found, at) for found, at in _named(node, where) if found in names]
    yield from used
    yield from ((name, "") for name in names if "." not in name and name not in {found for found, _ in used})


def _named(node, where: str) -> Iterator[tuple[str, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Name, ast.Attribute)):
            yield ast.unparse(child), where
        inside = child.name if isinstance(child, (ast.ClassDef, ast.FunctionDef)) and not where else where
        yield from _named(child, inside)


def test_a_kernel_file_imports_nothing_heavy_when_it_is_read():
    for path in sorted((ROOT / "tileviz" / "kernels").rglob("*.py")):
        heavy = heads(imports(path, at_import_only=True)) & {"torch", "tilelang", "numpy", "pandas", "streamlit"}
        assert not heavy, f"{path.name} imports {sorted(heavy)} at import"


def test_every_kernel_loads_with_torch_and_tilelang_blocked():
    code = """
import sys
sys.modules["torch"] = sys.modules["tilelang"] = None
from tileviz import kernels
assert len(kernels.names()) >= 2
for name in kernels.names():
    kernel = kernels.kernel(name)
    kernel.problem({}, "cpu"), kernel.config({}), kernel.source_hash
"""
    python(code)


def test_the_web_process_loads_neither_torch_nor_tilelang():
    """Imports everything that a page can reach by an import at module level."""
    names = [_dotted(path) for path in modules() if place(path) == "ui"]
    pages = [p for path in modules() if place(path) in ("pages", "app") for p in sorted(imports(path)) if p.startswith("tileviz")]
    parts = [f"tileviz.{part}" for part in (*ISLANDS, "engine")]
    code = f"""
import importlib, sys
for name in {names + pages + parts!r}:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        assert name.startswith(error.name.rsplit(".", 1)[0]), (name, error)  # a name inside a module, not a module
for name in importlib.import_module("tileviz.kernels").names():
    importlib.import_module("tileviz.kernels").kernel(name)
heavy = [name for name in ("torch", "tilelang", "tvm", "optuna") if name in sys.modules]
assert not heavy, heavy
"""
    python(code)


def test_importing_tileviz_reads_no_other_file_and_its_api_loads_nothing_that_draws_or_computes():
    code = """
import sys
import tileviz
assert not [name for name in sys.modules if name.startswith("tileviz.")]
tileviz.run
heavy = [name for name in ("torch", "tilelang", "streamlit", "pandas", "plotly", "numpy") if name in sys.modules]
assert not heavy, heavy
"""
    python(code)


def test_the_command_line_loads_neither_torch_nor_tilelang_nor_streamlit():
    code = """
import sys
import tileviz.cli.main
heavy = [name for name in ("torch", "tilelang", "streamlit", "pandas") if name in sys.modules]
assert not heavy, heavy
"""
    python(code)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_opens_with_what_it_is_for(path):
    tree = ast.parse(path.read_text())
    assert not tree.body or ast.get_docstring(tree), f"{path.relative_to(ROOT)} has no docstring"


def _dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def python(code: str) -> None:
    """Runs code in a fresh interpreter, from the project's folder; fails with its stderr."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
