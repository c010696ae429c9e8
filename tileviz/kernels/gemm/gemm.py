"""GEMM: C = A @ B in tiles, with a software pipeline of shared-memory stages and a float32 accumulator."""

from tileviz.kernels.gemm import persistent, pingpong, split_k, tcgen05, torch_calls
from tileviz.kernels.gemm import rules as gemm_rules
from tileviz.kernels.gemm.pipeline import Schedule
from tileviz.kernels.gemm.triton_calls import TRITON
from tileviz.kernels.toolkit import rules
from tileviz.kernels.toolkit.base import FLOAT_DTYPES, Choice, Kernel, Knob, Preset, Size, T
from tileviz.records import Cost

VARIANTS = ("plain", "persistent", "pingpong", "split_k", "tcgen05")

# the variants for Hopper whose warps are told apart by hand
HAND_MADE = {"persistent": persistent.block, "pingpong": pingpong.block, "split_k": split_k.block}


def program(
    M, N, K, dtype, layout,
    variant, block_M, block_N, block_K, num_stages, threads, store, policy, cluster, panel_size, enable_swizzle, blocks,
):  # fmt: skip
    if variant == "plain":
        return plain(
            M, N, K, dtype, layout, block_M, block_N, block_K, num_stages, threads, enable_swizzle, panel_size, policy, store
        )  # fmt: skip
    if variant == "tcgen05":
        return tcgen05.program(
            M, N, K, dtype, layout, block_M, block_N, block_K, num_stages, threads, enable_swizzle, panel_size
        )  # fmt: skip
    panel = panel_size if enable_swizzle else 1
    schedule = Schedule(
        M, N, K, dtype, layout, block_M, block_N, block_K, num_stages, threads, panel, policy, store, cluster, blocks
    )  # fmt: skip
    block = HAND_MADE[variant](schedule)

    @T.prim_func
    def gemm(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((N, K) if layout == "NT" else (K, N), dtype),
        C: T.Tensor((M, N), dtype),
    ):
        block(A, B, None, C)

    return gemm


