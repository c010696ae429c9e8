"""What a person copies: the command and the script."""

import ast
import builtins
import shlex
import subprocess
import sys

import pytest

from tileviz import kernels
from tileviz.cli.arguments import parser
from tileviz.compiler.targets import target
from tileviz.ui.parts import script


def view(name: str, where: str, **problem):
    kernel, at = kernels.kernel(name), target(where)
    return kernel, kernel.problem(problem, at.kind), kernel.config({}, at), at


@pytest.mark.parametrize("name", kernels.names())
@pytest.mark.parametrize("where", ["cpu", "sm_90a"])
def test_the_script_of_every_kernel_defines_all_it_uses_and_needs_nothing_of_tileviz(name, where):
    text = script.script(*view(name, where), "cpu" if where == "cpu" else None)
    tree = ast.parse(text)
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    defined = stored | {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    defined |= {a.arg for n in ast.walk(tree) if isinstance(n, ast.arguments) for a in (*n.args, *n.kwonlyargs, n.vararg, n.kwarg) if a}
    defined |= {(a.asname or a.name).split(".")[0] for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names}
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    assert used - defined - set(dir(builtins)) == set()
    modules = {
        (n.module if isinstance(n, ast.ImportFrom) else a.name)
        for n in ast.walk(tree)
        if isinstance(n, (ast.Import, ast.ImportFrom))
        for a in n.names
    }
    assert not any(module.startswith("tileviz") for module in modules)


def test_the_script_runs_on_the_cpu_and_is_right(tmp_path):
    file = tmp_path / "gemm.py"
    file.write_text(script.script(*view("gemm", "cpu", M=70, N=65, K=33), "cpu"))
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.strip().splitlines()[-1].removeprefix("relative error ")) < 1e-5


@pytest.mark.parametrize("name", kernels.names())
def test_the_command_says_the_same_thing_again(name):
    kernel, problem, config, at = view(name, "cpu")
    words = shlex.split(script.command(kernel, "run", problem, config, at, "cpu"))
    assert words[:3] == ["python", "-m", "tileviz"]
    asked = parser().parse_args(words[3:])
    assert kernel.problem(dict(asked.problem), "cpu") == problem
    assert kernel.config(dict(asked.config), at) == config
    assert asked.device == "cpu"


def test_a_pass_config_is_part_of_the_command_and_the_script():
    kernel, at = kernels.kernel("gemm"), target("sm_90a")
    config = kernel.config({"tl.disable_wgmma": "true"}, at)
    problem = kernel.problem({}, "cuda")
    assert "-k tl.disable_wgmma=true" in script.command(kernel, "compile", problem, config, at, None)
    assert "{'tl.disable_wgmma': True}" in script.script(kernel, problem, config, at, None)


def test_the_program_alone_is_the_text_of_the_kernel_file():
    kernel = kernels.kernel("gemm")
    assert script.program_source(kernel) in kernel.source
