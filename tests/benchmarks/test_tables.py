"""The benchmark commands: their tables by hand-made numbers, and one real run on the CPU."""

import json
from dataclasses import replace

import pytest

from benchmarks import accuracy, ceilings, compile_rate, flush, kernels
from benchmarks.works import ACCURACY, FLUSH
from tileviz.bench.ceilings import Ceilings
from tileviz.bench.ncu import Launch
from tileviz.errors import TilevizError
from tileviz.kernels import kernel as kernel_of
from tileviz.measured import BaselineResult, Comparison, Roofline, Timing
from tileviz.records import Device, Trial, canonical_json

CPU = Device("cpu", "a CPU", "cpu", {}, {"device": "a CPU", "torch": "1"})


def trial(us, **changes):
    usual = Trial("t", "gemm", {"M": 64}, {}, "cpu", "cpu", "ok", timing=Timing((us,) * 50, "cupti", "cold"), tflops=0.5, gbps=90.0)
    return replace(usual, roofline=Roofline("compute", 0.5, "", 0.75, ""), **changes)


def baseline(name, us, ratio, status="ok", reason=""):
    timed = {"timing": Timing((us,) * 50, "cupti", "cold"), "comparison": Comparison("slower", ratio, ratio, ratio), "speedup": ratio}
    return BaselineResult(name, name.title(), status, reason, **(timed if status == "ok" else {}))


def test_the_headline_is_the_fastest_baseline_that_ran():
    found = trial(
        10.0,
        baselines=(baseline("eager", 20.0, 2.0), baseline("cublas", 8.0, 0.8), baseline("triton", 0, 0, "runtime_failed", "out of memory")),
    )
    row = kernels.row("gemm M=64", found)
    assert (row["us"], row["best"], row["best_us"], row["speedup"], row["verdict"]) == (10.0, "cublas", 8.0, 0.8, "slower")
    text = kernels.table([row])
    assert "500 GFLOPS" in text and "50.0 % 75.0 %" in text and "runtime_failed: out of memory" in text
    assert "cublas 8.00 \u00b5s: ours 0.800 times as fast as it" in text


def test_a_case_that_failed_says_why():
    row = kernels.row("gemm", trial(10.0, timing=None, status="wrong_result", reason="one tile wrong"))
    assert "wrong_result: one tile wrong" in kernels.table([row]) and row["us"] is None


def test_two_runs_are_set_side_by_side_absolutely_and_as_a_ratio():
    first, second = (
        kernels.row("gemm", trial(us, baselines=(baseline("eager", us * 2, 2 * scale),))) for us, scale in ((100.0, 1.0), (102.0, 1.005))
    )
    line = kernels.agreement([second], [first]).splitlines()[1]
    assert "+2.00 %" in line and "+0.50 %" in line
    assert len(kernels.agreement([second], []).splitlines()) == 1


def test_each_kernel_is_judged_by_the_geometric_mean_against_its_fastest_baseline():
    rows = []
    for us, ratio, dtype in ((10.0, 0.5, "float16"), (10.0, 2.0, "float16"), (10.0, 1.1, "bfloat16")):
        found = trial(us, baselines=(baseline("eager", us * 9, 9.0), baseline("cublas", us * ratio, ratio)), problem={"dtype": dtype})
        rows.append(kernels.row("gemm", found))
    first, second = kernels.means(rows).splitlines()[1:]
    assert first.split() == ["gemm", "float16", "2", "1.00", "0.500", "2.00"] and second.split()[:4] == ["gemm", "bfloat16", "1", "1.10"]


def test_every_judged_problem_is_one_that_its_kernel_takes():
    device = Device("cuda:0", "NVIDIA H200", "sm_90a", {}, {})
    chosen = kernels.cases(device, quick=False)
    problems = [(case.kernel, kernel_of(case.kernel).problem(case.problem)) for case in chosen]
    assert len({canonical_json(p) for p in problems}) == len(chosen) > 80
    assert {case.kernel for case in kernels.cases(device, False, ["softmax"])} == {"softmax"}


