"""What there is: kernels, devices, presets, and the results that are stored."""

from tileviz import formats, kernels
from tileviz.api.results import Compiled, Result, of
from tileviz.api.tables import Listing, Row
from tileviz.engine import presets, requests
from tileviz.records import Device, TunedConfig
from tileviz.store import StoreWithRecorded


def list_kernels() -> Listing[str]:
    """The name of every kernel; the table tells its title, the fields of its problem and its knobs."""
    return Listing("kernels", kernels.names(), _kernel_row)


def list_devices() -> Listing[Device]:
    """The GPUs of this machine, then its CPU."""
    return Listing("devices", tuple(requests.local_devices()), _device_row)


def list_presets(kernel: str | None = None) -> Listing[TunedConfig]:
    """The configs that knobs start from where none are given: your own, newest first, then those
    that come with tileviz.

    Raises UnknownName for a kernel that is not there.
    """
    if kernel is not None:
        kernels.kernel(kernel)
    return Listing("presets", presets.known(StoreWithRecorded(), kernel), _preset_row)


def list_results(kernel: str | None = None, limit: int = 20) -> Listing[Result | Compiled]:
    """What was run and compiled on this machine, newest first, sweeps left out. Raises UnknownName
    for a kernel that is not there."""
    if kernel is not None:
        kernels.kernel(kernel)
    store = StoreWithRecorded()
    return Listing(
        "results",
        tuple(of(trial, store) for trial in store.trials(kernel, limit=limit, sweeps=False)),
        _result_row,
    )


def _kernel_row(name: str) -> Row:
    kernel = kernels.kernel(name)
    fields, knobs = (", ".join(each.name for each in found) for found in (kernel.fields, kernel.knobs))
    own = {"name": name, "title": kernel.title, "problem": fields, "knobs": knobs}
    return {**own, "summary": kernel.summary}


def _device_row(device: Device) -> Row:
    return {
        "id": device.id,
        "name": device.name,
        "target": device.target,
        "unusable": device.unusable,
    }


def _preset_row(tuned: TunedConfig) -> Row:
    own = {
        "kernel": tuned.kernel,
        "problem": formats.assignments(tuned.problem),
        "config": formats.assignments(tuned.config),
    }
    measured = {
        "device": tuned.device,
        "latency_us": tuned.median_us,
        "tflops": tuned.tflops,
        "gbps": tuned.gbps,
    }
    return {**own, **measured, "recorded": tuned.recorded}


def _result_row(result: Result | Compiled) -> Row:
    trial = result.trial
    own = {
        "id": trial.trial,
        "kernel": trial.kernel,
        "problem": formats.assignments(trial.problem),
        "target": trial.target,
    }
    timing = result.timing if isinstance(result, Result) else None
    return {
        **own,
        "status": trial.status,
        "latency_us": timing.median_us if timing is not None and timing.n else None,
    }
