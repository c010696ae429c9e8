"""What this machine's devices are: names, limits, clocks, versions. Imports no torch, except in `torch_facts`."""

import importlib.metadata
import os
import platform
from typing import Any

from tileviz.records import Device

from . import nvml

PACKAGES = ("torch", "tilelang")


def local_devices() -> list[Device]:
    """The GPUs that CUDA sees, then the CPU, which is always there. No CUDA context is made."""
    gpus = [_gpu(index, handle) for index, handle in enumerate(nvml.visible_handles())]
    return [*gpus, cpu_device()]


def cpu_device() -> Device:
    """This machine's processor as a device. Facts: cores that this process may use, memory_bytes."""
    name = cpu_name()
    facts = {"cores": len(os.sched_getaffinity(0)), "memory_bytes": _memory_bytes()}
    return Device("cpu", name, "cpu", _known(facts), {"device": name, **package_versions()})


def target_of(major: int, minor: int) -> str:
    """The target of a compute capability: (8, 6) is sm_86; from 9.0 on the name ends in `a`, the features of that architecture."""
    return f"sm_{major}{minor}" + ("a" if major >= 9 else "")


def fingerprint(device_id: str) -> dict[str, Any]:
    """The fingerprint of a device of this machine by its id; that of the packages alone when it is not there any more."""
    found = next((d.fingerprint for d in local_devices() if d.id == device_id), None)
    return found if found is not None else package_versions()


def torch_facts(device_id: str | int) -> dict[str, Any]:
    """Facts that PyTorch knows of a CUDA device (`cuda:0`); none of the CPU. Makes a CUDA context: for the measure child only."""
    if device_id == "cpu":
        return {}
    import torch

    properties = torch.cuda.get_device_properties(device_id)
    facts = {
        "sm_count": properties.multi_processor_count,
        "l2_bytes": getattr(properties, "L2_cache_size", None),
        "shared_per_block_bytes": getattr(properties, "shared_memory_per_block_optin", None),
        "shared_per_sm_bytes": getattr(properties, "shared_memory_per_multiprocessor", None),
        "registers_per_sm": getattr(properties, "regs_per_multiprocessor", None),
        "threads_per_sm": getattr(properties, "max_threads_per_multi_processor", None),
        "uuid": str(getattr(properties, "uuid", "") or "") or None,
    }
    return _known(facts)


def package_versions() -> dict[str, str]:
    """Versions of torch and TileLang, from the installed packages' metadata."""
    return _known({name: _version(name) for name in PACKAGES})


def cpu_name() -> str:
    """The processor's name from /proc/cpuinfo, else what Python knows."""
    try:
        with open("/proc/cpuinfo") as lines:
            names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def _gpu(index: int, handle) -> Device:
    name = nvml.read("nvmlDeviceGetName", handle) or "GPU"
    capability = nvml.read("nvmlDeviceGetCudaComputeCapability", handle)
    memory = nvml.read("nvmlDeviceGetMemoryInfo", handle)
    cap = nvml.read("nvmlDeviceGetEnforcedPowerLimit", handle)
    cuda = nvml.read("nvmlSystemGetCudaDriverVersion_v2")
    facts = {
        "compute_capability": None if capability is None else f"{capability[0]}.{capability[1]}",
        "memory_bytes": None if memory is None else memory.total,
        "sm_clock_max_mhz": nvml.read("nvmlDeviceGetMaxClockInfo", handle, nvml.constant("NVML_CLOCK_SM")),
        "memory_clock_max_mhz": nvml.read("nvmlDeviceGetMaxClockInfo", handle, nvml.constant("NVML_CLOCK_MEM")),
        "power_cap_w": None if cap is None else cap / 1000,
        "cuda_driver_version": cuda,
        "uuid": nvml.read("nvmlDeviceGetUUID", handle),
    }
    fingerprint = {
        "device": name,
        "driver": nvml.read("nvmlSystemGetDriverVersion"),
        "cuda": None if cuda is None else _cuda(cuda),
        "power_cap_w": facts["power_cap_w"],
        **package_versions(),
    }
    target = target_of(*capability) if capability else ""
    return Device(f"cuda:{index}", name, target, _known(facts), _known(fingerprint))


def _cuda(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def _known(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
