"""Trials and artifacts as a store would give them, made by hand, for tests of pages."""

import time
from dataclasses import replace

from tests.asked import resolve
from tileviz import kernels
from tileviz.measured import BaselineResult, Comparison, Roofline, Timing, Verdict
from tileviz.records import Artifact, Device, Resources, SharedBytes, Trial

CPU = Device("cpu", "Example CPU", "cpu", {"cores": 2})
H200 = Device("cuda:0", "NVIDIA H200", "sm_90a", {"compute_capability": "9.0", "sm_count": 132})

CUDA_TEXT = """#include <tl_templates/cuda/instruction/wgmma.h>
extern "C" __global__ void __launch_bounds__(384, 1) gemm_kernel(half_t* __restrict__ C) {
  // tl::wgmma_ss in a comment is no call
  tl::tma_load(A_desc, mbarrier[0], (&(buf[0])), 0, 0);
  mbarrier[0].wait(0);
  tl::wgmma_ss<...>(1, 2, 3);
  __syncthreads();
}
"""


def timing(median_us: float, n: int = 40, **more) -> Timing:
    samples = tuple(median_us * (1 + 0.01 * ((i * 7) % 11 - 5)) for i in range(n))
    values = {"timer": "perf_counter", "l2": "n/a", "warmup": 3, "stop_reason": "median known to 0.44 %, target 0.5 %"}
    return Timing(**{"samples_us": samples, **values, **more})


def right(**more) -> Verdict:
    values = {
        "ok": True,
        "rel_error": 3.1e-7,
        "max_abs_error": 2.4e-5,
        "wrong_fraction": 0.0,
        "worst_index": (3, 17),
        "tolerance": "|error| <= 1e-4",
    }
    return Verdict(**{**values, **more})


def baseline(name: str, title: str, median_us: float, ours_us: float, **more) -> BaselineResult:
    ratio = median_us / ours_us
    word = "faster" if ratio > 1.02 else "slower" if ratio < 0.98 else "same"
    values = {
        "name": name,
        "title": title,
        "status": "ok",
        "math_mode": "float32",
        "verdict": right(),
        "timing": timing(median_us),
        "comparison": Comparison(word, ratio, ratio * 0.98, ratio * 1.02),
        "speedup": ratio,
    }
    return BaselineResult(**{**values, **more})


def trial(kernel: str = "gemm", *, problem=None, config=None, device: Device = CPU, trial: str = "t-example", **more) -> Trial:
    """An ok trial of a kernel with everything in it."""
    request = resolve(kernel, problem or {}, config or {}, devices=[device], device=device.id)
    values = {
        "trial": trial,
        "kernel": kernel,
        "problem": request.problem,
        "config": request.config,
        "target": request.target,
        "device": device.id,
        "status": "ok",
        "key": request.key,
        "verdict": right(),
        "timing": timing(3200.0),
        "tflops": 0.0839,
        "gbps": 0.98,
        "roofline": Roofline("compute", None, "no ceiling is known for this device"),
        "baselines": (
            baseline("eager", "PyTorch eager", 5100.0, 3200.0),
            baseline(
                "torch_compile", "torch.compile", 9000.0, 3200.0, status="unsupported", reason="no C++ compiler", timing=None, verdict=None
            ),
        ),
        "artifact": request.key,
        "created": time.time() - 180,
    }
    return Trial(**{**values, **more})


def artifact(of: Trial, **more) -> Artifact:
    """The artifact of a trial: a CUDA text with one call of each kind."""
    cuda = of.target != "cpu"
    values = {
        "key": of.artifact,
        "target": of.target,
        "source": CUDA_TEXT if cuda else "int main() { return 0; }\n",
        "source_language": "cuda" if cuda else "c",
        "resources": Resources(
            registers=168 if cuda else None,
            spill_bytes=0 if cuda else None,
            shared_bytes=SharedBytes(1024, 98304) if cuda else SharedBytes(),
            threads_launched=384 if cuda else None,
            grid=(32, 32, 1),
            blocks_per_sm=1 if cuda else None,
            occupancy=0.1875 if cuda else None,
            occupancy_limiter="registers" if cuda else None,
            stack_bytes=None if cuda else 32768,
        ),
        "instructions": {"source": {"tensor_core": 1, "async_copy": 1, "barrier": 2}},
        "compiler": "NVRTC 13.5" if cuda else "g++ 12.2 -O3",
        "seconds": {"lower": 0.15, "compile": 0.58},
        "missing": {"sass": "nvdisasm not found; pip install nvidia-cuda-nvdisasm"} if cuda else {},
    }
    return Artifact(**{**values, **more})


def compiled(kernel: str = "gemm", target: str = "sm_90a", **more) -> Trial:
    """A trial that was compiled only."""
    request = resolve(kernel, {}, {}, kind="compile", target=target, devices=[CPU])
    made = trial(kernel, trial="t-compiled")
    return replace(
        made,
        problem=request.problem,
        config=request.config,
        target=request.target,
        device=None,
        key=request.key,
        artifact=request.key,
        verdict=None,
        timing=None,
        tflops=None,
        gbps=None,
        roofline=None,
        baselines=(),
        **more,
    )


def every_kernel() -> tuple[str, ...]:
    return kernels.names()
