"""Calls in CUDA and C text: whole names only, in code only."""

import pytest

from tileviz import lens


def hits(text: str, language: str = "cuda") -> list[tuple[str, str]]:
    return [(line.text[hit.start : hit.end], hit.cls) for line in lens.listing(text, language).lines for hit in line.hits]


@pytest.mark.parametrize(
    "line, expected",
    [
        ("tl::mma_sync<tl::DataType::kFloat16, 16, 8, 16, false, true>(a, b, c);", [("mma_sync", "tensor_core")]),
        ("tl::mma_sync_sm70<tl::DataType::kFloat16, 16, 16, 4>(a, b, c);", [("mma_sync_sm70", "tensor_core")]),
        ("tl::wgmma_rs<tl::DataType::kFloat16, 64, 128, 16>(a, uint64_t(desc_b), c, 1);", [("wgmma_rs", "tensor_core")]),
        ("tl::tcgen05mma_ss<tl::DataType::kBFloat16, false>(a, b, c);", [("tcgen05mma_ss", "tensor_core")]),
        ("tl::cp_async_gs_conditional<16>(d, s, p);", [("cp_async_gs_conditional", "async_copy")]),
        ("tl::tma_store(C_desc, p, x, y); tl::tma_store_arrive(); tl::tma_store_wait<0>();",
         [("tma_store", "async_copy"), ("tma_store_arrive", "barrier"), ("tma_store_wait", "barrier")]),
        ("tl::ptx_ldmatrix_x4_trans((&(B[0])), b);", [("ptx_ldmatrix_x4_trans", "matrix_load_store")]),
        ("tl::ptx_stmatrix_m8n8_x4(p, v);", [("ptx_stmatrix_m8n8_x4", "matrix_load_store")]),
        ("tl::tcgen05_ld_32dp32bNx<64, false>(c, 0, o);", [("tcgen05_ld_32dp32bNx", "matrix_load_store")]),
        ("mbarrier[((k % 3) + 3)].wait((((k % 6) / 3) ^ 1));", [("wait", "barrier")]),
        ("mbarrier[(k % 3)].arrive_and_expect_tx(16384);", [("arrive_and_expect_tx", "barrier")]),
        ("tl::warpgroup_reg_alloc<240>();", [("warpgroup_reg_alloc", "register_realloc")]),
        ("s = tl::AllReduce<tl::MaxOp, 4, 1, 0, tl::NamedBarrier<128>>::run(s);", [("AllReduce", "shuffle")]),
        ("x = exp2f((y * 1.44f));", [("exp2f", "special_function")]),
        ("AtomicAdd((&(C[0])), v);", [("AtomicAdd", "atomic")]),
        ("__syncthreads();", [("__syncthreads", "barrier")]),
    ],
)  # fmt: skip
def test_a_call_is_found_by_its_whole_name(line, expected):
    assert hits(line) == expected


@pytest.mark.parametrize(
    "text",
    [
        "#include <tl_templates/cuda/instruction/wgmma.h>",
        "#define mma_sync(x) x",
        "// tl::mma_sync<16>(a) is what this replaces",
        "/* tl::tma_load(desc);\n tl::wgmma_ss<1>(a); */",
        'printf("tl::mma_sync(%d)", 1);',
        "float mma_sync = 0; my_mma_sync(a); mma_sync_2(b); expf_table[1] = 2;",
        "object.exp(1); tl::GmmaDescriptor desc_a;",
        "int wait = 3; int init;",
    ],
)
def test_what_is_no_call_is_not_counted(text):
    assert hits(text) == []


def test_a_hit_stands_at_its_own_columns_also_after_a_comment():
    line = "x = 1; /* one */ __syncthreads();"
    (hit,) = lens.listing(line, "cuda").lines[0].hits
    assert line[hit.start : hit.end] == "__syncthreads"


def test_c_text_shows_its_mathematics_and_no_gpu_call():
    assert hits("y = expf(x) + tanhf(x);", "c") == [("expf", "special_function"), ("tanhf", "special_function")]
    assert hits("__syncthreads();", "c") == []
