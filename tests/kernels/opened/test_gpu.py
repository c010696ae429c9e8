"""What a script sees of the GPU that is not there."""

import pytest
import torch

from tileviz.kernels.opened import gpu


@pytest.mark.parametrize(
    ("args", "kwargs", "shape"),
    [
        ((2048, 1024), {}, (2048, 1024)),
        (((2048, 1024),), {"dtype": torch.float16}, (2048, 1024)),
        ((), {"size": [1 << 21]}, (1 << 21,)),
        ((64, 64), {}, None),
        ((2048, 1024), {"out": torch.empty(0)}, None),
        ((), {}, None),
    ],
)
def test_a_large_random_tensor_is_told_by_its_call(args, kwargs, shape):
    assert gpu.large_shape(args, kwargs) == shape


def test_a_large_random_tensor_repeats_its_values_and_is_as_asked():
    tensor = gpu.repeated(torch.randn, (3, gpu.DRAWN), {"dtype": torch.float16, "requires_grad": True})
    assert tensor.shape == (3, gpu.DRAWN) and tensor.dtype == torch.float16 and tensor.requires_grad and tensor.is_contiguous()
    assert torch.equal(tensor[0], tensor[2]) and 0.9 < tensor[0].detach().float().std().item() < 1.1
