"""Reads a T.prim_func as TileLang's front end made it: its arguments, and which of
them it writes."""

import hashlib

INTEGERS = ("int", "uint", "bool")


def arguments(function) -> list[dict]:
    """{"name", "dtype", "shape"} of each argument in order; the shape of a scalar is None, a size
    known at run time only is a text."""
    found = []
    for parameter in function.params:
        buffer = function.buffer_map.get(parameter) if parameter in function.buffer_map else None
        if buffer is None:
            found.append({"name": str(parameter.name), "dtype": str(parameter.dtype), "shape": None})
        else:
            shape = [size(extent) for extent in buffer.shape]
            found.append({"name": str(buffer.name), "dtype": str(buffer.dtype), "shape": shape})
    return found


def size(extent) -> int | str:
    try:
        return int(extent)
    except (TypeError, ValueError):
        return str(extent)


def is_integer(dtype: str) -> bool:
    return dtype.startswith(INTEGERS)


def text_hash(function) -> str:
    """SHA-256 of its TIR, first 16 digits."""
    return hashlib.sha256(function.script().encode()).hexdigest()[:16]


def place(function) -> tuple[str, int] | None:
    """File and line where it was written; None where TileLang does not tell."""
    from tilelang import ir

    found = ir.span_to_location(ir.get_prim_func_span(function))
    return (str(found[0]), int(found[1])) if found else None


def accesses(function) -> dict[str, set[str]]:
    """For each buffer of the program by name, "r" and "w" as it is read and written.

    `T.copy` and its like name their operands by regions, whose second value is 1 to read, 2 to
    write and 3 for both; an atomic or an external call that takes the address of an element may do
    both.
    """
    from tilelang import tvm

    tirx, post_order_visit = tvm.tirx, tvm.tirx.stmt_functor.post_order_visit
    found: dict[str, set[str]] = {}

    def note(buffer, how: str) -> None:
        found.setdefault(str(buffer.name), set()).update(how)

    within: set[int] = set()

    def region(call) -> None:
        load, mask = call.args[0], size(call.args[1])
        note(load.buffer, {1: "r", 2: "w", 3: "rw"}.get(mask, "rw"))
        within.add(hash(load))

    def visit(node) -> None:
        if isinstance(node, tirx.BufferStore):
            note(node.buffer, "w")
        elif isinstance(node, tirx.Call):
            name = str(getattr(node.op, "name", ""))
            if name.endswith("region") and len(node.args) > 1 and hasattr(node.args[0], "buffer"):
                region(node)
            elif "atomic" in name or "address_of" in name or "access_ptr" in name:
                for argument in node.args:
                    if hasattr(argument, "buffer"):
                        note(argument.buffer, "rw")
                    elif hasattr(argument, "name"):
                        note(argument, "rw")

    post_order_visit(function.body, visit)

    def loads(node) -> None:
        if isinstance(node, tirx.BufferLoad) and hash(node) not in within:
            note(node.buffer, "r")

    post_order_visit(function.body, loads)
    return found


def roles(function, out_idx: list[int]) -> list[str]:
    """`in`, `out` or `in place` for each argument."""
    seen = accesses(function)
    found = []
    for index, argument in enumerate(arguments(function)):
        how = seen.get(argument["name"], set())
        if index in out_idx:
            found.append("out")
        elif "w" not in how:
            found.append("in")
        else:
            found.append("in place" if "r" in how else "out")
    return found
