"""Rules of the GEMM variants: TileLang's own pipeline (plain), and the hand-made ones (persistent, pingpong, split_k)."""

from tileviz.kernels.gemm import tcgen05
from tileviz.kernels.toolkit import rules, tiles
from tileviz.kernels.toolkit.rules import DTYPE_BYTES, joined
from tileviz.records import Config, Estimate, Target

WARP_GROUP = 128


def estimate(problem, config: Config, target: Target) -> Estimate:
    """What is known of a GEMM's config before compiling."""
    if config["variant"] == "plain":
        return tile_gemm(problem, config, target)
    if config["variant"] == "tcgen05":
        return tcgen05.estimate(problem, config, target)
    return hand_made(problem, config, target)


def tile_gemm(problem, config, target: Target) -> Estimate:
    """Rules of a tiled GEMM: A and B tiles in shared memory for every stage, a float32 accumulator in registers.

    Shared memory is `max(num_stages, 1) (block_M block_K + block_K block_N) size`, plus 1,024 B of barriers where tiles come by TMA.
    """
    M, N, K = (config[name] for name in ("block_M", "block_N", "block_K"))
    dtype, size, asked, stages = problem["dtype"], DTYPE_BYTES[problem["dtype"]], config["threads"], config["num_stages"]
    if target.kind == "cpu":
        stack = (M * K + K * N) * size + M * N * (4 if config["store"] == "direct" else 4 + size)
        broken = joined(rules.cpu_stack(stack, target))
        return Estimate(threads=asked, stack_bytes=stack, broken=broken, notes=rules.masked(problem, config))
    copies = gemm_copies(problem, config)
    producers = tiles.producer_threads(copies, asked, stages, target, config)
    pipeline, staged = max(stages, 1) * (M * K + K * N) * size, M * N * size if config["store"] != "direct" else 0
    shared = max(pipeline, staged) + (rules.BARRIER_BYTES if producers else 0)
    instruction = tiles.matrix_instruction(M, N, K, dtype, asked, target, config)
    transposed = problem["layout"] == "NT"
    columns = tiles.wgmma_columns(M, N, asked, transposed, config["policy"]) if instruction == "wgmma" else None
    rows = problem["M"], problem["N"] if transposed else problem["K"]
    accumulator = rules.ceildiv(M * N, asked)
    return Estimate(
        shared_bytes=shared,
        accumulator_registers=accumulator,
        threads=asked,
        producer_threads=producers,
        broken=joined(
            tiles.warp_split(M, N, asked, instruction, config["policy"]),
            columns,
            tiles.wgmma_registers(M, N, asked, asked + producers, config["policy"]) if instruction == "wgmma" else None,
            tiles.product_step(K, dtype, instruction, target),
            *(tiles.odd_row(n, c, stages, producers, target, config) for c, n in zip(copies, rows, strict=True)),
            rules.shared_memory(shared, target, config),
            rules.threads(asked, producers, target),
            rules.grid(rules.ceildiv(problem["M"], M), "y", "use a larger block_M", target),
        ),
        notes=joined(
            rules.accumulator_note(accumulator, target),
            _scalar_note(instruction, dtype, target),
            *tiles.copy_notes(copies, stages, producers, target),
            *rules.masked(problem, config),
        ),
    )


def gemm_copies(problem, config) -> tuple[tiles.Copy, ...]:
    size = DTYPE_BYTES[problem["dtype"]]
    a = tiles.Copy("A", problem["K"], config["block_K"], size)
    if problem["layout"] == "NT":
        return a, tiles.Copy("B", problem["K"], config["block_K"], size)
    return a, tiles.Copy("B", problem["N"], config["block_N"], size)


def _scalar_note(instruction: str, dtype: str, target: Target) -> str | None:
    return f"{target.name} has no tensor core for {dtype}: scalar multiply-adds" if instruction == "fma" else None


