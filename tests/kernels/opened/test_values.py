"""Arguments as JSON and as words."""

import json
import math

import pytest
import torch

from tileviz.kernels.opened import values


@pytest.mark.parametrize(
    ("value", "stored", "dtype", "words"),
    [
        (4, 4, "int", "4"),
        (True, True, "bool", "True"),
        (None, None, "none", "None"),
        (0.5, 0.5, "float", "0.5"),
        (math.inf, {"float": "inf"}, "float", "inf"),
        ("sum", "sum", "text", "sum"),
        (torch.float16, {"dtype": "float16"}, "dtype", "float16"),
        (torch.Size((2, 3)), {"tuple": [2, 3]}, "tuple", "(2, 3)"),
        ([(1,), None], {"list": [{"tuple": [1]}, None]}, "list", "[(1), None]"),
        ({"a": 1}, {"dict": [["a", 1]]}, "dict", "{a: 1}"),
        ((), {"tuple": []}, "tuple", "()"),
    ],
)
def test_a_value_is_kept_with_what_it_is(value, stored, dtype, words):
    assert values.stored(value) == json.loads(json.dumps(values.stored(value))) == stored
    assert values.is_kept(stored) and values.dtype_of(stored) == dtype and values.words(stored) == words


def test_what_cannot_be_kept_says_its_type():
    stored = values.stored((1, object()))
    assert stored == {"tuple": [1, {"unkept": "object"}]} and not values.is_kept(stored)
