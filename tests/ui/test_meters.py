"""The live rules: what a config takes, in the words of the field."""

from tileviz.compiler.targets import target
from tileviz.records import Estimate
from tileviz.ui.form.meters import meters


def words(estimate, where):
    return [m.text for m in meters(estimate, target(where))]


def test_shared_memory_is_shown_against_the_limit_of_a_block():
    found = meters(Estimate(shared_bytes=98304, threads=256), target("sm_90a"))[0]
    assert found.text == "shared memory 98,304 of 232,448 B"
    assert abs(found.used - 98304 / 232448) < 1e-9


def test_over_the_limit_is_over_one():
    assert meters(Estimate(shared_bytes=196608), target("sm_89"))[0].used > 1


def test_threads_say_what_is_asked_and_what_comes_on_top():
    assert "384 threads (256 + 128 producer, estimated)" in words(Estimate(threads=256, producer_threads=128), "sm_90a")
    assert "256 threads" in words(Estimate(threads=256), "sm_80")


def test_the_accumulator_is_shown_in_registers_a_thread():
    assert "accumulator 64 registers a thread" in words(Estimate(accumulator_registers=64), "sm_80")


def test_the_cpu_shows_its_stack_and_nothing_of_a_gpu():
    assert words(Estimate(stack_bytes=32768, threads=128), "cpu") == ["tiles on the stack 32,768 of 4,194,304 B"]
