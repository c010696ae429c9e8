"""Makes the records of a file from what its children told: of each factory what was recorded wins,
call sites fill the rest."""

from typing import Any

import msgspec

from tileviz.kernels.opened import texts, values
from tileviz.kernels.opened.found import Code, Field, FoundKernel, Knob, Part, Reference, Tensor

RECORDED, READ = "record", "read"
"""Names of the parts: the script that was run, the call sites that were read."""

REFERENCES = ("profiler", "comparison", "autotune", "derived")
"""Best first."""


def settled(told: list[dict]) -> set[str]:
    """Titles of factories of which nothing is left to be read."""
    return {event["title"] for event in told if event["event"] == "kernel" and (event["form"] != "bare" or event["arguments"])}


def kernels(told: list[dict], factories: list[texts.Factory], file: str) -> tuple[FoundKernel, ...]:
    """One for each factory, in the order of files and lines; a factory without a value has
    `missing` names."""
    by_factory: dict[tuple, list[dict]] = {}
    for entry in (event for event in told if event["event"] == "kernel"):
        by_factory.setdefault((entry["file"], entry["title"], entry["line"]), []).append(entry)
    found = [_kernel(_best(entries, told), told) for entries in by_factory.values()]
    known = {(kernel.file, kernel.title) for kernel in found}
    why = {event["title"]: event["why"] for event in told if event["event"] == "unresolved"}
    found += [_unknown(factory, file, why) for factory in factories if (file, factory.title) not in known]
    found.sort(key=lambda kernel: (kernel.file != file, kernel.file, kernel.line))
    return tuple(_named(found))


def _best(entries: list[dict], told: list[dict]) -> dict:
    """The first that was called, of those that the script itself made; else the first. A bare
    program has no arguments of its own: a call site that makes the same tells them."""
    called = {event["id"] for event in told if event["event"] == "call"}
    best = min(entries, key=lambda entry: (entry["part"] != RECORDED, entry["id"] not in called))
    same = (entry for entry in entries if entry["tir"] == best["tir"] and entry["arguments"])
    return best if best["arguments"] else {**best, "arguments": next(same, best)["arguments"]}


def _kernel(entry: dict, told: list[dict]) -> FoundKernel:
    about = [event for event in told if event.get("id") == entry["id"]]
    kinds = _kinds(entry, told)
    call = next((event for event in about if event["event"] == "call"), None)
    domains = (entry.get("autotune") or {}).get("domains", {})
    fields, knobs, dtypes = _parted(entry["arguments"], kinds, domains)
    return FoundKernel(
        name="",
        title=entry["title"],
        file=entry["file"],
        line=entry["line"],
        form=entry["form"],
        how="recorded" if entry["part"] == RECORDED else "read",
        fields=fields,
        knobs=knobs,
        dtypes=dtypes,
        tensors=tuple(_tensors(entry["tensors"], call)),
        called=call["how"] if call and entry["part"] == RECORDED else "",
        out_idx=tuple(entry["out_idx"]),
        reference=_reference(entry, about),
        configs=(entry.get("autotune") or {}).get("configs", 0),
        pass_configs=entry["pass_configs"],
        compile_flags=tuple(entry["compile_flags"]),
        target=entry["target"],
        tir=entry["tir"],
        missing=_unkept(entry["arguments"]),
        why="a value of these is no plain one" if _unkept(entry["arguments"]) else "",
        code=tuple(msgspec.convert(event["code"], Code) for event in _code(entry, told)),
    )


def _unkept(arguments: dict[str, Any]) -> tuple[str, ...]:
    return tuple(name for name, value in arguments.items() if not values.is_kept(value))


def _of_factory(entry: dict, told: list[dict]) -> set[str]:
    """Ids of all programs of an entry's factory: the first of them was held."""
    place = (entry["file"], entry["title"], entry["line"])
    programs = (event for event in told if event["event"] == "kernel")
    return {event["id"] for event in programs if (event["file"], event["title"], event["line"]) == place}


def _kinds(entry: dict, told: list[dict]) -> dict[str, Part]:
    same = _of_factory(entry, told)
    return next((event["kinds"] for event in told if event["event"] == "parted" and event["id"] in same), {})


def _code(entry: dict, told: list[dict]) -> list[dict]:
    same = _of_factory(entry, told)
    held = next((event["id"] for event in told if event["event"] == "code" and event["id"] in same), None)
    return [event for event in told if event["event"] == "code" and event["id"] == held]


def _parted(arguments: dict[str, Any], kinds: dict[str, Part], domains: dict[str, list]) -> tuple[tuple, tuple, dict[str, str]]:
    fields, knobs, dtypes = [], [], {}
    for name, value in arguments.items():
        kind = "knob" if name in domains else kinds.get(name, "fixed")  # of a factory that could not be asked
        if kind == "knob":
            knobs.append(Knob(name=name, value=value, domain=tuple(domains.get(name, ()))))
        elif kind == "dtype" or values.dtype_of(value) == "dtype":
            dtypes[name] = values.words(value)
        else:
            fields.append(Field(name=name, value=value, dtype=values.dtype_of(value), kind=kind))
    return tuple(fields), tuple(knobs), dtypes


def _tensors(tensors: list[dict], call: dict | None):
    handed = {tensor["name"]: tensor for tensor in (call or {}).get("tensors", ())}
    for tensor in tensors:
        seen = handed.get(tensor["name"], {})
        yield Tensor(
            name=tensor["name"],
            shape=None if tensor["shape"] is None else tuple(tensor["shape"]),
            dtype=tensor["dtype"],
            role=tensor["role"],
            integer=tensor["integer"],
            called_with=tuple(seen["shape"]) if "shape" in seen else None,
            strides=tuple(seen["strides"]) if "strides" in seen else None,
            least=seen.get("least"),
            most=seen.get("most"),
        )


def _reference(entry: dict, about: list[dict]) -> Reference | None:
    checks = [event for event in about if event["event"] == "check"]
    tuned = (entry.get("autotune") or {}).get("reference")
    if tuned:
        checks.append({"how": "autotune", "line": None, **tuned})
    if not checks:
        return None
    best = min(checks, key=lambda check: REFERENCES.index(check["how"]))
    return Reference(
        how=best["how"],
        name=best["name"],
        line=best.get("line"),
        rtol=_number(best.get("rtol")),
        atol=_number(best.get("atol")),
    )


def _number(value) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _unknown(factory: texts.Factory, file: str, why: dict[str, str]) -> FoundKernel:
    return FoundKernel(
        name="",
        title=factory.title,
        file=file,
        line=factory.line,
        form=factory.form,
        missing=factory.parameters or ("its sizes",),
        why=why.get(factory.title, "its script makes no kernel of it, and no call in the text tells them"),
    )


def _named(found: list[FoundKernel]) -> list[FoundKernel]:
    """Short names where they are unique, whole ones else."""
    short = [kernel.title.rpartition(".")[2] for kernel in found]
    whole = [kernel.title.replace(".<locals>", "") for kernel in found]
    names: list[str] = []
    for one, other, kernel in zip(short, whole, found, strict=True):
        name = one if short.count(one) == 1 else other
        names.append(name if name not in names else f"{name}:{kernel.line}")
    return [msgspec.structs.replace(kernel, name=name) for kernel, name in zip(found, names, strict=True)]
