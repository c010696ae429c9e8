"""Sweeps as a store would hold them, generated, for tests of the Sweep page."""

import itertools
import random

from tests.ui import examples
from tileviz.records_json import to_json
from tileviz.store import Store
from tileviz.store.sweeps import NOT_RUN, SweepRow

PROBLEM = {"M": 4096, "N": 4096, "K": 4096, "dtype": "float16", "layout": "NN"}
VALUES = {"block_M": (64, 128, 256), "block_N": (64, 128, 256), "block_K": (32, 64), "num_stages": (2, 3, 4), "threads": (128, 256)}
BASE = {"enable_swizzle": True, "panel_size": 10}


def latency_us(config: dict) -> float:
    """A made-up landscape with one clear best: block_M=128 block_N=256 block_K=64 num_stages=4 threads=256."""
    distance = abs(config["block_M"] - 128) / 64 + abs(config["block_N"] - 256) / 128 + (64 - config["block_K"]) / 32
    return 200.0 * (1 + 0.3 * distance + 0.1 * (4 - config["num_stages"]) + (0.2 if config["threads"] == 128 else 0))


def request(problems=(PROBLEM,), values=VALUES, **more) -> dict:
    asked = {
        "kernel": "gemm", "target": "sm_90a", "device": "cuda:0", "problems": [dict(p) for p in problems],
        "values": {name: list(found) for name, found in values.items()}, "strategy": "grid", "effort": "full", "seed": 0,
        "budget": {"trials": None, "seconds": None, "patience": None},
    }  # fmt: skip
    return to_json({**asked, **more})


def rows(values=VALUES, problems: int = 1, measured: float = 1.0, seed: int = 0) -> list[SweepRow]:
    """Every config of the values for each problem. 256 x 256 is pruned, two stages of block_K 64 at 64 x 64 fail to compile; the last part
    of what is left is not run where `measured` is below 1."""
    draw, out = random.Random(seed), []
    configs = [{**dict(zip(values, found, strict=True)), **BASE} for found in itertools.product(*values.values())]
    for ordinal, (problem, config) in enumerate(itertools.product(range(problems), configs)):
        status, reason, results = "ok", "", {}
        if config["block_M"] == 256 and config["block_N"] == 256:
            status, reason = "pruned", "shared memory 262,144 B is over the 232,448 B a block of sm_90a may use"
        elif config["block_M"] == 64 and config["block_N"] == 64 and config["block_K"] == 64 and config["num_stages"] == 2:
            status, reason = "compile_failed", "the compiler stopped: <b>no</b> instruction selected for this tile"
        elif ordinal >= measured * problems * len(configs):
            status = NOT_RUN
        else:
            us = latency_us(config) * (1 + problem) * (1 + 0.01 * draw.random())
            results = measured_results(ordinal, us, config)
        out.append(SweepRow(ordinal, problem, config, status, reason, None, results))
    return out


def measured_results(ordinal: int, us: float, config: dict) -> dict:
    registers = 96 + config["block_M"] * config["block_N"] // 512
    return {
        "trial": f"t{ordinal}", "median_us": us, "p10_us": us * 0.99, "p90_us": us * 1.02, "n": 50, "tflops": 137_438.0 / us,
        "gbps": 1e5 / us, "roofline": 137.0 / us, "rel_error": 2e-4, "registers": registers, "spill_bytes": 64 if registers > 200 else 0,
        "shared_static_bytes": 0, "shared_dynamic_bytes": 1024 * config["num_stages"] * config["block_K"], "threads_launched": 384,
        "occupancy": 0.1875, "instructions": {"sass": {"tensor_core": config["block_M"], "barrier": 12}}, "compile_s": 0.6,
        "measure_s": 0.1, "ended": 1000.0 + ordinal,
    }  # fmt: skip


def stored(
    store: Store, sweep: str = "s1", *, state: str = "done", problems=(PROBLEM,), values=VALUES, measured: float = 1.0, **more
) -> str:
    """A sweep in the store; its best config has a trial document with baselines, too."""
    asked = request(problems, values, **more)
    made = rows(values, len(problems), measured)
    store.create_sweep(sweep, asked, made, state=state, reason="all 108 ran" if state == "done" else "")
    best = min((row for row in made if row.status == "ok"), key=lambda row: row.results["median_us"], default=None)
    if best is not None:
        us = best.results["median_us"]
        store.save_trial(
            examples.trial(
                problem=problems[best.problem], config=best.config, device=examples.H200, trial=best.results["trial"],
                timing=examples.timing(us, timer="cupti", l2="cold"),
                baselines=(examples.baseline("cublas", "cuBLAS", us * 1.05, us),),
            )
        )  # fmt: skip
    return sweep


BIG = {
    "block_M": tuple(16 * i for i in range(1, 11)), "block_N": tuple(16 * i for i in range(1, 11)), "block_K": (16, 32, 48, 64, 80),
    "num_stages": (1, 2, 3, 4, 5), "threads": (128, 256, 384, 512),
}  # fmt: skip
"""10,000 configs."""
