"""A recorded file as a GPU would have left it, made from sweeps that are written by hand."""

import itertools
from dataclasses import replace
from pathlib import Path

from tests.ui import code_examples, examples
from tileviz import kernels
from tileviz.compiler import targets
from tileviz.engine import presets
from tileviz.records import Device
from tileviz.records_json import to_json
from tileviz.store import Store
from tileviz.store.recording import record
from tileviz.store.sweeps import SweepRow

CREATED = 1_795_900_000.0
DAY = "2026-11-28"
H200 = Device(
    "cuda:0", "NVIDIA H200", "sm_90a",
    {"compute_capability": "9.0", "sm_count": 132, "l2_bytes": 60 << 20, "uuid": "17d1c194"},
    {"device": "NVIDIA H200", "driver": "580.1", "torch": "2.11.0", "tilelang": "0.1.15"},
)  # fmt: skip
SQUARE = {"M": 4096, "N": 4096, "K": 4096}
SMALL = {"M": 1024, "N": 1024, "K": 1024}
SM_90A = targets.target("sm_90a")


def config_of(problem: dict, **values) -> dict:
    kernel = kernels.kernel("gemm")
    return kernel.config(values, SM_90A, kernel.problem(problem))


def sweep(store: Store, problems=(SQUARE,), name: str = "r1", best=(128, 128), created: float = CREATED, **old_knobs) -> str:
    """Four tiles of each problem; the tile `best` is the fastest, 64 x 64 does not compile. The best has code and a baseline. Knobs
    that are given are ones that the kernel has no more."""
    kernel = kernels.kernel("gemm")
    full = [kernel.problem(problem) for problem in problems]
    asked = {
        "kernel": "gemm", "target": "sm_90a", "device": H200.id, "problems": full, "values": {}, "strategy": "grid", "effort": "full",
        "budget": {"trials": None, "seconds": None, "patience": None}, "counted": {"requested": 4 * len(full)},
    }  # fmt: skip
    tiles = list(itertools.product(range(len(full)), (64, 128), (64, 128)))
    configs = [{**config_of(full[number], block_M=m, block_N=n), **old_knobs} for number, m, n in tiles]
    rows = [SweepRow(place, number, config) for place, ((number, _, _), config) in enumerate(zip(tiles, configs, strict=True))]
    store.create_sweep(name, to_json(asked), rows, state="done")
    for place, ((number, m, n), config) in enumerate(zip(tiles, configs, strict=True)):
        store.save_sweep_trials(name, [((place,), _trial(store, f"{name}-{place}", full[number], config, (m, n), best, created))])
    store.save_device(H200)
    return name


def _trial(store: Store, name: str, problem: dict, config: dict, tile: tuple[int, int], best: tuple[int, int], created: float):
    us = problem["M"] / 20 * (1.0 if tile == best else 1.5 + tile[1] / 1000)
    made = examples.trial(
        problem=problem, config={"block_M": tile[0], "block_N": tile[1]}, device=H200, trial=name,
        fingerprint={**H200.fingerprint, "kernel_source": "of another day"}, key=f"key-{name}", artifact=None, created=created,
        timing=examples.timing(us, timer="cupti", l2="cold"), tflops=2 * problem["M"] ** 3 / us / 1e6, baselines=(),
        instructions={"sass": {"tensor_core": 8, "barrier": 0}},
    )  # fmt: skip
    made = replace(made, config=config)
    if tile == (64, 64):
        told = "/home/someone/venv/lib/gemm.h(3): error"
        return replace(made, status="compile_failed", reason="the compiler stopped", detail=told, timing=None, verdict=None, tflops=None)
    if tile != best:
        return made
    artifact = replace(code_examples.artifact(), key=f"key-{name}", cubin=b"machine code")
    store.save_artifact(artifact)
    return replace(made, artifact=artifact.key, baselines=(examples.baseline("cublas", "cuBLAS", us * 0.9, us),))


def made(folder: Path, problems=(SQUARE,), **more) -> Path:
    """The recorded file of one sweep, with its best as presets."""
    store = Store(folder / "gpu")
    name = sweep(store, problems, **more)
    for tuned in presets.best_of(store, store.sweep(name)):
        store.save_tuned(tuned)
    best = set(store.sweep(name).best.values())
    out = folder / "recorded.db"
    record(store, out, [name], best, best)
    return out