def plain(M, N, K, dtype, layout, block_M, block_N, block_K, num_stages, threads, enable_swizzle, panel_size, policy, store):
    """One tile of C a block; TileLang itself sets loads and products in parallel."""
    transpose_B = layout == "NT"
    B_shape = (N, K) if transpose_B else (K, N)
    B_tile = (block_N, block_K) if transpose_B else (block_K, block_N)
    warp_policy = getattr(T.GemmWarpPolicy, policy)

    @T.prim_func
    def gemm(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor(B_shape, dtype),
        C: T.Tensor((M, N), dtype),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared(B_tile, dtype)
            acc = T.alloc_fragment((block_M, block_N), "float32")
            T.use_swizzle(panel_size, enable=enable_swizzle)
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, k * block_K], A_shared)
                if transpose_B:
                    T.copy(B[bx * block_N, k * block_K], B_shared)
                else:
                    T.copy(B[k * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, acc, transpose_B=transpose_B, policy=warp_policy)
            if store == "direct":
                T.copy(acc, C[by * block_M, bx * block_N])
            else:
                C_shared = T.alloc_shared((block_M, block_N), dtype)
                T.copy(acc, C_shared)
                T.copy(C_shared, C[by * block_M, bx * block_N])

    return gemm


def inputs(problem, randn):
    M, N, K, dtype = (problem[name] for name in ("M", "N", "K", "dtype"))
    B_shape = (N, K) if problem["layout"] == "NT" else (K, N)
    return randn(M, K, dtype=dtype), randn(*B_shape, dtype=dtype)


def output(problem):
    return (problem["M"], problem["N"]), problem["dtype"]


def reference(problem, A, B):
    return A @ (B.T if problem["layout"] == "NT" else B)


def cost(problem):
    M, N, K = problem["M"], problem["N"], problem["K"]
    size = rules.DTYPE_BYTES[problem["dtype"]]
    return Cost(
        flops=2 * M * N * K,
        bytes=(M * K + K * N + M * N) * size,
        flops_formula="2 M N K",
        bytes_formula="(M K + K N + M N) size",
    )


def estimate(problem, config, target):
    return gemm_rules.estimate(problem, config, target)


def canonical(problem, config, target):
    return gemm_rules.canonical(problem, config, target)


def suggest(problem, target):
    """The tile that suits the problem on Hopper, else the target's, where it fits. float32 takes twice the shared memory, so it goes half
    as deep, then with fewer stages."""
    if not target.is_cuda:
        return {}
    own = KERNEL.default_configs.get(target.name, {})
    if own.get("variant") == "tcgen05" and tcgen05.cannot(problem, target):
        own = {}
    usual = {k.name: k.default for k in KERNEL.knobs} | own
    depth, stages = usual["block_K"], usual["num_stages"]
    ladder = [(depth, stages), (depth // 2, stages), *((depth // 2, n) for n in range(stages - 1, -1, -1))]
    ours = [{**usual, **gemm_rules.usual_on_hopper(problem)}] if target.name == "sm_90a" else []
    return rules.first_that_fits(estimate, problem, target, (*ours, *({**usual, "block_K": k, "num_stages": n} for k, n in ladder)))


KERNEL = Kernel(
    name="gemm",
    title="GEMM",
    summary="C = A @ B: tiles of A and B through shared memory, tensor cores where there are any, float32 accumulator.",
    program=program,
    fields=(
        Size("M", 4096, help="rows of C"),
        Size("N", 4096, help="columns of C"),
        Size("K", 4096, help="length of each dot product"),
        Choice("dtype", FLOAT_DTYPES, "float16"),
        Choice("layout", ("NN", "NT"), "NN", help="NN: B is stored (K, N); NT: B is stored (N, K)"),
    ),
    knobs=(
        Knob(
            "variant",
            VARIANTS,
            default="plain",
            help="plain: a block for each tile. persistent: one block for each SM, loads run ahead over tiles; pays from 100 tiles on."
            " pingpong: two warp groups take turns; pays where K is short or the activation long. split_k: a cluster shares the depth, for"
            " few tiles; has not paid on an H200. These three for sm_90a. tcgen05: sums in tensor memory (sm_100a, sm_103a), compiled and"
            " read, never run by us",
            only={**dict.fromkeys(HAND_MADE, ("sm_90a",)), "tcgen05": tcgen05.TARGETS},
        ),
        Knob("block_M", (64, 128, 256), default=128, help="rows of C per block"),
        Knob("block_N", (64, 128, 256), default=128, help="columns of C per block"),
        Knob("block_K", (32, 64, 128), default=64, help="depth of one pipeline step"),
        Knob("num_stages", (0, 1, 2, 3, 4), default=3, minimum=0, maximum=64, help="shared-memory buffers in flight"),
        Knob("threads", (128, 256), default=256, minimum=32, maximum=4096, step=32, help="threads per block, without the producer warps"),
        Knob(
            "store",
            ("direct", "shared", "halves"),
            default="direct",
            help="C from registers, or through shared memory: pays on Hopper, where TMA carries it; halves: half the tile at a time",
            only={"halves": ("sm_90a",)},
        ),
        Knob(
            "policy",
            ("Square", "FullRow"),
            default="Square",
            help="how warps share a tile: in squares, or whole rows each: pays on Hopper, where 64 x 256 is the largest wgmma",
            only={"FullRow": ("sm_90a",)},
        ),
        Knob(
            "cluster",
            (1, 2, 4),
            default=1,
            maximum=8,
            help="blocks that get columns of B by one load: pays where L2 is the limit; with split_k, those that share the depth",
            only={2: ("sm_90a",), 4: ("sm_90a",)},
        ),
        Knob("panel_size", (4, 8, 10, 16), default=10, help="width of a panel, in blocks"),
        Knob("enable_swizzle", (True, False), default=True, help="visit blocks in panels, for L2 reuse"),
        Knob("blocks", (132,), default=132, maximum=1024, help="blocks of a persistent grid: as many as there are SMs"),
    ),
    inputs=inputs,
    output=output,
    reference=reference,
    cost=cost,
    estimate=estimate,
    canonical=canonical,
    accumulate=lambda problem: problem["K"],
    math_mode=rules.gemm_math_mode,
    defaults={"cpu": {"M": 512, "N": 512, "K": 512, "dtype": "float32"}},
    default_configs={
        "cpu": {"block_M": 64, "block_N": 64, "block_K": 32, "num_stages": 0, "threads": 128},
        "sm_70": {"block_K": 32, "num_stages": 0},
        "sm_75": {"block_K": 32, "num_stages": 2},
        "sm_80": {"block_K": 32, "num_stages": 4, "threads": 128},
        "sm_86": {"block_K": 32},
        "sm_89": {"block_K": 32},
        "sm_90a": {"block_N": 256, "block_K": 64, "num_stages": 4, "store": "shared", "policy": "FullRow", "panel_size": 8},
        "sm_100a": tcgen05.USUAL,
        "sm_103a": tcgen05.USUAL,
        "sm_120a": {"block_K": 32},
    },
    suggest=suggest,
    presets=(
        Preset("square 512", {"M": 512, "N": 512, "K": 512}),
        Preset("square 4096", {"M": 4096, "N": 4096, "K": 4096}, kind="cuda"),
        Preset("square 8192", {"M": 8192, "N": 8192, "K": 8192}, kind="cuda"),
        Preset("small K", {"M": 8192, "N": 8192, "K": 256}, kind="cuda"),
        Preset("odd sizes", {"M": 250, "N": 231, "K": 243}),
    ),
    baselines=(*torch_calls.matmul_baselines(torch_calls.matmul), TRITON),
)
