"""What to copy: the command that repeats a trial, and its tile program as a Python script that
stands alone."""

import shlex

from tileviz.formats import word
from tileviz.kernels.asked import AskedKernel
from tileviz.kernels.toolkit.stand_in import CPU_NO_OPS
from tileviz.records import Config, Problem, Target
from tileviz.ui.parts.extract import as_it_stands, definitions

HEADER = '''"""{title}: {summary}

Made by tileviz. Needs: pip install tilelang torch
"""

import tilelang
import tilelang.language as T
import torch
'''

CPU_LANGUAGE = '''

class CpuLanguage:
    """TileLang's language as its CPU target needs it: tiles are local arrays, parallel loops are plain loops, GPU hints do nothing."""

    def __getattr__(self, name):
        if name in ("alloc_shared", "alloc_fragment"):
            return lambda shape, dtype, *_scope, **_hints: tilelang.language.alloc_local(shape, dtype)
        if name in {no_ops}:
            return lambda *_args, **_kwargs: None
        return getattr(tilelang.language, name)

    @staticmethod
    def Parallel(*extents, **_hints):
        return tilelang.language.grid(*extents)


T = CpuLanguage()
'''  # noqa: E501

CPU_COMPILE = """with tilelang.tvm.target.Target("c"):
    kernel = tilelang.compile(
        program(**problem, **config), out_idx=[-1], target="c", target_host="c", execution_backend="cython", compile_flags=["-O3"]
    )
"""  # noqa: E501

CUDA_COMPILE = """kernel = tilelang.compile(
    program(**problem, **config), out_idx=[-1], target={{"kind": "cuda", "arch": "{arch}"}}, pass_configs={pass_configs!r}
)
"""  # noqa: E501

RUN = """print(kernel.get_kernel_source())

torch.manual_seed(0)


def randn(*shape, dtype):
    return torch.randn(*shape, device="{device}").to(getattr(torch, dtype))


arguments = inputs(problem, randn)
output = kernel(*arguments)
wanted = reference(problem, *(argument.double() for argument in arguments))
print("relative error", ((output.double() - wanted).norm() / wanted.norm()).item())
"""

LOWER_ONLY = """target = tilelang.tvm.target.Target({{"kind": "cuda", "arch": "{arch}"}})
with tilelang.tvm.transform.PassContext(opt_level=3, config={pass_configs!r}), target:
    artifact = tilelang.lower(program(**problem, **config), target=target)
print(artifact.kernel_source)  # no device for {arch} here: the code can be read, not run
"""


def command(
    kernel: AskedKernel,
    kind: str,
    problem: Problem,
    config: Config,
    target: Target,
    device: str | None,
) -> str:
    """The shell line that does the same; every value is written out."""
    parts = ["python", "-m", "tileviz", kind, kernel.name]
    for name, value in problem.items():
        if value is not None:
            parts += ["-p", f"{name}={word(value)}"]
    for name, value in config.items():
        parts += ["-k", f"{name}={word(value)}"]
    parts += ["--device", device] if device else ["--target", target.name]
    return " ".join(shlex.quote(part) for part in parts)


def script(
    kernel: AskedKernel, problem: Problem, config: Config, target: Target, device: str | None
) -> str:
    """The tile program with these knobs as one file: it needs TileLang and PyTorch, and nothing of
    tileviz.

    With a device it compiles, runs and checks; without one it prints the generated code.
    """
    knobs, switches = kernel.knob_values(config), kernel.pass_configs(config)
    parts = [HEADER.format(title=kernel.title, summary=kernel.summary)]
    if target.kind == "cpu":
        parts.append(CPU_LANGUAGE.replace("{no_ops}", repr(tuple(CPU_NO_OPS))))
    parts.append("\n\n" + definitions(kernel.source, ("program", "inputs", "reference")) + "\n\n\n")
    parts.append(f"problem = {problem!r}\nconfig = {knobs!r}\n\n")
    if target.kind == "cpu":
        parts.append(CPU_COMPILE + RUN.format(device="cpu"))
    elif device:
        parts.append(
            CUDA_COMPILE.format(arch=target.name, pass_configs=switches) + RUN.format(device=device)
        )
    else:
        parts.append(LOWER_ONLY.format(arch=target.name, pass_configs=switches))
    return "".join(parts)


def program_source(kernel: AskedKernel) -> str:
    """The tile program alone, with the helpers it calls, as they stand in the kernel's file."""
    return as_it_stands(kernel.source, ("program",))
