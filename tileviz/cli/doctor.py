"""`python -m tileviz doctor`: what this machine has, what is missing, and the line that gets it."""

import json
from dataclasses import asdict

from tileviz import formats, settings
from tileviz.compiler import toolchain
from tileviz.engine import client, requests
from tileviz.records import Device
from tileviz.records_json import to_json
from tileviz.store import Store
from tileviz.store.home import network_warning

BLOCKS = ("tilelang", "torch", "C++ compiler", "TMPDIR", "TILEVIZ_HOME", "NVIDIA driver")
"""What no kernel runs without on the device that is taken by default; the rest costs a text or some
speed."""


def doctor(asked) -> int:
    """The exit status is 0 when kernels can be run here."""
    report = examine()
    if asked.json:
        print(json.dumps(report, indent=2))
    else:
        print(report_text(report))
    return 0 if report["ok"] else 1


def examine() -> dict:
    """The report as JSON values."""
    store = Store()
    missing = [asdict(problem) for problem in toolchain.problems(store.home)]
    warning = network_warning(store.home)
    wrong, trouble = settings.problems(), client.trouble(store.home)
    return {
        "ok": not any(problem["name"] in BLOCKS for problem in missing)
        and not wrong
        and not trouble,
        "devices": [to_json(device) for device in _devices(store)],
        "settings": wrong,
        "engine": trouble or _engine_words(store),
        "versions": toolchain.versions(),
        "missing": missing,
        "home": str(store.home),
        "home_bytes": store.size_bytes(),
        "warnings": ([warning] if warning else []) + store.notices(),
    }


def report_text(report: dict) -> str:
    lines = ["devices"]
    lines += [
        f"  {device['id']:<8} {device['name']}{_target(device)}{_facts(device)}{_unusable(device)}"
        for device in report["devices"]
    ]
    lines += ["versions"] + [
        f"  {name:<12} {version or '-'}" for name, version in report["versions"].items()
    ]
    lines += [f"home {report['home']} ({formats.size_bytes(sum(report['home_bytes'].values()))})"]
    lines += [f"engine: {report['engine']}"] + [f"setting: {wrong}" for wrong in report["settings"]]
    lines += [f"warning: {warning}" for warning in report["warnings"]]
    lines += ["missing" if report["missing"] else "nothing is missing"]
    lines += [
        f"  {problem['name']}, needed for {problem['needed_for']}: {problem['line']}"
        for problem in report["missing"]
    ]
    lines += [
        "kernels can be run here"
        if report["ok"]
        else "kernels cannot be run here until this is mended"
    ]
    return "\n".join(lines)


def _devices(store: Store) -> list[Device]:
    """The devices of this machine, with what the engine has learned of each."""
    return requests.with_learned(requests.local_devices(), store.devices())


def _engine_words(store: Store) -> str:
    pid = client.engine_pid(store.home)
    return "not running; the first job starts it" if pid is None else f"running, process {pid}"


def _target(device: dict) -> str:
    return f", {device['target']}" if device["target"] else ""


def _unusable(device: dict) -> str:
    return f": cannot be used, {device['unusable']}" if device["unusable"] else ""


def _facts(device: dict) -> str:
    facts = device["facts"]
    words = [
        f"{facts[name]} {unit}"
        for name, unit in (("cores", "cores"), ("sm_count", "SMs"))
        if facts.get(name)
    ]
    sizes = (("memory_bytes", "memory"), ("l2_bytes", "L2"))
    words += [
        f"{formats.size_bytes(facts[name])} {label}" for name, label in sizes if facts.get(name)
    ]
    return "".join(f", {word}" for word in words)
