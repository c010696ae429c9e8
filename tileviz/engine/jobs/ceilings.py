"""Measuring a device's ceilings once: the job, what of it is stored, and how it is found again."""

from dataclasses import dataclass, replace

from tileviz.bench import ceilings
from tileviz.engine import client
from tileviz.engine.jobs.on_device import LaneTask, OnDevice
from tileviz.engine.processes.device_lock import device_lock
from tileviz.engine.processes.reports import Report, quiet
from tileviz.errors import StoreError
from tileviz.records import Device
from tileviz.records_json import to_json
from tileviz.store import Store

KIND = "ceilings"

FACT = "ceilings"
"""Name among the facts of a device."""

TIMEOUT_S = 120.0


@dataclass(frozen=True)
class CeilingsJob:
    """Copy bandwidth and dense matrix rates of a device; runs in its measure lane for a few
    seconds. The result is the device with them among its facts, for `Store.save_device`."""

    device: Device

    def __call__(self, report: Report = quiet) -> Device:
        with device_lock(self.device.id, report):
            report("phase", "ceilings")
            found = ceilings.measure(self.device.id, fingerprint=self.device.fingerprint)
        return replace(self.device, facts={**self.device.facts, FACT: to_json(found)})


class CeilingsTask(LaneTask[OnDevice]):
    """Leaves the device with its ceilings in the store."""

    what = "measuring the ceilings"

    def asked(self) -> OnDevice:
        return OnDevice(self.doc["device"], TIMEOUT_S)

    def lane_job(self) -> CeilingsJob:
        known = {d.id: d for d in (*self.engine.devices, *self.store.devices())}
        return CeilingsJob(known[self.request.device])

    def keep(self, device: Device, /) -> None:
        self.store.save_device(device)


def submit(store: Store, device: str) -> str:
    """Queues measuring a device's ceilings and gives the job's id."""
    return client.queue(store, KIND, {"device": device})


def with_stored_ceilings(device: Device, stored: list[Device]) -> Device:
    """The device with the ceilings that were measured before, where its fingerprint is the same: a
    new driver wants new ones."""
    before = next((d.facts.get(FACT) for d in stored if d.id == device.id), None)
    if (
        FACT in device.facts
        or not isinstance(before, dict)
        or before.get("fingerprint") != to_json(device.fingerprint)
    ):
        return device
    return replace(device, facts={**device.facts, FACT: before})


def stored_ceilings(device_id: str, store: Store | None = None) -> ceilings.Ceilings | None:
    """The ceilings of a device from the store; None while they were never measured, or when the
    store cannot be read: a trial is worth more than its second ceiling."""
    try:
        found = next((d for d in (store or Store()).devices() if d.id == device_id), None)
    except StoreError:
        return None
    return ceilings.ceilings_from_json(found.facts.get(FACT)) if found else None