def hand_made(problem, config: Config, target: Target) -> Estimate:
    """Rules of the variants whose warps are told apart by hand.

    Shared memory is `num_stages (block_M + block_N) block_K size`, what C takes on its way (`staged`), and 1,024 B of barriers.
    """
    M, N, K = (config[name] for name in ("block_M", "block_N", "block_K"))
    size, asked = DTYPE_BYTES[problem["dtype"]], config["threads"]
    sharing = WARP_GROUP if config["variant"] == "pingpong" else asked
    shared = config["num_stages"] * (M * K + K * N) * size + staged(problem, config) + rules.BARRIER_BYTES
    accumulator = rules.ceildiv(M * N, sharing)
    return Estimate(
        shared_bytes=shared,
        accumulator_registers=accumulator,
        threads=asked,
        producer_threads=WARP_GROUP,
        broken=joined(
            hopper(problem, config, target) or shape_of_tile(config, sharing, problem["layout"] == "NT"),
            rows_by_tma(problem),
            rules.shared_memory(shared, target, config),
            rules.threads(asked, WARP_GROUP, target),
            rules.grid(rules.ceildiv(problem["M"], M), "y", "use a larger block_M", target) if config["variant"] == "split_k" else None,
            *counts(config),
        ),
        notes=joined(rules.accumulator_note(accumulator, target), *rules.masked(problem, config)),
    )


def staged(problem, config: Config) -> int:
    """Bytes of C in shared memory: the tile or half of it, for each warp group that stores; split_k sends and gets it in float32."""
    cells = config["block_M"] * config["block_N"]
    if config["variant"] == "split_k":
        return 2 * cells * 4
    groups = 2 if config["variant"] == "pingpong" and has_second_turn(problem, config) else 1
    return cells * DTYPE_BYTES[problem["dtype"]] * groups // (2 if config["store"] == "halves" else 1)


def clusters_of_tiles(problem, config: Config) -> int:
    """Tiles of C, those of a cluster of blocks taken as one."""
    return rules.ceildiv(problem["N"], config["block_N"]) * rules.ceildiv(problem["M"], config["block_M"] * config["cluster"])


def has_second_turn(problem, config: Config) -> bool:
    """Whether any block gets a second tile; where none does, TileLang leaves the second warp group of pingpong out."""
    return clusters_of_tiles(problem, config) > config["blocks"] // config["cluster"]


def hopper(problem, config: Config, target: Target) -> str | None:
    """Where the hand-made variants exist."""
    name = config["variant"]
    if target.capability != (9, 0):
        return f"variant {name} is made for sm_90a (wgmma, TMA, a register for each warp group); use variant plain"
    if problem["dtype"] not in ("float16", "bfloat16"):
        return f"variant {name} multiplies float16 and bfloat16 by wgmma, not {problem['dtype']}; use variant plain"
    if config.get("tl.disable_wgmma"):
        return f"variant {name} asks for wgmma by name; leave tl.disable_wgmma out, or use variant plain"
    return None


