"""TileLang's CUDA text, or C for the CPU target, and the calls in it that matter: whole names before their
arguments, never in includes or comments."""

import re

from tileviz.texts.base import Found, Reader, Text

_TRANSPOSED = ("", "_trans")
_LDMATRIX = [f"ptx_ldmatrix_x{n}{end}" for n in (1, 2, 4) for end in _TRANSPOSED]
_STMATRIX = [f"ptx_stmatrix_{tile}x{n}{end}" for tile in ("", "m8n8_", "m16n8_") for n in (1, 2, 4) for end in _TRANSPOSED]
_TENSOR_MEMORY = [f"tcgen05_{way}_{rows}dp{bits}bNx" for way in ("ld", "st") for rows in (16, 32) for bits in (32, 64, 128, 256)]
_TENSOR_MEMORY += ["tcgen05_cp", "tcgen05_cp_warpx4", "tcgen05_sf_warp_transpose"]

CUDA_CALLS = {
    "tensor_core": (
        "mma_sync mma_sync_sm70 mma_sp_sync sm120_mma_sync_blockscaled wgmma_ss wgmma_rs wgmma_sp_ss wgmma_sp_rs"
        " tcgen05mma_ss tcgen05mma_ts tcgen05mma_ws_ss tcgen05mma_blockscaled_ss gemm_ss gemm_rs gemm_sr"
    ),
    "async_copy": (
        "cp_async_gs cp_async_gs_conditional tma_load tma_load_2sm tma_load_multicast tma_load_gather4 tma_load_im2col"
        " tma_store tma_store_add tma_store_cluster tma_store_scatter4"
    ),
    "matrix_load_store": " ".join([*_LDMATRIX, *_STMATRIX, *_TENSOR_MEMORY]),
    "barrier": (
        "__syncthreads __syncwarp __threadfence __threadfence_block __sync_thread_partial __named_barrier_arrive syncthreads_partial"
        " cp_async_commit cp_async_wait tma_store_arrive tma_store_wait fence_barrier_init fence_proxy_async prefetch_tma_descriptor"
        " mbarrier_init mbarrier_wait mbarrier_try_wait mbarrier_test_wait mbarrier_arrive mbarrier_expect_tx mbarrier_arrive_expect_tx"
        " mbarrier_cp_async_arrive mbarrier_cp_async_arrive_noinc arrive_barrier_expect_tx"
        " warpgroup_arrive warpgroup_commit_batch warpgroup_wait warpgroup_fence_operand wait_wgmma"
        " tcgen05_mma_arrive tcgen05_before_thread_sync tcgen05_after_thread_sync fence_view_async_tmem_load fence_view_async_tmem_store"
        " cluster_arrive cluster_arrive_relaxed cluster_wait cluster_sync cudaGridDependencySynchronize"
        " cudaTriggerProgrammaticLaunchCompletion"
    ),
    "global_load": "__ldg " + " ".join(f"load_global_{n}{end}" for n in (32, 64, 128, 256) for end in ("", "_conditional")),
    "global_store": " ".join(f"store_global_{n}{end}" for n in (32, 64, 128, 256) for end in ("", "_conditional")),
    "shared_load": "load_shared_32 load_shared_64 load_shared_128",
    "shared_store": "store_shared_32 store_shared_64 store_shared_128 st_bulk_shared",
    "shuffle": (
        "__shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync shfl_sync shfl_up_sync shfl_down_sync shfl_xor_sync"
        " __ballot_sync __any_sync __all_sync __match_any_sync __reduce_add_sync tl_shuffle_elect AllReduce SharedReduceWarp"
        " warp_reduce_sum warp_reduce_max warp_reduce_min warp_reduce_bitand warp_reduce_bitor CumSum1D CumSum2D CumMax1D CumMax2D"
    ),
    "special_function": (
        "__expf __exp2f __exp10f __logf __log2f __log10f __sinf __cosf __tanf __powf __frcp_rn __fsqrt_rn __frsqrt_rn __fdividef"
        " exp expf exp2 exp2f exp10f log logf log2 log2f log10f log1pf sinf cosf tanf tanh tanhf erf erff pow powf sqrt sqrtf rsqrt rsqrtf"
        " hexp hexp2 hexp10 hlog hlog2 hlog10 hsqrt hrsqrt hrcp hsin hcos htanh herf hpow h2exp h2exp2 fast_rcp"
    ),
    "register_realloc": "warpgroup_reg_alloc warpgroup_reg_dealloc tmem_allocate tmem_deallocate",
    "atomic": (
        "atomicAdd atomicMax atomicMin atomicCAS atomicExch atomicOr atomicAnd atomicXor AtomicAdd AtomicAddRet AtomicAddx2 AtomicAddx2Ret"
        " AtomicAddx4 AtomicAddx4Ret AtomicMax AtomicMaxRet AtomicMin AtomicMinRet AtomicOr AtomicLoad AtomicStore"
    ),
    "trap": "__trap device_assert device_assert_with_msg assert",
}

