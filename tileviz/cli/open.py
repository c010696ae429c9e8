"""`open`: what a file with TileLang kernels holds, found by running its script and reading its call
sites."""

import json
from pathlib import Path

from tileviz import formats
from tileviz.cli.trials import say
from tileviz.compiler import targets
from tileviz.engine.processes import opening
from tileviz.errors import BadRequest
from tileviz.kernels.opened import found as records
from tileviz.kernels.opened import values
from tileviz.kernels.opened.found import Code, Found, FoundKernel, Reference, Tensor

COLUMNS = ("kernel", "line", "sizes", "knobs", "tensors", "check")

WIDEST = (30, 24, 50, 50, 80, 60)
"""Characters of a cell of each column."""


def open(asked) -> int:
    """Opens a file. Raises BadRequest for what is no Python file or holds no kernel, UnknownName
    for a target."""
    tests = None if asked.pytest is None else tuple(asked.pytest)
    chosen = tuple(_cuda(name) for name in asked.compile)
    say(
        f"running {asked.file} in a process of its own, without a GPU "
        "and with its files in a scratch folder"
    )
    request = opening.Request(Path(asked.file), tests, chosen, asked.timeout or opening.SCRIPT_S)
    found = opening.open_file(request)
    print(json.dumps(records.to_json(found), indent=2) if asked.json else found_text(found))
    return 0 if any(is_open(kernel) for kernel in found.kernels) else 2


def is_open(kernel: FoundKernel) -> bool:
    """Whether all its arguments are known."""
    return bool(kernel.how) and not kernel.missing


def found_text(found: Found) -> str:
    """The table, then a sentence for each thing that is missing, was stood in for, or
    went wrong."""
    rows = [COLUMNS, *(_row(kernel, found) for kernel in found.kernels)]
    rows = [[_cut(cell, most) for cell, most in zip(row, WIDEST, strict=True)] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([*lines, *sentences(found)])


def sentences(found: Found) -> list[str]:
    """In plain words, after an empty line; nothing where there is nothing to say."""
    said = [
        f"{kernel.name}: {_missing(kernel)}." for kernel in found.kernels if not is_open(kernel)
    ]
    said += [
        f"{kernel.name}, {code.target}: {code_text(code)}."
        for kernel in found.kernels
        for code in kernel.code
    ]
    said += [
        f"{name} is not installed and was stood in for; what computes with it fails."
        for name in found.stood_in
    ]
    said += [f"{trouble[0].upper()}{trouble[1:]}." for trouble in found.troubles]
    return ["", *said] if said else []


def code_text(code: Code) -> str:
    if code.reason:
        return f"no code, {code.reason}"
    words = [f"{code.cuda_lines:,} lines of CUDA"]
    words += [f"{code.registers} registers a thread"] if code.registers is not None else []
    words += [f"{formats.size_bytes(code.spill_bytes)} spilled"] if code.spill_bytes else []
    return ", ".join(words)


def check_text(reference: Reference | None) -> str:
    """Which check of the file's own, with its tolerance; `none` where there is none."""
    if reference is None:
        return "none"
    tolerance = [
        f"{name} {formats.significant(value)}"
        for name, value in (("rtol", reference.rtol), ("atol", reference.atol))
        if value
    ]
    ways = {
        "profiler": "against",
        "autotune": "against",
        "comparison": "by",
        "derived": "indirectly by",
    }
    return f"{ways[reference.how]} {reference.name}" + (
        f" ({', '.join(tolerance)})" if tolerance else ""
    )


def tensor_text(tensor: Tensor) -> str:
    """`A[1024, 512] float16`, with what it is beside an input."""
    shape = "" if tensor.shape is None else f"[{', '.join(map(str, tensor.shape))}]"
    marks = {"in": "", "out": " out", "in place": " in place"}
    return f"{tensor.name}{shape} {tensor.dtype}{marks[tensor.role]}"


def _row(kernel: FoundKernel, found: Found) -> tuple[str, ...]:
    place = (
        str(kernel.line) if kernel.file == found.file else f"{Path(kernel.file).name}:{kernel.line}"
    )
    if not kernel.how:
        return kernel.name, place, "not known", "", "", ""
    sizes = [f"{field.name}={values.words(field.value)}" for field in kernel.fields]
    sizes += [f"{name}={word}" for name, word in kernel.dtypes.items()]
    knobs = [f"{knob.name}={values.words(knob.value)}" for knob in kernel.knobs]
    knobs += [f"({kernel.configs} configs)"] if kernel.configs else []
    tensors = ", ".join(map(tensor_text, kernel.tensors))
    return (
        kernel.name,
        place,
        " ".join(sizes),
        " ".join(knobs),
        tensors,
        check_text(kernel.reference),
    )


def _missing(kernel: FoundKernel) -> str:
    names = ", ".join(kernel.missing)
    return f"{names} not known{f' ({kernel.why})' if kernel.why else ''}"


def _cut(cell: str, most: int) -> str:
    return cell if len(cell) <= most else f"{cell[: most - 1]}…"


def _cuda(name: str) -> str:
    target = targets.target(name)
    if not target.is_cuda:
        raise BadRequest(f"--compile takes a CUDA target, not '{name}': sm_80, sm_90a, ...")
    return target.name
