"""The engine end to end on the CPU target: real compiler, real kernels, real store, real kills."""

import os
import signal
import subprocess
import time
from types import SimpleNamespace

import numpy
import psutil
import pytest

from tests.asked import resolve
from tests.engine.of_processes import is_gone
from tests.waiting import until
from tileviz.bench.facts import cpu_device
from tileviz.engine import client, server
from tileviz.engine.jobs.compile import CompileTask
from tileviz.engine.jobs.run import RunTask
from tileviz.engine.jobs.task import Task
from tileviz.engine.processes.lanes import exit_words
from tileviz.records import JobView, Trial
from tileviz.store import Store

SMALL = {"M": 64, "N": 64, "K": 64}


def run(store: Store, *args, timeout=120, **kwargs):
    """Submits, waits, and gives (job, trial)."""
    job = client.wait(store, client.submit(store, resolve(*args, **kwargs)), timeout=timeout)
    return job, store.trial(job.trial) if job.trial else None


@pytest.fixture
def store(home):
    return Store(home)


@pytest.fixture(scope="module")
def shared(shared_home):
    """Its engine has the real torch.compile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCH_COMPILE_DISABLE", "0")
        yield Store(shared_home)


def test_a_run_is_compiled_checked_timed_and_set_beside_pytorch(shared):
    job, trial = run(shared, "gemm", SMALL, target="cpu")
    assert (job.state, trial.status) == ("done", "ok")
    assert trial.verdict.ok and trial.verdict.rel_error < 1e-6
    assert trial.timing.n >= 3 and trial.timing.timer == "perf_counter" and trial.timing.l2 == "n/a"
    assert trial.tflops > 0
    assert shared.artifact(trial.artifact).source_language == "c"
    named = {b.name: b for b in trial.baselines}
    assert named["eager"].status == "ok" and named["eager"].speedup > 0
    assert named["torch_compile"].status == "ok", f"in a home called {shared.home.name}: {named['torch_compile'].reason}"
    assert named["torch_compile"].compile_s > 0.05, "it really compiled"
    assert {"compile", "check", "time"} <= set(job.phases)


def test_the_same_request_is_not_compiled_again(shared):
    run(shared, "vector_add", {"N": 1000}, target="cpu", baselines=False)
    job, trial = run(shared, "vector_add", {"N": 1000}, target="cpu", baselines=False)
    assert trial.status == "ok"
    assert "compile" not in job.phases


def test_a_result_carries_its_own_config(shared):
    first = client.submit(shared, resolve("gemm", SMALL, {"block_M": 32}, target="cpu", baselines=False))
    second = client.submit(shared, resolve("gemm", SMALL, {"block_M": 16}, target="cpu", baselines=False))
    trials = [shared.trial(client.wait(shared, job, timeout=120).trial) for job in (first, second)]
    assert [t.config["block_M"] for t in trials] == [32, 16]
    assert trials[0].artifact != trials[1].artifact


def test_a_compile_for_an_architecture_needs_no_gpu(shared):
    job, trial = run(shared, "gemm", SMALL, {"block_M": 64, "block_N": 64, "block_K": 32}, kind="compile", target="sm_90a")
    assert trial.status == "ok" and trial.device is None
    artifact = shared.artifact(trial.artifact)
    assert "__global__" in artifact.source
    assert artifact.instructions["source"]["tensor_core"] > 0
    assert job.artifact == trial.artifact


def test_the_source_is_there_before_the_rest(shared):
    request = resolve("gemm", {"M": 96, "N": 96, "K": 96}, {"block_M": 64, "block_N": 64, "block_K": 32}, kind="compile", target="sm_80")
    job = client.submit(shared, request)
    early = until(lambda: shared.job(job).artifact)
    assert shared.artifact(early).source
    assert client.wait(shared, job, timeout=120).state == "done"


def test_wrong_data_types_never_reach_the_compiler(shared):
    job, trial = run(shared, "gemm", {"dtype": "float16"}, target="cpu")
    assert (job.state, trial.status) == ("done", "unsupported")


def test_nan_in_the_data_is_no_failure_of_the_kernel(shared):
    _, trial = run(shared, "vector_add", {"N": 1000}, target="cpu", inputs="nan", baselines=False)
    assert trial.status == "ok"


def test_saved_arrays_can_be_checked_elsewhere(shared, tmp_path):
    _, trial = run(shared, "gemm", SMALL, target="cpu", baselines=False, save=str(tmp_path / "out.npz"))
    arrays = numpy.load(tmp_path / "out.npz")
    assert trial.status == "ok"
    numpy.testing.assert_allclose(arrays["out"], arrays["in0"] @ arrays["in1"], rtol=1e-3, atol=1e-4)


def test_cancel_kills_a_running_measurement_and_the_lane_goes_on(shared):
    job = client.submit(shared, resolve("gemm", {"M": 4096, "N": 4096, "K": 4096}, target="cpu", baselines=False))
    until(lambda: shared.job(job).phase in ("inputs and reference", "check", "time"))
    client.cancel(shared, job)
    view = client.wait(shared, job, timeout=120)
    assert view.state == "cancelled"
    assert shared.trial(view.trial).status == "cancelled"
    _, trial = run(shared, "vector_add", {"N": 1000}, target="cpu", baselines=False)
    assert trial.status == "ok"


def test_a_config_that_kills_its_process_harms_neither_the_one_before_nor_the_one_after(shared, shared_home):
    """A01, with single runs: the dead one alone says so."""
    from tests.conftest import processes_of

    def good():
        return run(shared, "vector_add", {"N": 1000}, target="cpu", baselines=False)[1]

    before = good()
    job = client.submit(shared, resolve("gemm", {"M": 2500, "N": 2500, "K": 2500}, target="cpu", baselines=False))
    until(lambda: shared.job(job).phase == "check")
    engine = psutil.Process(client.engine_pid(shared_home))
    fork_server = next(p for p in processes_of(shared_home) if p.ppid() == engine.pid)
    for child in fork_server.children():
        child.send_signal(signal.SIGSEGV)
    dead = shared.trial(client.wait(shared, job, timeout=120).trial)
    assert dead.status == "crashed" and "phase 'check': segmentation fault" in dead.reason
    after = good()
    assert [trial.status for trial in (before, after, shared.trial(before.trial))] == ["ok", "ok", "ok"]


def test_a_timeout_is_a_status_with_the_seconds(shared):
    _, trial = run(shared, "gemm", {"M": 6000, "N": 6000, "K": 6000}, target="cpu", baselines=False, timeout_s=6)
    assert trial.status == "timeout"
    assert "6 s" in trial.reason


def test_two_runs_on_one_device_are_never_measured_at_once(shared):
    jobs = [client.submit(shared, resolve("vector_add", {"N": 1000 + n}, target="cpu", baselines=False)) for n in range(3)]
    busy = set()
    while any(shared.job(job).active for job in jobs):
        measuring = [j.id for j in shared.jobs(active=True) if j.phase in ("check", "time")]
        busy.add(len(measuring))
        time.sleep(0.01)
    assert max(busy) <= 1
    assert all(shared.trial(shared.job(job).trial).status == "ok" for job in jobs)


def test_killing_the_engine_loses_nothing_and_leaves_no_process(store, home):
    from tests.conftest import processes_of

    _, done = run(store, "vector_add", {"N": 1000}, target="cpu", baselines=False)
    job = client.submit(store, resolve("gemm", {"M": 3000, "N": 3000, "K": 3000}, target="cpu", baselines=False))
    until(lambda: store.job(job).phase in ("inputs and reference", "check"))
    first = client.engine_pid(home)
    os.kill(first, signal.SIGKILL)
    until(lambda: not [p for p in processes_of(home)])
    assert store.trial(done.trial).status == "ok"
    assert store.job(job).state == "running"
    client._started.clear()
    client.watch(store, job)
    until(lambda: client.engine_pid(home) not in (None, 0, first))
    client.cancel(store, job)
    assert client.wait(store, job, timeout=120).state == "cancelled"


def test_an_idle_engine_goes_away_by_itself(store, home, monkeypatch):
    monkeypatch.setenv("TILEVIZ_ENGINE_IDLE", "0.5")
    run(store, "vector_add", {"N": 1000}, target="cpu", baselines=False)
    pid = client.engine_pid(home)
    until(lambda: is_gone(pid))


def test_a_second_engine_of_the_same_home_ends_at_once(shared, shared_home):
    import subprocess
    import sys

    from tileviz.engine.processes.lanes import package_root

    run(shared, "vector_add", {"N": 1000}, target="cpu", baselines=False)
    second = subprocess.run([sys.executable, "-m", "tileviz.engine"], cwd=package_root(), env=os.environ, timeout=120)
    assert second.returncode == 0
    assert client.engine_pid(shared_home) is not None


def test_a_measure_child_that_dies_between_two_runs_is_replaced(shared, shared_home):
    from tests.conftest import processes_of

    run(shared, "vector_add", {"N": 1000}, target="cpu", baselines=False)
    engine = psutil.Process(client.engine_pid(shared_home))
    fork_server = next(p for p in processes_of(shared_home) if p.ppid() == engine.pid)
    for child in fork_server.children():
        child.kill()
    _, trial = run(shared, "vector_add", {"N": 1000}, target="cpu", baselines=False, timeout_s=20)
    assert trial.status == "ok"


def test_a_job_that_comes_while_the_engine_ends_is_not_left_in_the_queue(store, monkeypatch):
    """Its client still saw an engine alive, so it started none."""
    lives = []

    class Ends:
        stopping = False

        def __init__(self, *_):
            lives.append(self)

        def run(self):
            if len(lives) == 1:
                store.submit("run", {})
                assert client.engine_pid(store.home) == os.getpid()
            else:
                store.finish(store.jobs(active=True)[0].id, "done")

    monkeypatch.setattr(server, "Engine", Ends)
    monkeypatch.setattr(server.signal, "signal", lambda *_: None)
    monkeypatch.setattr(server.toolchain, "configure_environment", lambda home: None)
    monkeypatch.setattr(server, "configure_children", lambda *_: None)
    assert server.serve(store.home) == 0
    assert len(lives) == 2 and not store.jobs(active=True)
    assert client.engine_pid(store.home) is None


def test_an_engine_that_ended_is_started_again_without_a_pause(store, monkeypatch):
    started = []

    def popen(*args, **kwargs):
        started.append(subprocess.Popen(["true"]))
        return started[-1]

    monkeypatch.setattr(client, "_started", {})
    monkeypatch.setattr(client, "subprocess", SimpleNamespace(Popen=popen, DEVNULL=subprocess.DEVNULL))
    client.ensure_engine(store.home)
    started[0].wait()
    client.ensure_engine(store.home)
    assert len(started) == 2


def test_what_fails_while_compiling_is_no_failure_at_run_time(store):
    task = CompileTask(SimpleNamespace(store=store), JobView("j", "compile", {}, "running"))
    task.trial, task.stage = Trial("t", "gemm", {}, {}, "sm_80", None, "ok"), "compile"
    task._failed("runtime_failed", "out of memory; use smaller sizes", "")
    assert store.trial("t").status == "compile_failed" and task.ended


def test_a_measuring_process_that_the_system_killed_is_told_with_what_its_problem_needs(store):
    lane = SimpleNamespace(drop=lambda: None)
    engine = SimpleNamespace(store=store, learn_exit=lambda child: None, lanes={"cpu": lane})
    task = RunTask(engine, JobView("j", "run", {}, "running"))
    task.request = resolve("gemm", {"M": 1 << 14, "N": 1 << 14, "K": 1 << 14}, devices=[cpu_device()])
    task.trial, task.stage, task.phase = Trial("t", "gemm", task.request.problem, {}, "cpu", "cpu", "ok"), "measure", "check"
    task.child = SimpleNamespace(death=lambda: exit_words(-signal.SIGKILL), pid=1)
    task._died(task.child)
    words = "perhaps by the system for lack of memory (the problem needs about 9.7 GB with its reference)"
    assert store.trial("t").status == "crashed" and store.trial("t").reason.endswith(words)


def test_a_job_that_cannot_even_be_cleared_away_ends_alone(store):
    class Stuck(Task):
        def begin(self):
            raise KeyError("device")

        def _kill(self):
            raise KeyError("lane")

    job = store.submit("run", {})
    task = Stuck(SimpleNamespace(store=store), store.job(job))
    task.guarded(task.begin)
    task.guarded(task.advance)
    assert task.ended and store.job(job).state == "failed" and "KeyError: 'device'" in store.job(job).reason


def test_an_idle_engine_of_other_files_or_compilers_makes_way_for_a_new_one(store, home):
    run(store, "vector_add", {"N": 1000}, target="cpu", baselines=False)
    first = client.engine_pid(home)
    (home / "engine.tag").write_text("what was here before a kernel was added")
    _, trial = run(store, "vector_add", {"N": 1001}, target="cpu", baselines=False)
    assert trial.status == "ok"
    assert client.engine_pid(home) not in (None, 0, first)
