"""The classes of instructions, in the order they are listed, with a title and a sentence each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class InstructionClass:
    name: str
    title: str
    help: str


CLASSES = (
    InstructionClass("tensor_core", "Tensor core", "Matrix products: mma.sync (HMMA, IMMA), wgmma (HGMMA, QGMMA), tcgen05.mma (UTCHMMA)."),
    InstructionClass("async_copy", "Async copy", "Copies that run beside the threads: cp.async (LDGSTS) and TMA (UTMALDG, UTMASTG)."),
    InstructionClass(
        "matrix_load_store", "Matrix load, store", "Tiles to and from registers: ldmatrix (LDSM), stmatrix (STSM), tcgen05.ld (LDTM)."
    ),
    InstructionClass("barrier", "Barriers and waits", "Barriers, fences, waits, cache control: bar.sync (BAR), mbarrier (SYNCS), DEPBAR."),
    InstructionClass("global_load", "Global loads", "Loads from global memory into registers (LDG)."),
    InstructionClass("global_store", "Global stores", "Stores from registers to global memory (STG)."),
    InstructionClass("shared_load", "Shared loads", "Loads from shared memory, ldmatrix apart (LDS)."),
    InstructionClass("shared_store", "Shared stores", "Stores to shared memory, stmatrix apart (STS)."),
    InstructionClass("spill", "Local memory", "Registers that did not fit, or arrays of a thread, in memory (LDL, STL)."),
    InstructionClass("shuffle", "Shuffles and votes", "Values exchanged in a warp: shfl, redux, vote, elect, TileLang's reductions."),
    InstructionClass("special_function", "Special functions", "Exponentials, logarithms, roots, reciprocals, tanh, erf (MUFU)."),
    InstructionClass("register_realloc", "Register reallocation", "setmaxnreg between warp groups; tensor memory taken or returned."),
    InstructionClass("atomic", "Atomics", "Atomic operations and reductions on memory (ATOM, RED)."),
    InstructionClass("branch", "Branches", "Branches, calls, returns, exits, and their convergence barriers (BRA, BSSY, EXIT)."),
    InstructionClass("trap", "Traps", "Stops of the program: failed asserts and unsupported paths (BPT)."),
)

NAMES = tuple(each.name for each in CLASSES)
