"""Vector add on the CPU target is exact, whatever the length."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.run_cpu import run


@pytest.mark.parametrize("N", [1, 1023, 1024, 1025])
def test_every_element_is_exact(N):
    output, reference = run("vector_add", {"N": N}, {"block_N": 256})
    assert torch.equal(output, reference.float())


@given(values=st.lists(st.floats(width=32), min_size=37, max_size=37))
@settings(max_examples=8, deadline=None)
def test_any_values_add_as_numpy_adds_them(values):
    A = torch.tensor(values, dtype=torch.float32)
    B = A.flip(0).contiguous()
    output, _ = run("vector_add", {"N": 37}, {"block_N": 64}, (A, B))
    torch.testing.assert_close(output, A + B, rtol=0, atol=0, equal_nan=True)
