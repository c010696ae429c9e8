"""`compile`, `run`, `show` and `doctor` for real, on the CPU target and by compiling for GPUs that are not here."""

import numpy
import pytest

from tests.conftest import tileviz

pytestmark = pytest.mark.usefixtures("shared_home")

SMALL = ("-p", "N=4099", "-p", "dtype=float32")
ON_CPU = ("--device", "cpu")

TRIAL_FIELDS = (
    "trial kernel problem config target device status reason resources instructions verdict timing"
    " tflops gbps roofline baselines fingerprint artifact"
)
RESOURCE_FIELDS = "registers spill_bytes shared_bytes threads_launched occupancy"
VERDICT_FIELDS = "ok rel_error max_abs_error wrong_fraction worst_index determinism"
TIMING_FIELDS = "median_us p10_us p90_us n timer l2 sm_clock_mhz throttled"
BASELINE_FIELDS = "name status reason kernel_name math_mode compile_s verdict timing comparison speedup"


def has(document: dict, fields: str) -> bool:
    return set(fields.split()) <= set(document)


@pytest.fixture(scope="module")
def ran(shared_home):
    """A run of vector add with its baselines, as the contract's JSON."""
    done = tileviz("run", "vector_add", *SMALL, *ON_CPU, "--json")
    assert done.status == 0, done.err
    return done.json


def test_a_run_has_every_field_of_the_contract(ran):
    assert has(ran, TRIAL_FIELDS)
    assert has(ran["resources"], RESOURCE_FIELDS) and has(ran["resources"]["shared_bytes"], "static dynamic")
    assert has(ran["verdict"], VERDICT_FIELDS)
    assert has(ran["timing"], TIMING_FIELDS)
    assert has(ran["roofline"] or {"bound": 0, "fraction": 0}, "bound fraction")
    assert ran["baselines"] and all(has(baseline, BASELINE_FIELDS) for baseline in ran["baselines"])


def test_a_run_is_right_timed_and_beside_pytorch(ran):
    assert ran["status"] == "ok" and ran["verdict"]["ok"] and ran["verdict"]["wrong_fraction"] == 0
    assert ran["verdict"]["determinism"] == {"launches": 10, "differing": 0}
    assert 0 < ran["timing"]["p10_us"] <= ran["timing"]["median_us"] <= ran["timing"]["p90_us"]
    assert ran["timing"]["timer"] == "perf_counter" and ran["timing"]["n"] == len(ran["timing"]["samples_us"])
    assert ran["problem"] == {"N": 4099, "dtype": "float32"} and ran["target"] == ran["device"] == "cpu"
    eager = next(baseline for baseline in ran["baselines"] if baseline["name"] == "eager")
    assert eager["status"] == "ok" and eager["timing"]["median_us"] > 0


def test_the_source_of_a_run_is_shown_again(ran):
    shown = tileviz("show", ran["trial"], "--emit", "source")
    assert shown.status == 0 and "vector_add" in shown.out
    document = tileviz("show", ran["trial"], "--json").json
    assert document["trial"] == ran["trial"] and document["timing"] == ran["timing"]


def test_a_trial_as_text_has_the_verdict_the_time_and_the_baselines(ran):
    text = tileviz("show", ran["trial"]).out
    assert "right: relative error" in text and "median" in text and "PyTorch eager" in text
    assert "  repeats    same bits in 10 launches" in text


def test_a_run_measures_again_though_the_code_is_stored(ran):
    again = tileviz("run", "vector_add", *SMALL, *ON_CPU, "--json", "--no-baselines").json
    assert again["trial"] != ran["trial"] and again["artifact"] == ran["artifact"]
    assert again["timing"]["samples_us"] != ran["timing"]["samples_us"] and again["baselines"] == []


def test_saved_arrays_give_the_same_verdict_elsewhere(tmp_path):
    done = tileviz("run", "vector_add", *SMALL, *ON_CPU, "--no-baselines", "--seed", "7", "--save", tmp_path / "kept.npz")
    assert done.status == 0, done.err
    with numpy.load(tmp_path / "kept.npz") as kept:
        assert sorted(kept) == ["in0", "in1", "out"]
        numpy.testing.assert_allclose(kept["out"], kept["in0"] + kept["in1"], rtol=1e-6)


def test_the_seed_decides_the_inputs(tmp_path):
    kept = []
    for number, seed in enumerate((1, 1, 2)):
        tileviz("run", "vector_add", *SMALL, *ON_CPU, "--no-baselines", "--seed", seed, "--save", tmp_path / f"{number}.npz")
        kept.append(numpy.load(tmp_path / f"{number}.npz")["in0"])
    assert numpy.array_equal(kept[0], kept[1]) and not numpy.array_equal(kept[0], kept[2])


