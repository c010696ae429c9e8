"""The classes of instructions, in the order they are listed, with a title, a sentence and its source each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class InstructionClass:
    name: str
    title: str
    help: str
    """One sentence, with names of SASS in brackets: CUDA Binary Utilities 13.0, Instruction Set Reference."""
    source: str
    """The document that tells what the instructions do, and their names there."""


CLASSES = (
    InstructionClass(
        "tensor_core",
        "Tensor core",
        "Matrix products: mma.sync (HMMA, IMMA), wgmma (HGMMA, QGMMA), tcgen05.mma (UTCHMMA).",
        "PTX ISA 9.0: mma, wgmma.mma_async, tcgen05.mma",
    ),
    InstructionClass(
        "async_copy",
        "Async copy",
        "Copies that run beside the threads: cp.async (LDGSTS) and TMA (UTMALDG, UTMASTG).",
        "PTX ISA 9.0: cp.async, cp.async.bulk.tensor",
    ),
    InstructionClass(
        "matrix_load_store",
        "Matrix load, store",
        "Tiles to and from registers: ldmatrix (LDSM), stmatrix (STSM), tcgen05.ld (LDTM).",
        "PTX ISA 9.0: ldmatrix, stmatrix, tcgen05.ld",
    ),
    InstructionClass(
        "barrier",
        "Barriers and waits",
        "Barriers, fences, waits, cache control: bar.sync (BAR), mbarrier (SYNCS), DEPBAR.",
        "PTX ISA 9.0: bar, mbarrier, fence, cp.async.wait_group",
    ),
    InstructionClass(
        "global_load",
        "Global loads",
        "Loads from global memory into registers (LDG).",
        "PTX ISA 9.0: ld, state space .global",
    ),
    InstructionClass(
        "global_store",
        "Global stores",
        "Stores from registers to global memory (STG).",
        "PTX ISA 9.0: st, state space .global",
    ),
    InstructionClass(
        "shared_load",
        "Shared loads",
        "Loads from shared memory, ldmatrix apart (LDS).",
        "PTX ISA 9.0: ld, state space .shared",
    ),
    InstructionClass(
        "shared_store",
        "Shared stores",
        "Stores to shared memory, stmatrix apart (STS).",
        "PTX ISA 9.0: st, state space .shared",
    ),
    InstructionClass(
        "spill",
        "Local memory",
        "Registers that did not fit, or arrays of a thread, in memory (LDL, STL).",
        "PTX ISA 9.0: Local State Space",
    ),
    InstructionClass(
        "shuffle",
        "Shuffles and votes",
        "Values exchanged in a warp: shfl, redux, vote, elect, TileLang's reductions.",
        "PTX ISA 9.0: shfl.sync, vote.sync, match.sync, redux.sync, elect.sync",
    ),
    InstructionClass(
        "special_function",
        "Special functions",
        "Exponentials, logarithms, roots, reciprocals, tanh, erf (MUFU).",
        "PTX ISA 9.0: ex2, lg2, rcp, rsqrt, sqrt, sin, cos, tanh",
    ),
    InstructionClass(
        "register_realloc",
        "Register reallocation",
        "setmaxnreg between warp groups; tensor memory taken or returned.",
        "PTX ISA 9.0: setmaxnreg, tcgen05.alloc",
    ),
    InstructionClass(
        "atomic",
        "Atomics",
        "Atomic operations and reductions on memory (ATOM, RED).",
        "PTX ISA 9.0: atom, red",
    ),
    InstructionClass(
        "branch",
        "Branches",
        "Branches, calls, returns, exits, and their convergence barriers (BRA, BSSY, EXIT).",
        "PTX ISA 9.0: Control Flow Instructions",
    ),
    InstructionClass(
        "trap",
        "Traps",
        "Stops of the program: failed asserts and unsupported paths (BPT).",
        "PTX ISA 9.0: trap, brkpt",
    ),
)

NAMES = tuple(each.name for each in CLASSES)
