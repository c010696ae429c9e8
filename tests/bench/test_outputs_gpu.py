"""Several outputs, outputs in place, whole numbers and 8 bits on a GPU: launched as compiled, judged, and timed restored."""

import os
import tempfile

import pytest

from tests.kernels.widened_here import NAMES, code
from tileviz.bench.arguments import Arguments
from tileviz.bench.draws import Draw
from tileviz.bench.pick_timer import pick_timer
from tileviz.bench.references import Truth
from tileviz.bench.timers import Plan, time_callable
from tileviz.bench.tolerance import Arithmetic
from tileviz.bench.verify import verify
from tileviz.compiler import runtime
from tileviz.compiler.targets import target
from tileviz.measured import worst_of

pytestmark = pytest.mark.gpu


def launched(name: str, dtype: str | None = None):
    """(arguments after a launch, their truth, the call, the verdict)."""
    import torch

    os.environ.setdefault("TILELANG_CACHE_DIR", tempfile.mkdtemp(prefix="tilelang-"))
    major, minor = torch.cuda.get_device_capability()
    here, kernel = target(f"sm_{major}{minor}"), code(name)
    problem = kernel.problem({"dtype": dtype} if dtype else {})
    config = kernel.config({}, here, problem)
    inputs = kernel.inputs(problem, Draw("cuda:0", 0))
    arguments, truth = Arguments.of(kernel, problem, inputs, "cuda:0"), Truth.of(kernel, problem, inputs)
    call = runtime.executable(lambda: kernel.build(problem, config, here), here)
    arguments.clear(truth)
    call(*arguments.in_order)
    torch.cuda.synchronize()
    found = {}
    for each in kernel.written(problem):
        how = Arithmetic(each.dtype, "float32", each.accumulate, each.error_scale, inputs=arguments.fresh_inputs)
        found[each.name] = verify(arguments.outputs[each.name], truth.references[each.name], how)
    return arguments, truth, call, worst_of(found)


@pytest.mark.parametrize("name", NAMES)
def test_each_is_right_on_the_gpu(name):
    verdict = launched(name)[3]
    assert verdict.ok, verdict.reason


@pytest.mark.parametrize("name", ["row_stats", "scale_in_place"])
def test_half_precision_is_right_too(name):
    verdict = launched(name, "float16")[3]
    assert verdict.ok, verdict.reason


def test_what_is_written_in_place_is_restored_outside_the_timed_window():
    import torch

    arguments, _, call, verdict = launched("scale_in_place")
    assert verdict.ok
    timer = pick_timer("cuda:0")
    timing = time_callable(arguments.launch_of(call), timer, Plan(2, 1.0, 20, 40))
    torch.cuda.synchronize()
    assert timing.n >= 20 and arguments.outputs["X"].isfinite().all()
    torch.testing.assert_close(arguments.outputs["X"], arguments.fresh_inputs[0] * 1.5)
    bare = time_callable(lambda: call(*arguments.in_order), timer, Plan(2, 1.0, 20, 40))
    assert timing.median_us < 2 * bare.median_us, "the copy that restores is no part of it"