C_CALLS = {
    "special_function": CUDA_CALLS["special_function"],
    "atomic": CUDA_CALLS["atomic"],
    "trap": "abort assert __builtin_trap",
}

BARRIER_METHODS = "init wait try_wait test_wait arrive arrive_and_expect_tx expect_transaction arrive_and_wait"

CUDA_CLASSES = frozenset(CUDA_CALLS)
C_CLASSES = frozenset(C_CALLS)

# tl::wgmma_ss<tl::DataType::kFloat16, 64, 64, 16, false, true, 1, 1>(uint64_t(desc_a), ...);     __syncthreads();
# tl::AllReduce<tl::MaxOp, 4, 1, 0>::run(scores_max[0]);     mbarrier[(k % 3)].wait(0);
_CALL = re.compile(r"(?<!\w)(?<!\w\.)(?<!\]\.)([A-Za-z_]\w*)(?=\s*(?:<[^;(){}]*>)?(?:::\w+)?\s*\()")
_METHOD = re.compile(rf"(?<=[\w\])]\.)({BARRIER_METHODS.replace(' ', '|')})(?=\s*\()")

# /* comment */    // comment    "text"    #include <tl_templates/cuda/instruction/wgmma.h>
_NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|^[ \t]*#[^\n]*', re.S | re.M)


def blank_comments(text: str) -> str:
    """The text with comments, strings and preprocessor lines as spaces, so that columns stay."""
    return _NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def cuda_calls(line: str) -> list[Found]:
    found = _calls(line, _CUDA_NAMES)
    if "." in line:
        found += [(*match.span(1), "barrier") for match in _METHOD.finditer(line)]
        found.sort()
    return found


def c_calls(line: str) -> list[Found]:
    return _calls(line, _C_NAMES)


def _calls(line: str, names: dict[str, str]) -> list[Found]:
    if "(" not in line:
        return []
    return [(*match.span(1), names[match[1]]) for match in _CALL.finditer(line) if match[1] in names]


def _by_name(calls: dict[str, str]) -> dict[str, str]:
    return {name: cls for cls, names in calls.items() for name in names.split()}


_CUDA_NAMES = _by_name(CUDA_CALLS)
_C_NAMES = _by_name(C_CALLS)

# for (int i_3 = 0; i_3 < 2; ++i_3)      float2 __12;      broadcast_var_4     desc_b_1
COUNTERS = re.compile(r"\b(i|k|ki|rv|v_?|_|broadcast_var|desc_[ab])_\d+\b")

TEXTS = (
    Text(
        name="source",
        title="CUDA",
        language="cuda",
        extension="cu",
        file="source.cu",
        # extern "C" __global__ void gemm_kernel(...) {
        reader=Reader(blank_comments, cuda_calls, CUDA_CLASSES, re.compile(r"^extern .*\{$", re.M), COUNTERS),
        made="lowered",
        targets="cuda",
    ),
    Text(
        name="source",
        title="C",
        language="c",
        extension="c",
        file="source.c",
        # int32_t gemm_kernel(...) {
        reader=Reader(blank_comments, c_calls, C_CLASSES, re.compile(r"^\w[^;\n]*\{$", re.M), COUNTERS),
        made="lowered",
        targets="cpu",
    ),
)