def test_a_stopped_run_goes_on_and_another_device_is_refused(tmp_path, monkeypatch):
    out, measured = str(tmp_path / "out.json"), []

    def measure(store, case, device):
        measured.append(case.kernel)
        if len(measured) == 2:
            raise TilevizError("stopped")
        return trial(10.0)

    monkeypatch.setattr(kernels, "measure", measure)
    chosen = (kernels.Case("vector_add"), kernels.Case("gemm"))
    with pytest.raises(TilevizError, match="stopped"):
        kernels._run(None, CPU, chosen, out)
    rows = kernels._run(None, CPU, chosen, out)
    assert measured == ["vector_add", "gemm", "gemm"] and [r["case"] for r in rows] == ["vector_add", "gemm"]
    with pytest.raises(TilevizError, match="another device or other versions"):
        kernels._run(None, replace(CPU, fingerprint={"torch": "2"}), chosen, out)


def test_one_real_case_on_the_cpu(home, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(kernels, "CPU_QUICK", (kernels.Case("gemm", {"M": 64, "N": 64, "K": 64}),))
    assert kernels.main(["--quick", "--device", "cpu", "--out", str(tmp_path / "out.json")]) == 0
    out = capsys.readouterr().out
    assert "gemm M=64 N=64 K=64" in out and "PyTorch eager" in out and "unsupported: runs on a GPU only" in out
    doc = json.loads((tmp_path / "out.json").read_text())
    assert doc["rows"][0]["status"] == "ok" and doc["fingerprint"]["torch"]
    assert "all in turn" in doc["rows"][0]["trial"]["seconds"]
    assert kernels.main(["--device", "cuda:9"]) == 1


def test_launches_under_ncu_are_split_at_their_markers():
    spin, one, two = Launch("spin_kernel(long)", 1.0), Launch("add", 10.0, sm_clock_mhz=1980.0), Launch("reduce", 5.0)
    launches = [spin, spin] * accuracy.REPEATS + [spin, one, two] * accuracy.REPEATS + [spin, one] * accuracy.REPEATS
    assert [row["us"] for row in accuracy.theirs(launches)] == [1.0, 15.0, 10.0]
    assert accuracy.theirs(launches)[1]["sm_clock_mhz"] == 1980.0


def test_three_percent_and_a_fixed_cost_are_allowed():
    rows = [{"name": n, "us": us, "sm_clock_mhz": None} for n, us in (("a", 1.0), ("b", 100.0), ("c", 96.0), ("d", 95.0))]
    found = accuracy.compared(rows, [{"us": us, "sm_clock_mhz": None} for us in (2.4, 104.5, 100.0, 100.0)])
    assert [row["within"] for row in found] == [True, True, True, False]
    assert accuracy.table(found, "cupti").endswith("3 of 4 within")


def test_the_works_are_twenty_and_the_rows_of_the_notes():
    assert len(ACCURACY) == 20 and len({work.name for work in ACCURACY}) == 20
    assert [w.name for w in FLUSH][:2] == ["add float32 2^12", "add float32 2^20"] and FLUSH[-1].name == "matmul float16 4096^3"


def test_the_flush_table_says_what_writing_adds(capsys):
    text = flush.table([{"name": "add float32 2^22", "write": 14.4, "read": 11.87, "none": 11.62}], "cupti")
    assert "14.4" in text and "11.9" in text and "+21.3 %" in text
    with pytest.raises(SystemExit):
        flush.main(["--device", "cpu"])
    assert "has no L2 that could be flushed" in capsys.readouterr().err


def test_ceilings_stand_beside_the_datasheet():
    device = Device("cuda:0", "NVIDIA H200", "sm_90a")
    text = ceilings.table(device, Ceilings(4.28, 4 << 30, {"float16": 710.0}, {"float16": 4096}, "cupti"))
    assert "4.28       4.80" in text and "710        989   4096^3" in text


@pytest.mark.skipif("__import__('torch').cuda.is_available()", reason="this machine has a CUDA device")
def test_without_a_gpu_the_gpu_tables_say_so(capsys):
    assert flush.main([]) == 1 and "no CUDA device that PyTorch can use" in capsys.readouterr().err


def test_words_that_no_case_has_are_said_to_be_so(home, capsys):
    assert kernels.main(["--device", "cpu", "--kernel", "gemm", "--case", "Sq="]) == 1
    assert "no case for cpu is of ['gemm'] and has one of ['Sq='] in it" in capsys.readouterr().err


def test_the_configs_whose_compiling_is_measured_are_those_of_the_sweep_of_a_target():
    found = compile_rate.requests_of("sm_90a", 3)
    assert len(found) == 3 and {request.target for request in found} == {"sm_90a"}
