"""`python -m tileviz kernels`: what can be asked for."""

import json

from tileviz import kernels as registry
from tileviz.compiler import targets
from tileviz.engine import requests
from tileviz.kernels.asked import AskedKernel
from tileviz.kernels.card import Choice, Flag, Real, Size
from tileviz.kernels.toolkit.fields import LARGEST_SIZE
from tileviz.records import Target


def kernels(asked) -> int:
    """Lists the kernels, or describes one. Raises UnknownName."""
    chosen = [
        registry.kernel(name) for name in ([asked.kernel] if asked.kernel else registry.names())
    ]
    devices = requests.local_devices()
    target = targets.target(requests.default_device(devices).target)
    if asked.json:
        places = [
            {"id": d.id, "name": d.name, "target": d.target, "unusable": d.unusable}
            for d in devices
        ]
        print(
            json.dumps(
                {
                    "kernels": [kernel_document(kernel, target) for kernel in chosen],
                    "devices": places,
                },
                indent=2,
            )
        )
    else:
        print(
            "\n\n".join(kernel_text(kernel, target) for kernel in chosen)
            + f"\n\nThe defaults are those of {target.name}, the device of this machine."
            + "".join(
                f"\n{d.id}, {d.name}, cannot be used: {d.unusable}." for d in devices if d.unusable
            )
        )
    return 0


def defaults_of(kernel: AskedKernel, target: Target) -> dict:
    """What a run takes where nothing is given: it depends on the target."""
    problem = kernel.problem({}, target.kind)
    return {"target": target.name, "problem": problem, "config": kernel.config({}, target, problem)}


def kernel_document(kernel: AskedKernel, target: Target) -> dict:
    """Everything a form needs, as JSON values."""
    return {
        "defaults": defaults_of(kernel, target),
        "name": kernel.name,
        "title": kernel.title,
        "summary": kernel.summary,
        "problem": [field_document(field) for field in kernel.fields],
        "knobs": [knob_document(knob) for knob in kernel.knobs],
        "presets": [
            {"name": p.name, "problem": p.problem, "config": p.config, "device": p.kind}
            for p in kernel.presets
        ],
        "baselines": [
            {"name": b.name, "title": b.title, "device": b.kind} for b in kernel.baselines
        ],
    }


def field_document(field) -> dict:
    kinds = {Size: "size", Choice: "choice", Flag: "flag", Real: "number"}
    described = {
        "name": field.name,
        "kind": kinds[type(field)],
        "default": field.default,
        "help": field.help,
    }
    if isinstance(field, Size):
        described.update(minimum=field.minimum, maximum=field.maximum)
    if isinstance(field, Choice):
        described["choices"] = list(field.choices)
    return described


def knob_document(knob) -> dict:
    described = {
        "name": knob.name,
        "choices": list(knob.choices),
        "default": knob.default,
        "help": knob.help,
    }
    if not knob.is_flag and not knob.is_word:
        described.update(minimum=knob.minimum, maximum=knob.maximum)
    return described


def kernel_text(kernel: AskedKernel, target: Target) -> str:
    defaults = defaults_of(kernel, target)
    problem, config = defaults["problem"], defaults["config"]
    lines = [f"{kernel.name}: {kernel.summary}", "  problem (-p NAME=VALUE)"]
    lines += [_line(f.name, _takes(f), problem[f.name], f.help) for f in kernel.fields]
    lines += ["  knobs (-k NAME=VALUE)"]
    lines += [
        _line(k.name, " | ".join(map(_word, k.choices)), config[k.name], k.help)
        for k in kernel.knobs
    ]
    return "\n".join(lines)


def _takes(field) -> str:
    if isinstance(field, Choice):
        return " | ".join(map(_word, field.choices))
    if isinstance(field, Flag):
        return "true | false"
    if isinstance(field, Size):
        return f"whole number from {field.minimum:,}" + (
            f" to {field.maximum:,}" if field.maximum < LARGEST_SIZE else ""
        )
    return "number"


def _line(name: str, takes: str, default, help: str) -> str:
    start = "" if default is None else f", default {_word(default)}"
    return f"    {name:<15} {takes}{start}{'; ' + help if help else ''}"


def _word(value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
