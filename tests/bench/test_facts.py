"""Facts of devices and clocks: the CPU for real, GPUs through a made-up NVML."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from tileviz.bench import clocks, facts, nvml
from tileviz.bench.clocks import ClockWatch


class MadeUpNvml:
    """Two cards, the second of which reports little."""

    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0

    class NVMLError(Exception):
        pass

    reasons = 0x4
    capabilities: tuple = ((9, 0), (8, 6))

    def nvmlDeviceGetCount(self):
        return 2

    def nvmlDeviceGetHandleByIndex(self, index):
        return index

    def nvmlDeviceGetUUID(self, handle):
        return f"GPU-{'ab'[handle]}111"

    def nvmlDeviceGetHandleByUUID(self, uuid):
        if uuid not in ("GPU-a111", "GPU-b111"):
            raise self.NVMLError("not found")
        return "ab".index(uuid[4])

    def nvmlDeviceGetName(self, handle):
        return b"NVIDIA H200" if handle == 0 else "NVIDIA GeForce RTX 3090"

    def nvmlDeviceGetCudaComputeCapability(self, handle):
        if self.capabilities[handle] is None:
            raise self.NVMLError("not supported")
        return self.capabilities[handle]

    def nvmlDeviceGetMemoryInfo(self, handle):
        return SimpleNamespace(total=143771 << 20)

    def nvmlDeviceGetMaxClockInfo(self, handle, kind):
        if handle == 1:
            raise self.NVMLError("not supported")
        return {1: 1980, 2: 3201}[kind]

    def nvmlDeviceGetClockInfo(self, handle, kind):
        return {1: 1755, 2: 3201}[kind]

    def nvmlDeviceGetEnforcedPowerLimit(self, handle):
        return 700_000

    def nvmlDeviceGetPowerUsage(self, handle):
        return 650_500

    def nvmlDeviceGetTemperature(self, handle, sensor):
        return 61

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle):
        return self.reasons

    def nvmlSystemGetCudaDriverVersion_v2(self):
        return 13000

    def nvmlSystemGetDriverVersion(self):
        return "580.159.03"


@pytest.fixture
def cards(monkeypatch):
    made_up = MadeUpNvml()
    monkeypatch.setattr(nvml, "library", lambda: made_up)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return made_up


@pytest.fixture
def no_nvml(monkeypatch):
    monkeypatch.setattr(nvml, "library", lambda: None)


def test_without_a_gpu_the_cpu_is_the_device(no_nvml):
    (device,) = facts.local_devices()
    assert device.id == device.target == "cpu" and device.name
    assert device.facts["cores"] >= 1 and device.facts["memory_bytes"] > 1 << 28
    assert device.fingerprint["device"] == device.name and device.fingerprint["torch"] and device.fingerprint["tilelang"]
    assert facts.fingerprint("cpu") == device.fingerprint and facts.torch_facts("cpu") == {}
    assert "device" not in facts.fingerprint("cuda:7")


def test_facts_come_without_torch():
    code = "import sys; from tileviz.bench import facts; assert facts.local_devices()[-1].id == 'cpu'; assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_gpus_come_first_with_what_their_driver_says(cards):
    first, second, cpu = facts.local_devices()
    assert (first.id, first.name, first.target) == ("cuda:0", "NVIDIA H200", "sm_90a")
    assert first.facts["compute_capability"] == "9.0" and first.facts["power_cap_w"] == 700 and first.facts["sm_clock_max_mhz"] == 1980
    assert first.fingerprint["driver"] == "580.159.03" and first.fingerprint["cuda"] == "13.0" and first.facts["uuid"] == "GPU-a111"
    assert second.target == "sm_86" and "sm_clock_max_mhz" not in second.facts and cpu.id == "cpu"


@pytest.mark.parametrize(
    ("visible", "names"),
    [("1", ["RTX 3090"]), ("1,0", ["RTX 3090", "H200"]), ("GPU-b1", ["RTX 3090"]), ("0,7,1", ["H200"]), ("", []), ("-1", [])],
)
def test_cuda_visible_devices_chooses_and_orders(cards, monkeypatch, visible, names):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    devices = facts.local_devices()[:-1]
    assert [d.name.split("GeForce ")[-1].removeprefix("NVIDIA ") for d in devices] == names
    assert [d.id for d in devices] == [f"cuda:{i}" for i in range(len(names))]


@pytest.mark.parametrize(
    ("capability", "name"), [((7, 5), "sm_75"), ((8, 9), "sm_89"), ((9, 0), "sm_90a"), ((10, 3), "sm_103a"), ((12, 0), "sm_120a")]
)
def test_targets_are_named_from_the_capability(capability, name):
    assert facts.target_of(*capability) == name


def test_torch_devices_are_found_by_uuid_and_not_by_index(cards, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: SimpleNamespace(uuid="b111"))
    assert nvml.handle_of_torch("cuda:0") == 1


def test_clocks_are_read_before_during_and_after(cards):
    import time

    with ClockWatch("cuda:0", period_s=0.005, handle=0) as watch:
        time.sleep(0.05)
    seen = watch.seen()
    assert len(watch.readings) >= 4
    assert seen["sm_clock_mhz"] == 1755 and seen["memory_clock_mhz"] == 3201 and seen["power_w"] == 650.5 and seen["temperature_c"] == 61


@pytest.mark.parametrize(
    ("mask", "throttled", "names"),
    [(0x4, False, ("power cap",)), (0x1, False, ()), (0x44, True, ("power cap", "thermal slowdown by hardware"))],
)
def test_a_power_cap_is_recorded_and_only_a_slowdown_flags(cards, mask, throttled, names):
    cards.reasons = mask
    with ClockWatch(handle=0) as watch:
        assert watch.readings
    assert watch.seen()["throttled"] is throttled and watch.seen()["throttle_reasons"] == names


def test_without_nvml_every_reading_is_none(no_nvml):
    with ClockWatch("cuda:0") as watch:
        assert watch.readings == []
    assert watch.seen() == {
        "sm_clock_mhz": None, "memory_clock_mhz": None, "power_w": None, "temperature_c": None, "throttled": None, "throttle_reasons": (),
        "sm_clocks_mhz": (), "clock_limits": (),
    }  # fmt: skip


def test_the_watch_can_be_used_again(cards):
    watch = ClockWatch(handle=0)
    for _ in range(2):
        with watch:
            assert len(watch.readings) == 1
    assert clocks.look(0).reasons == 0x4


@pytest.mark.gpu
def test_this_machines_gpu_is_seen_alike_by_nvml_and_torch():
    import torch

    device = facts.local_devices()[0]
    assert device.id == "cuda:0" and device.name == torch.cuda.get_device_name(0)
    known = facts.torch_facts("cuda:0")
    assert known["sm_count"] > 1 and known["shared_per_block_bytes"] > 48_000 and known["uuid"] in device.facts["uuid"]
    with ClockWatch("cuda:0") as watch:
        torch.randn(1 << 20, device="cuda").sum().item()
    assert watch.seen()["sm_clock_mhz"] > 100
