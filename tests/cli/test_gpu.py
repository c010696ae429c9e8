"""The command line on a real GPU."""

import pytest

from tests.conftest import tileviz
from tileviz import kernels

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("shared_home")]


@pytest.mark.parametrize("name", kernels.names())
def test_every_kernel_is_right_and_timed_on_its_default_problem(name):
    done = tileviz("run", name, "--device", "cuda:0", "--no-baselines", "--json", timeout=200)
    found = done.json
    assert done.status == 0, done.err
    assert found["verdict"]["ok"] and found["timing"]["median_us"] > 0 and found["timing"]["l2"] == "cold"
    assert found["roofline"]["fraction"] is not None and found["fingerprint"]["driver"]


def test_the_first_gpu_is_taken_by_default():
    assert tileviz("run", "vector_add", "-p", "N=1000003", "--no-baselines", "--json").json["device"] == "cuda:0"


def test_warm_l2_is_said():
    done = tileviz("run", "vector_add", "-p", "N=1000003", "--no-baselines", "--l2", "warm", "--json")
    assert done.status == 0 and done.json["timing"]["l2"] == "warm"


def test_a_write_flush_is_said_and_costs_a_memory_bound_kernel():
    run = lambda flush: tileviz(
        "run", "vector_add", "-p", "N=4194304", "-p", "dtype=float32", "--no-baselines", "--flush", flush, "--json"
    ).json["timing"]
    read, write, none = map(run, ("read", "write", "none"))
    assert (read["flush"], read["l2"]) == ("read", "cold") and (write["flush"], write["l2"]) == ("write", "cold")
    assert (none["flush"], none["l2"]) == ("none", "warm")
    assert write["median_us"] > 1.05 * read["median_us"]
