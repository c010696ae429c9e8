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
