"""One card that cannot be used harms neither the others nor the CPU."""

import json

import pytest

from tests.asked import resolve
from tests.bench.test_facts import MadeUpNvml
from tests.conftest import tileviz
from tileviz.bench import nvml
from tileviz.engine import requests, server
from tileviz.errors import BadValue
from tileviz.records import Device
from tileviz.ui.parts import places

STAND_IN = """
class NVMLError(Exception): pass
def nvmlInit(): pass
def nvmlShutdown(): pass
def nvmlDeviceGetCount(): return 2
def nvmlDeviceGetHandleByIndex(index): return index
def nvmlDeviceGetName(handle): return f"Card {handle}"
def nvmlDeviceGetCudaComputeCapability(handle): return [(6, 1), (8, 6)][handle]
def nvmlSystemGetDriverVersion(): return "580.10"
def nvmlSystemGetCudaDriverVersion(): return 13000
"""


@pytest.fixture
def cards(monkeypatch):
    made_up = MadeUpNvml()
    monkeypatch.setattr(nvml, "library", lambda: made_up)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return made_up


@pytest.mark.parametrize(
    ("capability", "reason"),
    [
        ((6, 1), "no code for sm_61"),
        ((5, 2), "no code for sm_52"),
        ((8, 8), "no code for sm_88"),
        ((13, 0), "no code for sm_130"),
        ((7, 0), "no machine code for sm_70"),
        (None, "its compute capability is not told"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_a_card_outside_the_table_is_listed_with_its_reason_and_the_other_works(cards, capability, reason, first):
    cards.capabilities = (capability, (8, 6)) if first else ((8, 6), capability)
    devices = requests.local_devices()
    bad, good = devices[:2] if first else devices[1::-1]
    assert (bad.unusable, good.unusable, devices[2].unusable) == (reason, "", "")
    assert [device.id for device in requests.usable(devices)] == [good.id, "cpu"]
    assert requests.default_device(devices) == good
    assert resolve("vector_add", devices=devices).device == good.id
    assert resolve("vector_add", kind="compile", devices=devices).target == "sm_86"
    with pytest.raises(BadValue, match=f"{bad.id}, .*, cannot be used: {reason}; there is {good.id}, cpu"):
        resolve("vector_add", device=bad.id, devices=devices)
    with pytest.raises(BadValue, match=f"no device 'cuda:7' here; there is {good.id}, cpu"):
        resolve("vector_add", device="cuda:7", devices=devices)


@pytest.mark.parametrize("capability", [(7, 5), (8, 7), (8, 9), (9, 0), (11, 0), (12, 1)])
def test_a_card_of_the_table_is_used(cards, capability):
    cards.capabilities = (capability, (8, 6))
    assert requests.usable(requests.local_devices())[0].id == "cuda:0"


def test_where_no_card_can_be_used_the_cpu_is_the_device(cards):
    cards.capabilities = ((6, 1), None)
    assert requests.default_device(requests.local_devices()).id == "cpu"


def test_an_engine_has_lanes_for_devices_that_can_be_used_alone(scripted_store, monkeypatch):
    old = Device("cuda:1", "GTX 1080", "sm_61", unusable="no code for sm_61")
    engine = server.Engine(scripted_store, [Device("cpu", "CPU", "cpu"), old], 60.0)
    assert list(engine.lanes) == ["cpu"] and engine.devices == [Device("cpu", "CPU", "cpu")]
    engine._kill_all()


def test_a_page_offers_devices_that_can_be_used_alone(monkeypatch):
    devices = [Device("cuda:0", "GTX 1080", "sm_61", unusable="no code for sm_61"), Device("cuda:1", "RTX 3090", "sm_86")]
    monkeypatch.setattr(places, "devices", lambda: devices)
    found = places.places()
    assert list(found)[0] == "cuda:1"
    assert "cuda:0" not in found and found["cuda:1"].runs


def test_facts_that_were_learned_do_not_make_a_card_usable():
    stored = [Device("cuda:0", "GTX 1080", "sm_61", {"sm_count": 20})]
    (found,) = requests.with_learned([Device("cuda:0", "GTX 1080", "sm_61", unusable="no code for sm_61")], stored)
    assert found.facts == {"sm_count": 20} and found.unusable == "no code for sm_61"


def test_commands_work_beside_a_card_that_cannot_be_used(home, tmp_path):
    (tmp_path / "pynvml.py").write_text(STAND_IN)
    env = {"PYTHONPATH": str(tmp_path)}
    report = tileviz("doctor", "--json", **env).json
    assert [(d["id"], d["unusable"]) for d in report["devices"]] == [("cuda:0", "no code for sm_61"), ("cuda:1", ""), ("cpu", "")]
    assert "Card 0, sm_61: cannot be used, no code for sm_61\n" in tileviz("doctor", **env).out
    listed = tileviz("kernels", "vector_add", **env)
    assert listed.out.endswith("those of sm_86, the device of this machine.\ncuda:0, Card 0, cannot be used: no code for sm_61.\n")
    told = tileviz("kernels", "vector_add", "--json", **env).json
    assert told["kernels"][0]["defaults"]["target"] == "sm_86" and told["devices"][0]["unusable"] == "no code for sm_61"
    words = ("vector_add", "-p", "N=1000", "-p", "dtype=float32", "--json")
    done = tileviz("run", *words, "--device", "cpu", "--no-baselines", **env)
    assert done.json["status"] == "ok", done.err
    assert tileviz("compile", *words, **env).json["target"] == "sm_86"
    refused = tileviz("run", *words, "--device", "cuda:0", **env)
    assert refused.status == 2 and json.loads(refused.out)["error"].startswith("cuda:0, Card 0, cannot be used: no code for sm_61;")
