"""Measures what this device really gives, prints it beside the datasheet, and keeps it in the store
for the roofline.

python -m benchmarks.ceilings [--device ID]
"""

import argparse
import sys

from tileviz.bench import ceilings, peaks
from tileviz.cli.terminal import printed
from tileviz.engine.jobs.ceilings import FACT, CeilingsJob
from tileviz.engine.requests import local_devices
from tileviz.errors import TilevizError
from tileviz.formats import significant
from tileviz.records import Device
from tileviz.store import Store


def table(device: Device, found: ceilings.Ceilings) -> str:
    """Measured and datasheet, a line each."""
    sheet = peaks.peaks_of(device.name)
    lines = [
        f"{device.id}: {device.name} ({found.timer})",
        f"{'':<16} {'measured':>10} {'datasheet':>10}",
    ]
    tbps = significant(sheet.tbps) if sheet else "-"
    lines.append(f"{'copy, TB/s':<16} {significant(found.copy_tbps):>10} {tbps:>10}")
    for mode, rate in found.tflops.items():
        peak = sheet.tflops.get(mode) if sheet else None
        lines.append(
            f"{f'{mode}, TFLOPS':<16} {significant(rate):>10}"
            f" {significant(peak) if peak else '-':>10}   {found.sizes[mode]}^3"
        )
    return "\n".join(lines)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ceilings",
        description="Copy bandwidth and matrix rates of this device.",
    )
    parser.add_argument(
        "--device", metavar="ID", help="cpu, cuda:0, ... (default: the first GPU, else the CPU)"
    )
    asked = parser.parse_args(words)
    try:
        device = _device(asked.device, Store())
        measured = CeilingsJob(device)()
        Store().save_device(measured)
    except TilevizError as error:
        print(f"benchmarks.ceilings: {error.message}", file=sys.stderr)
        return 1
    found = ceilings.ceilings_from_json(measured.facts[FACT])
    print(
        table(measured, found)
        if found is not None
        else f"{measured.name} has no ceilings that can be read"
    )
    return 0 if found is not None else 1


def _device(name: str | None, store: Store) -> Device:
    """The device, with the facts that an engine learned of it before."""
    devices = local_devices()
    found = devices[0] if name is None else next((d for d in devices if d.id == name), None)
    if found is None:
        raise TilevizError(f"no device '{name}' here; there is {', '.join(d.id for d in devices)}")
    return next(
        (d for d in store.devices() if d.id == found.id and d.fingerprint == found.fingerprint),
        found,
    )


if __name__ == "__main__":
    sys.exit(printed(main))
