"""After timing the inputs change in place: programs with a memory are caught, and launch after launch is compared bit by bit."""

from dataclasses import replace

import pytest
import torch

from tests.asked import resolve
from tileviz.bench.timers import PerfCounter, Plan
from tileviz.engine.jobs.measurement import Measurement
from tileviz.engine.sweeps.measure import Bench
from tileviz.measured import Determinism
from tileviz.records import Device, Trial

CPU = Device("cpu", "CPU", "cpu")
TRIAL = Trial("t", "softmax", {}, {}, "cpu", "cpu", "ok")


def right(X, Y):
    Y.copy_(torch.softmax(X, 1))


class KeepsItsFirst:
    """Computes once, and copies that from then on."""

    def __init__(self):
        self.kept = None

    def __call__(self, X, Y):
        if self.kept is None:
            self.kept = torch.softmax(X, 1)
        Y.copy_(self.kept)


class KnowsTheAddress(KeepsItsFirst):
    """Computes again only for other tensors, which the same values in another place would not tell from a right program."""

    def __call__(self, X, Y):
        if getattr(self, "seen", None) != (X.data_ptr(), Y.data_ptr()):
            self.kept, self.seen = None, (X.data_ptr(), Y.data_ptr())
        super().__call__(X, Y)


class WorksOnce:
    """Nothing is done from the second launch on."""

    def __init__(self):
        self.launches = 0

    def __call__(self, X, Y):
        self.launches += 1
        if self.launches == 1:
            right(X, Y)


class Wavers(WorksOnce):
    """Every third launch rounds one element otherwise, as an atomic sum may."""

    def __call__(self, X, Y):
        self.launches += 1
        right(X, Y)
        if self.launches % 3 == 0:
            Y[3, 5] *= 1 + 2**-23


def request(**more):
    return resolve("softmax", {"M": 8, "N": 100, "dtype": "float32"}, {}, devices=[CPU], device="cpu", kind="run", baselines=False, **more)


def planted(kind, program):
    """A Measurement or a Bench whose executable is this program; it is timed for an instant."""

    class Planted(kind):
        def _executable(self):
            return program

        def _fingerprint(self):
            return {}

    def made(*args):
        found = Planted(*args)
        found.timer = PerfCounter()
        found.timer.plan = Plan(1, 0.05, 3, 3)
        return found

    return made


def run(program, **more):
    measurement = planted(Measurement, program)(request(**more), TRIAL, lambda *_: None)
    return measurement, measurement.run(measure=True, skip=())


def test_a_right_program_stays_right_and_gives_the_same_bits():
    _, trial = run(right)
    assert trial.status == "ok" and trial.verdict.ok and trial.timing.n == 3
    assert trial.verdict.determinism == Determinism(launches=10, differing=0)


@pytest.mark.parametrize("kind", ["normal", "zeros", "ones", "integers", "nan"])
@pytest.mark.parametrize("program", [KeepsItsFirst, KnowsTheAddress])
def test_a_program_that_gives_back_a_saved_result_is_wrong_whatever_the_inputs(program, kind):
    _, trial = run(program(), inputs=kind)
    assert trial.status == "wrong_result" and trial.timing is None
    assert trial.reason == "right at first, then gave back what it had computed before, though its inputs had changed"
    assert not trial.verdict.ok and trial.verdict.determinism is None


def test_a_program_that_works_once_is_wrong():
    _, trial = run(WorksOnce())
    assert trial.status == "wrong_result" and trial.timing is None
    assert trial.reason.startswith("right at first, wrong after timing: never written: every element")


def test_an_element_that_wavers_is_counted_and_the_result_is_right():
    _, trial = run(Wavers())
    assert trial.status == "ok" and trial.verdict.ok and trial.verdict.determinism == Determinism(10, 1)


def test_the_change_stays_in_place_and_is_undone():
    measurement, _ = run(right)
    before, at = measurement.inputs[0].clone(), measurement.inputs[0].data_ptr()
    truth = measurement.truth
    measurement._change_inputs()
    assert measurement.inputs[0].data_ptr() == at and not (measurement.inputs[0] == before).any()
    assert measurement.truth is not truth and (measurement.truth.reference != truth.reference).any()
    measurement._change_inputs()
    assert torch.equal(measurement.inputs[0], before) and measurement.truth is truth


def test_a_sweep_catches_them_too_and_the_next_config_finds_the_inputs_as_they_were():
    asked = request()
    bench = planted(Bench, KeepsItsFirst())(asked)
    wrong = bench.measured(asked, TRIAL, lambda *_: None, None, False)
    assert wrong.status == "wrong_result" and "then gave back what it had computed before" in wrong.reason
    bench._executable = lambda: right
    found = bench.measured(asked, replace(TRIAL, trial="next"), lambda *_: None, None, False)
    assert found.status == "ok" and found.timing.n >= 1 and found.verdict.determinism is None, "told for finalists alone"


def test_finalists_are_launched_ten_times():
    asked = request()
    other = replace(asked, config={**asked.config, "block_M": 2})
    bench = planted(Bench, right)(asked)
    first = bench.measured(asked, TRIAL, lambda *_: None, None, False)
    bench._executable = Wavers
    second = bench.measured(other, replace(TRIAL, trial="u"), lambda *_: None, None, False)
    trials, _ = bench.finals([(asked, first), (other, second)], lambda *_: None)
    assert [trial.verdict.determinism for trial in trials] == [Determinism(10, 0), Determinism(10, 1)]
