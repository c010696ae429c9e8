"""One config of one problem, run on a Hopper GPU without the engine, against float64."""

import os
import tempfile

import pytest

from tests.bench.judged import verify
from tileviz import kernels
from tileviz.bench.references import Truth
from tileviz.compiler import runtime
from tileviz.compiler.targets import target


def check(name: str, problem: dict, chosen: dict) -> None:
    """Runs a config of sm_90a on the first GPU and asks the verifier; skips where that is no Hopper."""
    import torch

    os.environ.setdefault("TILELANG_CACHE_DIR", tempfile.mkdtemp(prefix="tilelang-"))
    kernel, hopper = kernels.code(name), target("sm_90a")
    if torch.cuda.get_device_capability() != (9, 0):
        pytest.skip("the variants are made for sm_90a")
    full = kernel.problem(problem)
    knobs = kernel.config(chosen, hopper, full)
    assert kernel.rules(full, knobs, hopper).broken == ()
    generator = torch.Generator("cuda").manual_seed(0)
    inputs = kernel.inputs(full, lambda *s, dtype: torch.randn(*s, generator=generator, device="cuda").to(getattr(torch, dtype)))
    shape, dtype = kernel.output(full)
    output = torch.full(shape, float("nan"), dtype=getattr(torch, dtype), device="cuda")
    runtime.executable(lambda: kernel.build(full, knobs, hopper), hopper, kernel.pass_configs(knobs))(*inputs, output)
    torch.cuda.synchronize()
    truth = Truth.of(kernel, full, inputs)
    how = {"accumulate": kernel.accumulate(full), "error_scale": kernel.error_scale, "cancelled": kernel.cancelled(full)}
    how |= {"math_mode": kernel.math_mode(full, hopper), "exponents": truth.exponents}
    said = verify(output, truth.reference, dtype=dtype, inputs=inputs, **how)
    assert said.ok, said
