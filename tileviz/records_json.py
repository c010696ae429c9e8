"""Records as the JSON documents that the command line prints and the store keeps, and back.

What an older or a newer version wrote is read too: a field that is not known here is left out, one that is missing gets its default.
"""

import dataclasses
import math
from typing import TYPE_CHECKING, Any

from tileviz.measured import BaselineResult, Comparison, Determinism, ErrorMap, Roofline, Timing, Verdict
from tileviz.records import Artifact, Device, Resources, SharedBytes, Trial, TunedConfig

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def to_json(record) -> Any:
    """The JSON value of a record: fields by name, tuples as lists, NaN and infinity as None; a Timing gains its median,
    p10, p90 and n, a Verdict on several outputs their names; bytes are left out."""
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        out = {
            f.name: to_json(getattr(record, f.name)) for f in dataclasses.fields(record) if not isinstance(getattr(record, f.name), bytes)
        }
        if isinstance(record, Verdict) and not record.output:
            del out["output"], out["others"]  # of a kernel with one output
        if isinstance(record, Timing):
            out = {
                "median_us": to_json(record.median_us),
                "p10_us": to_json(record.p10_us),
                "p90_us": to_json(record.p90_us),
                "n": record.n,
                **out,
            }
        return out
    if isinstance(record, dict):
        return {str(k): to_json(v) for k, v in record.items()}
    if isinstance(record, (list, tuple, set, frozenset)):
        return [to_json(v) for v in record]
    if isinstance(record, float) and not math.isfinite(record):
        return None
    return record


def resources_from_json(doc: dict[str, Any]) -> Resources:
    """The Resources that `to_json` wrote."""
    values = known_fields(Resources, doc)
    values["shared_bytes"] = SharedBytes(**known_fields(SharedBytes, doc.get("shared_bytes") or {}))
    if values.get("grid"):
        values["grid"] = tuple(values["grid"])
    return Resources(**values)


def trial_from_json(doc: dict[str, Any]) -> Trial:
    """The Trial that `to_json` wrote; fields that a newer or older version has and this one lacks are left out."""
    values = known_fields(Trial, doc)
    values["resources"] = resources_from_json(doc.get("resources") or {})
    values["verdict"] = _verdict(doc.get("verdict"))
    values["timing"] = _timing(doc.get("timing"))
    values["roofline"] = Roofline(**known_fields(Roofline, doc["roofline"])) if doc.get("roofline") else None
    values["baselines"] = tuple(_baseline(b) for b in doc.get("baselines") or ())
    return Trial(**values)


def device_from_json(doc: dict[str, Any]) -> Device:
    """The Device that `to_json` wrote."""
    return Device(**known_fields(Device, doc))


def artifact_from_json(doc: dict[str, Any], **texts) -> Artifact:
    """The Artifact that `to_json` wrote, with its texts and line maps, which the store keeps as files."""
    values = known_fields(Artifact, doc)
    values["resources"] = resources_from_json(doc.get("resources") or {})
    values["tensors"] = tuple(doc.get("tensors") or ())
    return Artifact(**{**values, **texts})


def tuned_from_json(doc: dict[str, Any]) -> TunedConfig:
    """The TunedConfig that `to_json` wrote."""
    values = known_fields(TunedConfig, doc)
    values["comparison"] = _comparison(doc.get("comparison"))
    return TunedConfig(**values)


def known_fields(cls: "type[DataclassInstance]", doc: dict[str, Any]) -> dict[str, Any]:
    """What a document has of a dataclass's fields: a later version may have written more."""
    names = {f.name for f in dataclasses.fields(cls)}
    return {k: v for k, v in doc.items() if k in names}


def _verdict(doc) -> Verdict | None:
    if not doc:
        return None
    values = known_fields(Verdict, doc)
    if values.get("worst_index") is not None:
        values["worst_index"] = tuple(values["worst_index"])
    for name in ("rel_error", "max_abs_error", "wrong_fraction"):
        if values.get(name) is None:
            values[name] = math.nan
    values["errors"] = _error_map(values.get("errors"))
    values["determinism"] = Determinism(**known_fields(Determinism, values["determinism"])) if values.get("determinism") else None
    values["others"] = tuple(found for found in map(_verdict, values.get("others") or ()) if found)
    return Verdict(**values)


def _error_map(doc) -> ErrorMap | None:
    if not doc:
        return None
    values = known_fields(ErrorMap, doc)
    worst = tuple(tuple(math.inf if v is None else v for v in row) for row in values["worst"])
    wrong = tuple(tuple(row) for row in values.get("wrong") or ())
    return ErrorMap(tuple(values["shape"]), tuple(values["block"]), worst, wrong)


def _timing(doc) -> Timing | None:
    if not doc:
        return None
    values = known_fields(Timing, doc)
    values["samples_us"] = tuple(values.get("samples_us") or ())
    values["throttle_reasons"] = tuple(values.get("throttle_reasons") or ())
    values["earlier_us"] = tuple(values.get("earlier_us") or ())
    values["sm_clocks_mhz"] = tuple(values.get("sm_clocks_mhz") or ())
    values["clock_limits"] = tuple(tuple(limit) for limit in values.get("clock_limits") or ())
    return Timing(**values)


def _baseline(doc) -> BaselineResult:
    values = known_fields(BaselineResult, doc)
    values["verdict"] = _verdict(doc.get("verdict"))
    values["timing"] = _timing(doc.get("timing"))
    values["comparison"] = _comparison(doc.get("comparison"))
    return BaselineResult(**values)


def _comparison(doc) -> Comparison | None:
    return Comparison(**known_fields(Comparison, doc)) if doc else None
