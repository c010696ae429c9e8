"""Reads the values of a factory's arguments from its call sites in the text, sliced backwards:
constants, defaults, argparse defaults, module globals, assignments before the call."""

import ast
import builtins
from collections.abc import Iterator
from typing import Any

COMPILING = ("compile", "get_tir", "get_kernel_source")
"""Methods of a factory that take its arguments."""

_BUILTIN = object()

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Assignment = ast.Assign | ast.AnnAssign


class Unresolved(Exception):
    """A value that the text does not tell."""


class CallSites:
    """The text of a file, with the names that it has once it is imported."""

    def __init__(self, text: str, names: dict[str, Any]) -> None:
        self.names = names
        self.tree = ast.parse(text)
        self.scopes: dict[ast.AST, ast.AST] = {}
        self.functions: dict[str, _Function] = {}
        self._known: dict[tuple, Any] = {}
        self._place(self.tree, self.tree)

    def of(self, name: str) -> Iterator[tuple[ast.Call, str]]:
        """Calls of a function: `f(...)`, `f.compile(...)`, `partial(f, ...)`, each with the way it
        is called."""
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.Call):
                continue
            called = node.func
            if isinstance(called, ast.Name) and called.id == name:
                yield node, "call"
            elif isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == name:
                if called.attr in COMPILING:
                    yield node, "compile"
            elif isinstance(called, ast.Name) and called.id == "partial" and node.args and _is_name(node.args[0], name):
                yield _without_first(node), "partial"

    def arguments(self, site: ast.Call) -> tuple[list, dict[str, Any]]:
        """Positional and keyword values of a call. Raises Unresolved."""
        scope = self.scopes.get(site, self.tree)
        args: list = []
        kwargs: dict[str, Any] = {}
        for argument in site.args:
            if isinstance(argument, ast.Starred):
                args += list(self.value(argument.value, scope, site.lineno))
            else:
                args.append(self.value(argument, scope, site.lineno))
        for keyword in site.keywords:
            value = self.value(keyword.value, scope, site.lineno)
            kwargs |= value if keyword.arg is None else {keyword.arg: value}
        return args, kwargs

    def value(self, expression: ast.expr, scope: ast.AST, line: int) -> Any:
        """What an expression on a line of a scope gives. Raises Unresolved."""
        wanted = {node.id for node in ast.walk(expression) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        values = dict(self.names)
        for name in wanted - _bound_within(expression):
            found = self._name(name, scope, line)
            if found is not _BUILTIN:
                values[name] = found
        return _run(ast.Expression(expression), "eval", values, ast.unparse(expression)[:80])

    def _place(self, node: ast.AST, scope: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            self.scopes[child] = scope
            if isinstance(child, _Function):
                self.functions.setdefault(child.name, child)
                self._place(child, child)
            else:
                self._place(child, scope)

    def _name(self, name: str, scope: ast.AST, line: int) -> Any:
        key = (name, id(scope), line)
        if key not in self._known:
            self._known[key] = Unresolved(f"{name} depends on itself")
            try:
                self._known[key] = self._looked_up(name, scope, line)
            except Unresolved as error:
                self._known[key] = error
        found = self._known[key]
        if isinstance(found, Unresolved):
            raise found
        return found

    def _looked_up(self, name: str, scope: ast.AST, line: int) -> Any:
        binding = self._last_binding(name, scope, line)
        if isinstance(binding, ast.For):
            first = next(iter(self.value(binding.iter, scope, binding.lineno)), _BUILTIN)
            if first is _BUILTIN:
                raise Unresolved(f"nothing to go through for {name}")
            return _unpacked(binding.target, first, name)
        if binding is not None:
            return self._assigned(binding, scope, name)
        imported = self._import(name, scope)
        if imported is not None:
            return _run(ast.Module([imported], []), "exec", {}, ast.unparse(imported), name)
        if isinstance(scope, _Function):
            if any(parameter.arg == name for parameter in _parameters(scope)):
                return self._parameter(scope, name)
            outer = self.scopes.get(scope, self.tree)
            return self._name(name, outer, line if outer is self.tree else scope.lineno)
        if name in self.names:
            return self.names[name]
        if hasattr(builtins, name):
            return _BUILTIN
        raise Unresolved(f"{name} is not known in the text")

    def _last_binding(self, name: str, scope: ast.AST, line: int) -> _Assignment | ast.For | None:
        """The assignment of the name nearest before the line, or the loop over it around
        the line."""
        last = None
        for node in ast.walk(scope):
            if not isinstance(node, (_Assignment, ast.For)) or self.scopes.get(node) is not scope:
                continue
            if node.lineno >= line or not _binds(node, name, line):
                continue
            if last is None or node.lineno > last.lineno:
                last = node
        return last

    def _assigned(self, node, scope: ast.AST, name: str) -> Any:
        called = node.value.func if isinstance(node.value, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in ("parse_args", "parse_known_args"):
            return self._options(node, scope, name)
        target = next(target for target in _targets(node) if name in _bound_by(target))
        return _unpacked(target, self.value(node.value, scope, node.lineno), name)

    def _import(self, name: str, scope: ast.AST):
        """The import in a function that binds the name."""
        binds = (node for node in self._imports(scope) if any((a.asname or a.name.partition(".")[0]) == name for a in node.names))
        return next(binds, None)

    def _imports(self, scope: ast.AST) -> list:
        """Those in a function; those of the file itself have run."""
        own = () if scope is self.tree else (node for node in ast.walk(scope) if self.scopes.get(node) is scope)
        return [node for node in own if isinstance(node, (ast.Import, ast.ImportFrom))]

    def _parameter(self, function: _Function, name: str) -> Any:
        """A parameter's value from a call of its function that tells it, else its default."""
        positional = [parameter.arg for parameter in function.args.posonlyargs + function.args.args]
        errors = []
        for site, _ in self.of(function.name):
            scope = self.scopes.get(site, self.tree)
            if scope is function:
                continue
            try:
                found = self._handed(site, scope, name, positional)
            except Unresolved as error:
                errors.append(str(error))
                continue
            if found is not _BUILTIN:
                return found
        default = _defaults(function).get(name)
        if default is not None:
            return self.value(default, self.tree, 1 << 29)
        raise Unresolved(f"{name} of {function.name} has no value in the text" + (f" ({errors[0]})" if errors else ""))

    def _handed(self, site: ast.Call, scope: ast.AST, name: str, positional: list[str]) -> Any:
        """What a call hands over for a parameter; _BUILTIN where it leaves it out."""
        for keyword in site.keywords:
            if keyword.arg == name:
                return self.value(keyword.value, scope, site.lineno)
            if keyword.arg is None and name in (found := self.value(keyword.value, scope, site.lineno)):
                return found[name]
        index = positional.index(name) if name in positional else len(site.args)
        if index < len(site.args) and not any(isinstance(argument, ast.Starred) for argument in site.args[: index + 1]):
            return self.value(site.args[index], scope, site.lineno)
        return _BUILTIN

    def _options(self, node, scope: ast.AST, name: str) -> Any:
        """What argparse gives for an empty command line."""
        parser = ast.unparse(node.value.func.value)
        before = (line for line in ast.walk(scope) if isinstance(line, ast.stmt) and line.lineno < node.lineno)
        lines: list[ast.stmt] = [line for line in before if _builds(line, parser)]
        lines += self._imports(scope)
        lines.sort(key=lambda line: line.lineno)
        values = dict(self.names)
        options = _run(ast.Module(lines, []), "exec", values, "the command line's options", parser).parse_known_args([])
        return _unpacked(_targets(node)[0], options[0] if node.value.func.attr == "parse_args" else options, name)


def _run(code, mode: str, values: dict, what: str, give: str = "") -> Any:
    """Evaluates or executes a piece of the text. Raises Unresolved for whatever it raises."""
    try:
        found = eval(compile(ast.fix_missing_locations(code), "<call site>", mode), values)
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # a stranger's expression may raise anything, SystemExit too
        if type(error).__name__ == "OutOfTime":
            raise
        raise Unresolved(f"{what}: {type(error).__name__}: {str(error)[:100]}") from error
    if not give:
        return found
    if give not in values:
        raise Unresolved(f"{give} is not known in the text")
    return values[give]


def _binds(node: _Assignment | ast.For, name: str, line: int) -> bool:
    """Whether the name has its value from this statement on a line after it."""
    if isinstance(node, ast.For):
        return name in _bound_by(node.target) and line <= (node.end_lineno or line)
    return node.value is not None and any(name in _bound_by(target) for target in _targets(node))


def _builds(node: ast.stmt, parser: str) -> bool:
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]) == parser
    return isinstance(node, ast.Expr) and ast.unparse(node).startswith(f"{parser}.")


def _targets(node: _Assignment) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _without_first(node: ast.Call) -> ast.Call:
    return ast.copy_location(ast.Call(func=node.args[0], args=node.args[1:], keywords=node.keywords), node)


def _bound_by(target: ast.expr) -> set[str]:
    """Names that an assignment to this target binds."""
    if isinstance(target, ast.Name):
        return {target.id}
    if isinstance(target, (ast.Tuple, ast.List)):
        return {name for item in target.elts for name in _bound_by(item)}
    return _bound_by(target.value) if isinstance(target, ast.Starred) else set()


def _bound_within(expression: ast.expr) -> set[str]:
    """Names that an expression binds itself: of lambdas and comprehensions."""
    found = set()
    for node in ast.walk(expression):
        if isinstance(node, ast.Lambda):
            found |= {parameter.arg for parameter in node.args.args}
        if isinstance(node, ast.comprehension):
            found |= _bound_by(node.target)
    return found


def _unpacked(target: ast.expr, value: Any, name: str) -> Any:
    """What the name in a target gets of the value that is assigned to it. Raises Unresolved."""
    if isinstance(target, ast.Name):
        return value
    if isinstance(target, ast.Starred):
        return _unpacked(target.value, value, name)
    if not isinstance(target, (ast.Tuple, ast.List)):
        raise Unresolved(f"{name} is not known in the text")
    try:
        parts = list(value)
    except TypeError as error:
        raise Unresolved(f"{name}: {error}") from error
    for item, part in zip(target.elts, _gathered(target.elts, parts), strict=False):
        if name in _bound_by(item):
            return _unpacked(item, part, name)
    raise Unresolved(f"{name} is not known in the text")


def _gathered(items: list[ast.expr], parts: list) -> list:
    """The parts as these items take them: what lies under a star is one list."""
    star = next((at for at, item in enumerate(items) if isinstance(item, ast.Starred)), None)
    if star is None:
        return parts
    end = len(parts) - (len(items) - star - 1)
    return [*parts[:star], parts[star:end], *parts[end:]]


def _parameters(function: _Function) -> list[ast.arg]:
    return function.args.posonlyargs + function.args.args + function.args.kwonlyargs


def _defaults(function: _Function) -> dict[str, ast.expr]:
    arguments = function.args
    positional = arguments.posonlyargs + arguments.args
    start = len(positional) - len(arguments.defaults)
    found = {parameter.arg: default for parameter, default in zip(positional[start:], arguments.defaults, strict=True)}
    keyword = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return found | {parameter.arg: default for parameter, default in keyword if default is not None}
