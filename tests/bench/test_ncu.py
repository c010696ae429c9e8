"""Nsight Compute's output as records. The texts are made by hand after the documented formats (CLI guide: --csv, --page raw,
--query-metrics), not recorded from a run."""

import pytest

from tileviz.bench import ncu
from tileviz.errors import RuntimeFailed, ToolMissing

HEAD = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream",'
HEAD += '"Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"'
LAUNCH = '"{}","4711","python3.11","127.0.0.1","{}","1","7","(128, 1, 1)","(8192, 1, 1)","0","9.0",'
LAUNCH += '"Command line profiler metrics","{}","{}","{}"'


def long_text(*rows):
    lines = [
        "a line of the program",
        "==PROF== Connected to process 4711 (/usr/bin/python3.11)",
        '==PROF== Profiling "main" - 0: 0%....50%....100% - 1 pass',
    ]
    lines += [HEAD, *(LAUNCH.format(*row) for row in rows), "==PROF== Disconnected from process 4711"]
    return "\n".join(lines)


def test_the_long_form_gives_one_record_a_launch():
    stall = ncu.STALL.format
    text = long_text(
        (0, "void add<float>(float *, int)", "gpu__time_duration.sum", "ns", "44,640"),
        (0, "void add<float>(float *, int)", "dram__bytes_read.sum", "byte", "134,217,728"),
        (0, "void add<float>(float *, int)", "dram__bytes_write.sum", "byte", "67,108,864"),
        (0, "void add<float>(float *, int)", ncu.TENSOR[0], "%", "0"),
        (0, "void add<float>(float *, int)", ncu.SM_CLOCK, "cycle/second", "1,755,000,000"),
        (0, "void add<float>(float *, int)", stall("long_scoreboard"), "inst", "12.5"),
        (0, "void add<float>(float *, int)", stall("barrier"), "inst", "0.5"),
        (0, "void add<float>(float *, int)", stall("misc"), "inst", "0"),
        (1, "main_kernel", "gpu__time_duration.sum", "nsecond", "1250"),
    )
    first, second = ncu.parse(text)
    assert first.kernel == "void add<float>(float *, int)" and first.duration_us == pytest.approx(44.64)
    assert (first.dram_read_bytes, first.dram_write_bytes) == (1 << 27, 1 << 26)
    assert first.tensor_percent == 0 and first.sm_clock_mhz == pytest.approx(1755)
    assert first.stalls == (("long_scoreboard", 12.5), ("barrier", 0.5))
    assert second.kernel == "main_kernel" and second.duration_us == pytest.approx(1.25) and second.dram_read_bytes is None


def test_the_wide_form_gives_the_same():
    head = '"ID","Process ID","Kernel Name","dram__bytes_read.sum","gpu__time_duration.sum"'
    (launch,) = ncu.parse("\n".join(["==PROF== Connected", head, '"","","","Mbyte","us"', '"0","4711","main_kernel","134.22","44.64"']))
    assert launch.duration_us == pytest.approx(44.64) and launch.dram_read_bytes == pytest.approx(134.22e6)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("1,234", "ns", 1.234e-6), ("44.6", "us", 44.6e-6), ("3", "msecond", 3e-3), ("2", "second", 2), ("1.5", "Gbyte", 1.5e9),
        ("7", "byte", 7),
        ("1.98", "Ghz", 1.98e9), ("1.98", "cycle/nsecond", 1.98e9), ("1980000000", "Hz", 1.98e9), ("45.2", "%", 45.2), ("n/a", "%", None),
    ],
)  # fmt: skip
def test_values_come_in_base_units(text, unit, value):
    assert ncu.value_of(text, unit) == (value if value is None else pytest.approx(value))


def test_nothing_profiled_gives_no_launches():
    assert ncu.parse("") == [] and ncu.parse("==WARNING== No kernels were profiled.\n") == []
    assert "saw no launch" in ncu.trouble("==WARNING== No kernels were profiled.")


def test_a_missing_permission_is_one_plain_sentence():
    text = (
        "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0."
    )
    said = ncu.trouble(text, 1)
    assert (
        said.startswith("the driver lets only an administrator read performance counters")
        and "NVreg_RestrictProfilingToAdminUsers=0" in said
    )
    assert "\n" not in said


def test_other_trouble_keeps_ncus_own_words():
    assert ncu.trouble("==ERROR== Failed to find metric x__y\n", 1) == "ncu failed: Failed to find metric x__y"
    assert ncu.trouble("", 9) == "ncu or the program it ran ended with exit status 9" and ncu.trouble("all well") == ""


def test_only_metrics_that_this_ncu_knows_are_asked_for():
    assert ncu.metrics({"gpu__time_duration", "dram__bytes_read", "sm__inst_executed_pipe_tensor"}) == [
        ncu.DURATION,
        ncu.DRAM_READ,
        ncu.TENSOR[1],
    ]
    both = ncu.metrics({name.split(".")[0] for name in ncu.TENSOR})
    assert both == [ncu.TENSOR[0]]
    assert ncu.metrics(only_duration=True) == [ncu.DURATION, ncu.SM_CLOCK] and len(ncu.metrics()) > 15


def test_metrics_of_this_ncu_are_read_from_its_list(tmp_path, monkeypatch):
    tool = program(tmp_path, "echo 'Device NVIDIA H200'; echo 'dram__bytes_read     Counter   byte   # of bytes read'; echo '----'")
    assert ncu.known_metrics(str(tool)) == {"dram__bytes_read"}
    assert ncu.known_metrics(str(tmp_path / "missing")) is None


def test_the_command_leaves_clocks_alone_and_profiles_only_what_is_marked(tmp_path):
    words = ncu.command(["python", "-m", "target"], ["a__b.sum", "c__d.sum"], ncu="ncu")
    assert words[-3:] == ["python", "-m", "target"] and words[words.index("--metrics") + 1] == "a__b.sum,c__d.sum"
    assert words[words.index("--clock-control") + 1] == "none" and words[words.index("--profile-from-start") + 1] == "off"


def test_without_ncu_the_reason_says_what_to_do(monkeypatch):
    monkeypatch.setattr(ncu, "PLACES", ())
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("NCU", raising=False)
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    assert "was not found; install" in ncu.is_available()
    with pytest.raises(ToolMissing, match="was not found"):
        ncu.command(["x"], ["y"])
    monkeypatch.setenv("NCU", "/no/such/ncu")
    assert ncu.is_available() == "NCU is set to /no/such/ncu, which is no program that can be run"


def test_a_run_is_parsed_and_a_refused_one_is_a_sentence_with_the_text_kept(tmp_path, monkeypatch):
    good = tmp_path / "good.csv"
    good.write_text(long_text((0, "main_kernel", "gpu__time_duration.sum", "ns", "1250")))
    monkeypatch.setenv("NCU", str(program(tmp_path, f"cat {good}")))
    assert ncu.profile(["true"], [ncu.DURATION])[0].duration_us == pytest.approx(1.25)
    monkeypatch.setenv("NCU", str(program(tmp_path, "echo '==ERROR== ERR_NVGPUCTRPERM - no'; exit 1", "refused")))
    with pytest.raises(RuntimeFailed, match="only an administrator") as refused:
        ncu.profile(["true"], [ncu.DURATION])
    assert "ERR_NVGPUCTRPERM - no" in refused.value.detail


def program(folder, script, name="ncu"):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path
