"""Parts the arguments of a factory into sizes, dtypes, knobs and options: moves one, builds the
TIR, and looks what changed."""

from typing import Any

from tileviz.kernels.opened import tir, values
from tileviz.kernels.opened.found import Part
from tileviz.kernels.opened.recorder import Call, bound, constants, is_tensor


def parted(function, call: Call) -> dict[str, Part]:
    """`size`, `dtype`, `knob`, `option` or `fixed` for each argument that is no tensor. What the
    autotune list names is a knob."""
    sizes = constants(call.impl, function)
    arguments = {**sizes, **bound(call)}
    before = tir.arguments(function)
    tuned = (call.tune or {}).get("domains", {})
    annotated = set(getattr(call.impl.func, "tensor_args", {}))
    found: dict[str, Part] = {}
    for name, value in arguments.items():
        if is_tensor(value) or name in annotated:
            continue
        if name in tuned:
            found[name] = "knob"
        elif name in sizes or (call.impl.mode == "eager" and name not in call.impl.signature.parameters):
            found[name] = "size"
        else:
            found[name] = _kind(call, arguments, name, before)
    return found


def _kind(call: Call, arguments: dict[str, Any], name: str, before: list[dict]) -> Part:
    value = arguments[name]
    trials = others(value)
    if not trials:
        return "fixed"
    for other in trials:
        try:
            after = tir.arguments(call.impl.get_tir(**{**arguments, name: other}))
        except Exception:  # whatever a stranger's factory raises for a value that it refuses
            continue
        return _difference(before, after, value)
    return "fixed"


def _difference(before: list[dict], after: list[dict], value) -> Part:
    if [tensor["shape"] for tensor in before] != [tensor["shape"] for tensor in after]:
        return "size" if not isinstance(value, bool) else "option"
    if [tensor["dtype"] for tensor in before] != [tensor["dtype"] for tensor in after]:
        return "dtype"
    return "option" if isinstance(value, (bool, float)) or not isinstance(value, int) else "knob"


def others(value) -> list:
    """Other values to try in an argument's place; none for what cannot be moved."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value * 2, value // 2, value + 1]
    if isinstance(value, float):
        return [value * 2]
    if isinstance(value, str) or values.dtype_of(values.stored(value)) == "dtype":
        return [
            "bfloat16" if "16" in str(value) and "bf" not in str(value) else "float16",
            "float32",
        ]
    return []
