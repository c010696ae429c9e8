"""NVML without surprises: opened once, every reading None where the driver does not give it."""

import functools
import os
from typing import Any


@functools.cache
def library():
    """The pynvml module, initialised, or None without the package, a driver or a device."""
    try:
        import pynvml

        pynvml.nvmlInit()
    except Exception:  # NVMLError, or a broken installation: either way there is no NVML
        return None
    return pynvml


def read(function: str, *arguments) -> Any:
    """pynvml.<function>(*arguments), bytes as text; None where it is missing, not supported or not permitted."""
    nvml = library()
    call = getattr(nvml, function, None)
    if call is None:
        return None
    try:
        value = call(*arguments)
    except (nvml.NVMLError, OSError, TypeError, ValueError):
        return None
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def constant(*names: str) -> int | None:
    """The first of these constants that this pynvml has."""
    return next((getattr(library(), name) for name in names if hasattr(library(), name)), None)


def visible_handles() -> list[Any]:
    """NVML handles of the devices that CUDA sees, in CUDA's order when CUDA_DEVICE_ORDER=PCI_BUS_ID.

    CUDA_VISIBLE_DEVICES holds indices or the beginnings of UUIDs, and ends at the first that is not there, as CUDA reads it. A MIG
    instance is named by its own UUID.
    """
    count = read("nvmlDeviceGetCount") or 0
    handles = [h for h in (read("nvmlDeviceGetHandleByIndex", i) for i in range(count)) if h is not None]
    wanted = os.environ.get("CUDA_VISIBLE_DEVICES")
    if wanted is None:
        return handles
    out: list[Any] = []
    for word in (w.strip() for w in wanted.split(",")):
        handle = _handle_of(word, handles)
        if handle is None:
            break
        out.append(handle)
    return out


def handle_of_torch(device_id: str | int) -> Any:
    """The handle of torch's device `cuda:N` (or N): by UUID, else by PCI bus, never by the bare index, which CUDA may count otherwise."""
    import torch

    if library() is None or not torch.cuda.is_available():
        return None
    properties = torch.cuda.get_device_properties(device_id)
    uuid = getattr(properties, "uuid", None)
    handle = read("nvmlDeviceGetHandleByUUID", f"GPU-{uuid}") if uuid else None
    if handle is None and hasattr(properties, "pci_bus_id"):
        bus = f"{properties.pci_domain_id:08x}:{properties.pci_bus_id:02x}:{properties.pci_device_id:02x}.0"
        handle = read("nvmlDeviceGetHandleByPciBusId", bus)
    return handle


def _handle_of(word: str, handles: list[Any]) -> Any:
    if word.isdigit():
        return handles[int(word)] if int(word) < len(handles) else None
    if word.startswith("MIG-"):
        return read("nvmlDeviceGetHandleByUUID", word)
    return next((h for h in handles if word.startswith("GPU-") and (read("nvmlDeviceGetUUID", h) or "").startswith(word)), None)
