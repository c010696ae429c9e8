"""`tileviz.run`, `compile` and `sweep` for real, on the CPU target and by compiling for a GPU that
is not here."""

import subprocess
import sys

import numpy
import pytest

import tileviz
from tests.conftest import ROOT
from tileviz.api import running
from tileviz.errors import BadRequest, BadValue, UnknownName

pytestmark = pytest.mark.usefixtures("shared_home")

SMALL = {"N": 4099, "dtype": "float32"}


def test_a_run_is_checked_and_timed_and_can_be_found_again(tmp_path):
    result = tileviz.run("vector_add", SMALL, device="cpu", baselines=["eager"], save=str(tmp_path / "x.npz"))
    assert result.ok and result.trial.verdict.ok and result.latency_us > 0
    assert [baseline.name for baseline in result.baselines] == ["eager"]
    assert tileviz.load(result.id).trial == result.trial
    assert "for (" in str(result.code())
    with numpy.load(tmp_path / "x.npz") as kept:
        assert numpy.array_equal(kept["out"], kept["in0"] + kept["in1"])


def test_code_is_compiled_for_a_gpu_that_is_not_here():
    compiled = tileviz.compile("vector_add", target="sm_90a")
    assert compiled.ok and compiled.target == "sm_90a" and compiled.counts["sass"]["global_load"] > 0
    assert "EXIT" in str(compiled.code("sass"))


def test_a_config_that_breaks_a_rule_is_a_result_that_says_so():
    pruned = tileviz.compile("gemm", None, {"block_M": 256, "block_N": 256, "block_K": 128, "num_stages": 4}, target="sm_90a")
    assert not pruned.ok and pruned.status == "pruned" and "shared memory" in pruned.reason
    assert "shared memory" in repr(pruned)


def test_a_sweep_finds_the_best_of_each_problem():
    sweep = tileviz.sweep("vector_add", {"N": [4099, 8197], "dtype": "float32"}, {"block_N": [512, 1024]}, device="cpu", baselines=False)
    assert len(sweep) == 4 and sweep.counts["ok"] == 4 and {result["N"] for result in sweep.problems} == {4099, 8197}
    assert tileviz.load(sweep.id).frame().equals(sweep.frame())


def test_what_makes_no_sense_is_refused_in_one_sentence():
    with pytest.raises(UnknownName, match="no kernel 'gem'; known: "):
        tileviz.run("gem")
    with pytest.raises(BadValue):
        tileviz.run("vector_add", {"N": -1}, device="cpu")
    with pytest.raises(BadRequest):
        tileviz.run("vector_add", {"Q": 1}, device="cpu")
    with pytest.raises(TypeError, match="no option 'sed'; known: inputs, seed, l2"):
        tileviz.run("vector_add", SMALL, sed=1)
    with pytest.raises(TypeError, match="no option 'strategie'"):
        tileviz.sweep("vector_add", SMALL, strategie="grid")


def test_baselines_are_all_none_or_named():
    assert running.measured({"seed": 3}) == {"seed": 3, "baselines": True}
    assert running.measured({"baselines": False}) == {"baselines": False}
    assert running.measured({"baselines": "eager"}) == {"baselines": True, "only_baselines": ("eager",)}
    assert running.measured({"baselines": ["eager", "cublas"]})["only_baselines"] == ("eager", "cublas")


def test_ctrl_c_stops_the_work_itself_and_waits_for_that():
    heard = []

    def wait(most):
        heard.append(most)
        if most is None:
            raise KeyboardInterrupt
        raise TimeoutError("still at it")

    with pytest.raises(KeyboardInterrupt):
        running.heeding_ctrl_c(wait, lambda: heard.append("stop"))
    assert heard == [None, "stop", running.CANCEL_WAIT_S]


def test_a_plain_script_needs_no_ceremony(tmp_path, shared_home):
    (tmp_path / "try_it.py").write_text(
        'import tileviz\nresult = tileviz.run("vector_add", {"N": 4099, "dtype": "float32"}, device="cpu", baselines=False)\n'
        "print(result)\nprint(result.frame())\n"
    )
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import runpy; runpy.run_path('try_it.py', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert done.stdout.startswith("vector_add N=4099 dtype=float32: ok, ") and "this config" in done.stdout
