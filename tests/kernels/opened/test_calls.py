"""Shapes of blank outputs."""

import pytest

from tileviz.kernels.opened.calls import BLANK, extent_of


@pytest.mark.parametrize(
    ("extent", "elements"),
    [
        (7, 7),
        ("N", 100),
        ("T.ceildiv(N, 64)", 2),
        ("T.max(N, 4) * 2", 200),
        ("T.int64(N) // 16 + 1", 7),
        ("unheard_of", BLANK),
        ("N // 0", BLANK),
        ("__import__('os').getpid()", BLANK),
    ],
)
def test_an_extent_is_told_by_the_sizes_of_the_tensors_handed_over(extent, elements):
    assert extent_of(extent, {"N": 100}) == elements