def shape_of_tile(config: Config, sharing: int, transposed: bool) -> str | None:
    """wgmma shares the tile among `sharing` threads: those of all warp groups that multiply, or those of one that has a tile to itself."""
    M, N, K = (config[name] for name in ("block_M", "block_N", "block_K"))
    if config["variant"] == "pingpong" and config["threads"] != 2 * WARP_GROUP:
        return f"pingpong has two warp groups that take turns: threads must be 256, not {config['threads']}"
    if config["threads"] not in (128, 256, 384):
        return f"{config['variant']} takes one to three warp groups: threads must be 128, 256 or 384, not {config['threads']}"
    if M % 64:
        return f"wgmma takes 64 rows at a time; block_M {M} is not a multiple"
    if K % 16:
        return f"depth {K} is not whole steps of wgmma; give a multiple of 16"
    if split := tiles.warp_split(M, N, sharing, "wgmma", config["policy"]):
        return split
    split_over = tiles.warp_grid(M, N, sharing // tiles.WARP, "wgmma", config["policy"])
    shares = split_over[1] if split_over else 1
    if shares > 1 and config["store"] == "halves" and config["variant"] != "split_k":
        return (
            "half a tile at a time is wrong where warp groups share its columns: use policy FullRow and 64 rows for each, or store shared"
        )
    columns = tiles.wgmma_columns(M, N, sharing, transposed, config["policy"])
    return columns or tiles.wgmma_registers(M, N, sharing, config["threads"] + WARP_GROUP, config["policy"])


def rows_by_tma(problem) -> str | None:
    """A, B and C go by TMA."""
    lengths = {"K": problem["K"], "N": problem["N"]}
    size = DTYPE_BYTES[problem["dtype"]]
    odd = next((f"{name} {length:,}" for name, length in lengths.items() if length * size % 16), None)
    return f"TMA needs rows of a multiple of 16 bytes, and {odd} is not; use variant plain" if odd else None


def counts(config: Config) -> list[str]:
    """Stages, blocks and clusters."""
    found = []
    if config["num_stages"] < 2:
        found.append("one product is always in flight, so num_stages must be 2 or more")
    if config["variant"] == "split_k":
        if config["cluster"] < 2 or config["cluster"] & config["cluster"] - 1:
            found.append(f"split_k shares the depth among 2, 4 or 8 blocks of a cluster, not {config['cluster']}")
    elif config["blocks"] % config["cluster"]:
        found.append(f"{config['blocks']} blocks are not whole clusters of {config['cluster']}")
    return found


def canonical(problem, config: Config, target: Target) -> Config:
    """Idle knobs brought to one value."""
    out = canonical_gemm(problem, config, target)
    if out["variant"] == "plain":
        out.update(cluster=1, blocks=132)
        if out["store"] == "halves":
            out["store"] = "shared"
        return out
    if out["variant"] == "tcgen05":
        return {**out, "num_stages": max(out["num_stages"], 1), "policy": "Square", "store": "direct", "cluster": 1, "blocks": 132}
    if out["variant"] == "split_k":
        out.update(store="direct", blocks=132, enable_swizzle=False, panel_size=10)
        return out
    out["blocks"] = min(out["blocks"], clusters_of_tiles(problem, out) * out["cluster"])
    if out["store"] == "direct":
        out["store"] = "shared"
    if out["variant"] == "pingpong":
        out["policy"] = "Square"
    return out


def canonical_gemm(problem, config, target: Target):
    """Idle knobs of a GEMM brought to one value: threads, stages, swizzle and policy on the CPU; the panel without a swizzle."""
    out = dict(config)
    if target.kind == "cpu":
        out.update(threads=128, num_stages=0, enable_swizzle=False, policy="Square")
    if not out["enable_swizzle"]:
        out["panel_size"] = 10
    return out


ENOUGH_TILES = 100
"""Tiles below which SMs of an H100 or H200 (132) stand idle for want of work: a smaller tile is quicker then."""


def usual_on_hopper(problem) -> Config:
    """The config to begin with on sm_90a, for float16 and bfloat16: what sweeps on an H200 found for shapes like this one (2026-11-30)."""

    epilogue = "epilogue" in problem

    def tile(variant, sizes, stages, threads, store, policy="Square", panel_size=0, **more):
        panels = {"panel_size": panel_size} if panel_size else {"enable_swizzle": False}
        shape = {"variant": variant, **dict(zip(("block_M", "block_N", "block_K"), sizes)), "num_stages": stages, "threads": threads}
        # where the activation takes powers of 2: one instruction each, and no spills
        fast = {"tl.enable_fast_math": True} if problem.get("epilogue") in ("bias_gelu_tanh", "bias_silu") else {}
        return {**shape, "store": store, "policy": policy, **panels, **more, **fast}

    def tiles_of(M: int, N: int) -> int:
        return rules.ceildiv(problem["M"], M) * rules.ceildiv(problem["N"], N)

    if problem["M"] <= 16:
        return tile("plain", (16, 32, 256), 4, 128, "direct")
    if problem["M"] <= 64:
        return tile("plain", (64, 64, 128), 6, 128, "shared")
    if epilogue and (tiles_of(128, 256) >= 10 * ENOUGH_TILES or tiles_of(128, 256) >= 2 * ENOUGH_TILES and problem["K"] <= 2048):
        return tile("pingpong", (128, 128, 64), 6, 256, "halves", panel_size=8)
    if tiles_of(128, 256) >= 2 * ENOUGH_TILES and problem["K"] <= 2048 and not epilogue:
        return tile("pingpong", (128, 192, 64), 4, 256, "halves", panel_size=16 if problem["N"] > problem["M"] else 8)
    if tiles_of(128, 256) >= ENOUGH_TILES:
        return tile("persistent", (128, 256, 64), 4, 256, "halves", "FullRow", panel_size=8)
    if tiles_of(128, 128) >= ENOUGH_TILES:
        return tile("persistent", (128, 128, 64), 6, 256, "shared", "FullRow", panel_size=8)
    if tiles_of(64, 128) >= ENOUGH_TILES:
        return tile("persistent", (64, 128, 64), 8, 128, "shared", cluster=2 if problem["N"] % 64 else 1)
    return tile("persistent", (64, 32, 128), 4, 128, "shared")
