"""The program that runs under ncu: one request's kernel, warmed up, then launched once between
profiler start and stop.

ncu ... python -m tileviz.engine.jobs.ncu_target REQUEST.json
"""

import json
import sys
from pathlib import Path

from tileviz.bench import draws
from tileviz.compiler import runtime, targets, toolchain
from tileviz.engine.requests import Request, request_from_json
from tileviz.kernels import code as code_of
from tileviz.store import tileviz_home

WARM_UP = 3


def main(path: str) -> int:
    launch_once(request_from_json(json.loads(Path(path).read_text())))
    return 0


def launch_once(request: Request) -> None:
    """Compiles, or takes from TileLang's cache, and launches. Needs a CUDA device."""
    toolchain.configure_environment(tileviz_home())
    import torch

    described, target = code_of(request.kernel), targets.target(request.target)
    device = request.runs_on
    torch.cuda.set_device(device)
    inputs = described.inputs(request.problem, draws.Draw(device, request.seed, request.inputs))
    shape, dtype = described.output(request.problem)
    output = draws.nan_filled(shape, dtype, device)
    build = lambda: described.build(request.problem, request.config, target)
    call = runtime.executable(build, target, described.pass_configs(request.config))
    for _ in range(WARM_UP):
        call(*inputs, output)
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStart()
    call(*inputs, output)
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
