"""No module imports one that imports it, however far around, and be it inside a function."""

import ast

from tests.test_architecture import ROOT, modules


def arrows() -> dict[str, set[str]]:
    """Each module of ours with those that it imports. A name from a package is the module of that name, where there is one."""
    paths = {name_of(path): path for path in modules()}
    return {name: imported(path, paths) - {name} for name, path in paths.items()}


def imported(path, known) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            folder = path.relative_to(ROOT).parent.parts
            base = [".".join(folder[: len(folder) - node.level + 1])] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            found |= {full if (full := f"{module}.{alias.name}") in known else module for alias in node.names}
    return found & known.keys()


def name_of(path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def in_circles(graph: dict[str, set[str]]) -> set[str]:
    """What is left when those that import nothing that is left, or that nothing left imports, are taken away again and again."""
    left = dict(graph)
    while True:
        wanted = set().union(*left.values()) if left else set()
        ends = {name for name, used in left.items() if not used & left.keys() or name not in wanted}
        if not ends:
            return set(left)
        left = {name: used - ends for name, used in left.items() if name not in ends}


def test_no_module_stands_in_a_circle():
    found = arrows()
    assert len(found) > 200 and not in_circles(found)


def test_a_circle_is_found_and_what_hangs_on_it_is_not():
    assert in_circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == {"b", "c"}
