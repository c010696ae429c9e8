"""Builds a kernel for the CPU target, runs it into a NaN-filled output and computes its float64 reference."""

import functools
import json
import os
import tempfile

import torch

from tileviz import kernels
from tileviz.records import Target

CPU = Target("cpu", "cpu")
FLAGS = ["-O3", "-march=native"]


@functools.cache
def _executable(name: str, problem: str, config: str):
    os.environ.setdefault("TILELANG_CACHE_DIR", tempfile.mkdtemp(prefix="tilelang-"))
    import tilelang
    from tilelang import tvm

    program = kernels.code(name).build(json.loads(problem), json.loads(config), CPU)
    with tvm.target.Target("c"):
        return tilelang.compile(program, out_idx=None, target="c", target_host="c", execution_backend="cython", compile_flags=FLAGS)


def run(name: str, problem: dict, config: dict | None = None, inputs: tuple | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """(output, reference in float64) of a float32 problem; random normal inputs when none are given."""
    kernel = kernels.code(name)
    full = kernel.problem({"dtype": "float32", **problem}, "cpu")
    knobs = kernel.config(config, CPU, full)
    assert kernel.rules(full, knobs, CPU).broken == ()
    call = _executable(name, json.dumps(full, sort_keys=True), json.dumps(knobs, sort_keys=True))
    given = draw(name, full) if inputs is None else inputs
    output = torch.full(kernel.output(full)[0], float("nan"))
    call(*given, output)
    return output, kernel.reference(full, *(t.double() for t in given))


def draw(name: str, problem: dict, seed: int = 0) -> tuple[torch.Tensor, ...]:
    """Standard normal inputs from a seed."""
    generator = torch.Generator().manual_seed(seed)

    def randn(*shape, dtype="float32"):
        return torch.randn(*shape, generator=generator).to(getattr(torch, dtype))

    kernel = kernels.code(name)
    return kernel.inputs(kernel.problem({"dtype": "float32", **problem}, "cpu"), randn)


def rel_error(output: torch.Tensor, reference: torch.Tensor) -> float:
    """Frobenius norm of the difference over that of the reference."""
    return ((output.double() - reference).norm() / reference.norm()).item()
