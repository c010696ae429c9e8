"""TileLang's AutoTuner as we call it: the real one, with its real compiler, and its timing of a GPU replaced by a table."""

import pytest

from tileviz.compiler import autotuner, targets, toolchain
from tileviz.errors import RuntimeFailed
from tileviz.kernels import code

SM_90A = targets.target("sm_90a")
ADD = code("vector_add")
PROBLEM = ADD.problem({"N": 65536, "dtype": "float16"})
CONFIGS = tuple(ADD.config({"block_N": block, "threads": 128, "tl.enable_fast_math": block == 512}, SM_90A) for block in (256, 512))

needs_nvcc = pytest.mark.skipif(toolchain.versions()["nvcc"] is None, reason="no nvcc: the AutoTuner compiles with it")


@pytest.fixture
def folder(tmp_path, monkeypatch, environment):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scripted_timing(monkeypatch, milliseconds):
    """Times by the number of elements a block of the generated source, in the place of a GPU."""
    from tilelang.autotuner import AutoTuner

    def bench(self, jit_kernel, **_more):
        source = jit_kernel.get_kernel_source()
        return milliseconds(source), None

    monkeypatch.setattr(AutoTuner, "_benchmark_target", bench)


@needs_nvcc
def test_its_best_config_comes_back_whole_with_its_pass_configs_and_time(folder, monkeypatch):
    sources = []
    scripted_timing(monkeypatch, lambda source: sources.append(source) or 0.02 * len(sources))
    found = autotuner.tuned(lambda knobs: ADD.build(PROBLEM, knobs, SM_90A), CONFIGS, SM_90A, list)
    assert found.config == CONFIGS[0] and found.latency_us == pytest.approx(20.0)
    assert (found.tried, found.failed) == (2, 0) and found.seconds > 0 and len(set(sources)) == 2
    assert (folder / autotuner.LOG).is_file(), "its log lies in the folder it was run in"


@needs_nvcc
def test_no_config_that_works_is_one_sentence_with_its_log(folder, monkeypatch):
    def refuses(source):
        raise RuntimeError("out of luck")

    scripted_timing(monkeypatch, refuses)
    with pytest.raises(RuntimeFailed, match="found no config that compiles and runs"):
        autotuner.tuned(lambda knobs: ADD.build(PROBLEM, knobs, SM_90A), CONFIGS[:1], SM_90A, list)


def test_compiler_flags_go_to_it_as_words():
    taken = autotuner.as_autotune_takes({"threads": 128, "tl.device_compile_flags": "-O3 -lineinfo"})
    assert taken == {"threads": 128, "pass_configs": {"tl.device_compile_flags": ["-O3", "-lineinfo"]}}


@pytest.mark.parametrize(
    "line, lost",
    [
        ("2026-11-29 12:00:00,000 DEBUG:Compilation failed for config {'threads': 96} at index 0 with error: no", True),
        ("2026-11-29 12:00:00,000 WARNING:A timeout occurred while testing config {'threads': 96}, checkout", True),
        ("2026-11-29 12:00:00,000 INFO:Auto-tuning with 0.9 CPU utilizations", False),
    ],
)
def test_configs_that_gave_no_time_are_counted_from_its_log(line, lost):
    assert autotuner.line_is_lost(line) == lost
