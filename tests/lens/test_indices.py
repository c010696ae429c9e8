"""Indices past 32 bits: what TileLang 0.1.15 wrote for real programs, and what only looks like it."""

import pytest

from tileviz.lens.checks import Code, checks
from tileviz.lens.indices import Access, Indices, Tensor, indices

LARGE = ({"name": "A", "shape": [70_000, 65_536], "dtype": "float16"}, {"name": "C", "shape": [128], "dtype": "float16"})
ELEMENTS = 70_000 * 65_536

# what TileLang made of C[i] = A[60000, i], and of C[0] = A[60000, 5]
PARALLEL = "  C[((int)threadIdx.x)] = A[(((int)threadIdx.x) - 362807296)];"
SINGLE = "  C[0] = A[-362807291];"
WIDE = "  *(uint4*)(Y_local + 0) = *(uint4*)(A + ((((int64_t)((int)blockIdx.x)) * (int64_t)65536) - ((int64_t)16777216)));"


@pytest.mark.parametrize("line, access", [(PARALLEL, "A[(((int)threadIdx.x) - 362807296)]"), (SINGLE, "A[-362807291]")])
def test_a_constant_that_came_out_negative_is_found_with_its_line(line, access):
    assert indices(f"void f() {{\n{line}\n}}", LARGE) == Indices((Tensor("A", ELEMENTS),), (Access(2, access),))


@pytest.mark.parametrize("line", [WIDE, "  A[(((int)threadIdx.x) - 65536)] = A_shared[-362807291];", "  C[(i - 362807296)] = x;"])
def test_an_offset_to_a_neighbour_another_buffer_and_64_bits_are_not(line):
    assert indices(line, LARGE) == Indices((Tensor("A", ELEMENTS),))


def test_a_tensor_whose_size_is_not_known_may_be_large():
    unknown = ({"name": "A", "shape": ["n"], "dtype": "float16"},)
    assert indices(SINGLE, unknown).wrapped and not indices(SINGLE, unknown).large
    assert indices(SINGLE, ({"name": "A", "shape": [2**31 - 1], "dtype": "float16"},)) == Indices()


@pytest.mark.parametrize("target, capability", [("sm_80", (8, 0)), ("cpu", (0, 0))])
def test_what_wrapped_is_a_bad_check_with_its_line_and_what_is_only_large_a_plain_one(target, capability):
    wrapped = checks(Code(target, capability, f"\n{SINGLE}\n{PARALLEL}", tensors=LARGE))[-1]
    assert (wrapped.name, wrapped.tone, wrapped.found) == ("index_width", "bad", True)
    assert wrapped.reason.startswith("line 2, `A[-362807291]`, and 1 more: a constant index past 32 bits came out negative")
    large = checks(Code(target, capability, WIDE, tensors=LARGE))[-1]
    assert (large.name, large.tone) == ("index_width", "plain") and large.reason.startswith("A has 4,587,520,000 elements")


def test_c_of_the_cpu_target_has_no_other_check():
    assert checks(Code("cpu", (0, 0), SINGLE, tensors=())) == ()