def test_source_alone_only_lowers_and_goes_to_stdout():
    done = tileviz("compile", "gemm", "--target", "sm_90", "--emit", "source")
    assert done.status == 0 and "__global__" in done.out and "wgmma" in done.out
    assert "sm_90 is compiled as sm_90a" in done.err and "sm_90a" not in done.out.splitlines()[0]
    assert tileviz("compile", "gemm", "--target", "sm_90a", "--emit", "cuda").out == done.out


@pytest.mark.parametrize(("text", "mark"), [("ptx", ".target sm_90a"), ("sass", "HGMMA")])
def test_ptx_and_sass_of_a_gpu_that_is_not_here(text, mark):
    done = tileviz("compile", "gemm", "--target", "sm_90a", "--emit", text)
    assert done.status == 0 and mark in done.out


def test_compiling_to_json_runs_the_whole_pipeline():
    done = tileviz("compile", "gemm", "--target", "sm_90a", "--json", "--emit", "ptx")
    document = done.json
    assert done.status == 0 and has(document, TRIAL_FIELDS) and document["device"] is None and document["timing"] is None
    assert document["resources"]["registers"] > 0 and document["resources"]["shared_bytes"]["dynamic"] > 0
    assert document["instructions"]["source"]["tensor_core"] > 0 and document["instructions"]["sass"]["tensor_core"] > 0
    assert ".target sm_90a" in document["text"]["ptx"]


def test_the_cpu_target_has_c_and_no_ptx():
    done = tileviz("compile", "vector_add", *SMALL, "--target", "cpu", "--emit", "source")
    assert done.status == 0 and "vector_add" in done.out
    without = tileviz("compile", "vector_add", *SMALL, "--target", "cpu", "--emit", "ptx")
    assert without.status == 1 and without.out == "" and "ptx" in without.sentence.lower()


def test_an_unknown_trial_is_bad_usage_that_names_the_newest(ran):
    done = tileviz("show", "nothing", "--json")
    assert done.status == 2 and "no trial 'nothing'" in done.json["error"]


def test_doctor_says_what_is_here(shared_home):
    done = tileviz("doctor", "--json")
    report = done.json
    assert done.status == 0 and report["ok"] is True
    assert any(device["id"] == "cpu" for device in report["devices"])
    assert report["versions"]["tilelang"] and report["versions"]["torch"]
    assert report["home"] == str(shared_home)


def test_doctor_without_a_compiler_says_the_line_that_gets_one():
    done = tileviz("doctor", CXX="/nonexistent/g++")
    assert done.status == 1
    assert "CXX" in done.out or "g++" in done.out
    assert tileviz("doctor", "--json", CXX="/nonexistent/g++").json["ok"] is False


@pytest.fixture(scope="module")
def refused(shared_home):
    """A compile of which ptxas does not know a flag."""
    return tileviz("compile", "vector_add", "--target", "sm_80", "-k", "tl.device_compile_flags=-DX=1 -Xptxas -O1,--nonsense", "--json")


def test_a_failed_compile_says_the_compilers_own_reason(refused):
    assert refused.status == 1 and refused.json["status"] == "compile_failed"
    assert refused.json["reason"] == "nvcc refused: Unknown option '-nonsense'"


def test_a_text_of_a_failed_compile_is_refused_with_that_reason(refused):
    said = "for this trial: compile_failed: nvcc refused: Unknown option '-nonsense'"
    shown = tileviz("show", refused.json["trial"], "--emit", "sass", "--json")
    assert shown.status == 1 and shown.json["status"] == "compile_failed" and shown.json["text"] == {"sass": None}
    assert shown.sentence == f"no sass {said}"
    alone = tileviz("compile", "vector_add", "--target", "sm_80", "-k", "tl.device_compile_flags=-Xptxas -O1,--nonsense", "--emit", "ptx")
    assert alone.status == 1 and alone.out == "" and alone.sentence == f"no ptx {said}"
    against = tileviz("diff", refused.json["trial"], refused.json["trial"])
    assert against.status == 1 and against.sentence == f"tileviz: no sass {said}"


def test_flags_with_an_equals_sign_a_blank_and_a_comma_reach_the_compiler(shared_home):
    flags = "--maxrregcount=64 -DX=1 -Xptxas -O1,--warn-on-spills"
    done = tileviz("compile", "vector_add", "--target", "sm_80", "-k", f"tl.device_compile_flags={flags}", "--json")
    assert done.json["status"] == "ok" and done.json["config"]["tl.device_compile_flags"] == flags
