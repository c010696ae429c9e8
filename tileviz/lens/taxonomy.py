"""The instructions worth knowing, one row each: how it is spelled in CUDA, PTX and SASS, since when, and what it does.

The spellings are examples that the readers of `listing` find; a test holds that each is read as the row's class.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Instruction:
    """One kind of instruction."""

    name: str
    cls: str
    """Its class, by the names of CLASSES."""
    since: str
    """The first architecture that has it."""
    cuda: str
    """A call in TileLang's CUDA; empty where there is none."""
    ptx: str
    sass: str
    help: str
    """One sentence."""
    source: str
    """The document that says so, and what it is called there."""
    opcodes: str
    """Beginnings of its SASS and PTX spellings, between spaces."""


PTX_ISA = "PTX ISA 9.0"
"""Tells what an instruction does and since when; names of SASS are those of CUDA Binary Utilities 13.0, Instruction Set Reference."""


def _row(name: str, cls: str, since: str, *more: str) -> Instruction:
    cuda, ptx, sass, help, where, opcodes = more
    return Instruction(name, cls, since, cuda, ptx, sass, help, f"{PTX_ISA}: {where}", opcodes)


TAXONOMY = (
    _row(
        "mma.sync",
        "tensor_core",
        "sm_70",
        "tl::mma_sync<tl::DataType::kFloat16>(c, a, b);",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};",
        "HMMA.16816.F32 R4, R8, R12, R4 ;",
        "One warp multiplies two small matrices held in its registers and adds to a third.",
        "mma",
        "HMMA IMMA QMMA DMMA BMMA OMMA mma.",
    ),
    _row(
        "wgmma",
        "tensor_core",
        "sm_90a",
        "tl::wgmma_ss<tl::DataType::kFloat16>(a, b, c, 1);",
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%f1}, %rd1, %rd2, p, 1, 1, 0, 1;",
        "HGMMA.64x128x16.F32 R24, gdesc[UR8], R24 ;",
        "A warp group of 128 threads multiplies operands straight from shared memory, while the threads go on.",
        "wgmma.mma_async",
        "HGMMA IGMMA QGMMA BGMMA wgmma.mma_async",
    ),
    _row(
        "tcgen05.mma",
        "tensor_core",
        "sm_100a",
        "tl::tcgen05mma_ss<tl::DataType::kFloat16>(a, b, c, 1);",
        "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, p;",
        "UTCHMMA gdesc[UR4], gdesc[UR6], tmem[UR8], UR10, UP0 ;",
        "One thread starts a product whose sums lie in tensor memory, not in registers.",
        "tcgen05.mma",
        "UTCHMMA UTCIMMA UTCQMMA UTCOMMA UTCMXQMMA tcgen05.mma",
    ),
    _row(
        "cp.async",
        "async_copy",
        "sm_80",
        "tl::cp_async_gs<16>(to, from);",
        "cp.async.cg.shared.global [%r1], [%rd1], 16;",
        "LDGSTS.E.BYPASS.128 [R1], [R2.64] ;",
        "Each thread starts a copy of up to 16 bytes from global to shared memory and goes on.",
        "cp.async",
        "LDGSTS cp.async.ca cp.async.cg",
    ),
    _row(
        "TMA load",
        "async_copy",
        "sm_90",
        "tl::tma_load(A_desc, mbarrier[0], to, 0, 0);",
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];",
        "UTMALDG.2D [UR8], [UR4] ;",
        "One thread has a whole tile brought into shared memory by the copy engine.",
        "cp.async.bulk.tensor",
        "UTMALDG UBLKCP cp.async.bulk",
    ),
    _row(
        "TMA store",
        "async_copy",
        "sm_90",
        "tl::tma_store(C_desc, from, 0, 0);",
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r2, %r3}], [%r1];",
        "UTMASTG.2D [UR4], [UR8] ;",
        "One thread has a whole tile written to global memory by the copy engine.",
        "cp.async.bulk.tensor",
        "UTMASTG UTMAREDG UBLKRED cp.reduce.async.bulk " + " ".join(f"cp.async.bulk.tensor.{n}d.global" for n in range(1, 6)),
    ),
    _row(
        "ldmatrix",
        "matrix_load_store",
        "sm_75",
        "tl::ptx_ldmatrix_x4(from, to);",
        "ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%r1}, [%r2];",
        "LDSM.16.M88.4 R4, [R8] ;",
        "A warp loads 8x8 tiles from shared memory in the very places where mma.sync wants them.",
        "ldmatrix",
        "LDSM MOVM ldmatrix movmatrix",
    ),
    _row(
        "stmatrix",
        "matrix_load_store",
        "sm_90",
        "tl::ptx_stmatrix_x4(to, a, b, c, d);",
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r2], {%r1};",
        "STSM.16.M88.4 [R8], R4 ;",
        "A warp stores 8x8 tiles from its registers to shared memory.",
        "stmatrix",
        "STSM stmatrix",
    ),
    _row(
        "tcgen05.ld",
        "matrix_load_store",
        "sm_100a",
        "tl::tcgen05_ld_32dp32bNx<64>(from, to);",
        "tcgen05.ld.sync.aligned.32x32b.x64.b32 {%r1}, [%r2];",
        "LDTM.x64 R4, tmem[UR4] ;",
        "Brings sums from tensor memory to registers.",
        "tcgen05.ld",
        "LDTM STTM UTCCP tcgen05.ld tcgen05.st tcgen05.cp",
    ),
    _row(
        "block barrier",
        "barrier",
        "sm_70",
        "__syncthreads();",
        "bar.sync 0;",
        "BAR.SYNC.DEFER_BLOCKING 0x0 ;",
        "Every thread of the block, or of a named part of it, waits for the others.",
        "bar, barrier",
        "BAR bar. barrier.",
    ),
    _row(
        "mbarrier",
        "barrier",
        "sm_80",
        "mbarrier[0].wait(0);",
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%r1], %r2;",
        "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR20], R4 ;",
        "A barrier in shared memory that also counts the bytes a copy has brought.",
        "mbarrier",
        "SYNCS ARRIVES mbarrier.",
    ),
    _row(
        "wait for copies",
        "barrier",
        "sm_80",
        "tl::cp_async_wait<1>();",
        "cp.async.wait_group 1;",
        "DEPBAR.LE SB0, 0x1 ;",
        "Waits until at most so many groups of copies are in flight.",
        "cp.async.wait_group",
        "DEPBAR LDGDEPBAR UTMACMDFLUSH cp.async.wait cp.async.commit cp.async.bulk.wait cp.async.bulk.commit",
    ),
    _row(
        "wgmma fence",
        "barrier",
        "sm_90a",
        "tl::warpgroup_arrive();",
        "wgmma.fence.sync.aligned;",
        "WARPGROUP.ARRIVE ;",
        "Puts registers and wgmma in order; DEPBAR waits for its results.",
        "wgmma.fence",
        "WARPGROUP wgmma.fence wgmma.commit wgmma.wait",
    ),
    _row(
        "tcgen05 commit",
        "barrier",
        "sm_100a",
        "tl::tcgen05_mma_arrive((&(done[0])));",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1];",
        "UTCBAR [UR4], URZ ;",
        "Tells an mbarrier when the products started so far are done; the fences order them with the other threads.",
        "tcgen05.commit",
        "UTCBAR tcgen05.commit tcgen05.fence tcgen05.wait",
    ),
    _row(
        "proxy fence",
        "barrier",
        "sm_90",
        "tl::fence_proxy_async();",
        "fence.proxy.async;",
        "FENCE.VIEW.ASYNC ;",
        "Makes what threads wrote to shared memory visible to the copy engine.",
        "membar, fence",
        "FENCE fence.",
    ),
    _row(
        "global load",
        "global_load",
        "sm_70",
        "",
        "ld.global.v4.f32 {%f1}, [%rd1];",
        "LDG.E.128 R4, [R2.64] ;",
        "Loads from global memory; 128 bits a thread at best.",
        "ld",
        "LDG LD ld.global",
    ),
    _row(
        "global store",
        "global_store",
        "sm_70",
        "",
        "st.global.v4.f32 [%rd1], {%f1};",
        "STG.E.128 [R2.64], R4 ;",
        "Stores to global memory; 128 bits a thread at best.",
        "st",
        "STG ST st.global",
    ),
    _row(
        "shared load",
        "shared_load",
        "sm_70",
        "",
        "ld.shared.f32 %f1, [%r1];",
        "LDS R4, [R2] ;",
        "Loads from shared memory.",
        "ld",
        "LDS ld.shared",
    ),
    _row(
        "shared store",
        "shared_store",
        "sm_70",
        "",
        "st.shared.f32 [%r1], %f1;",
        "STS [R2], R4 ;",
        "Stores to shared memory.",
        "st",
        "STS st.shared",
    ),
    _row(
        "local memory",
        "spill",
        "sm_70",
        "",
        "ld.local.u32 %r1, [%rd1];",
        "LDL R2, [R1] ;",
        "A register that did not fit, or an array of one thread: it goes through L1 and is slow.",
        "Local State Space",
        "LDL STL ld.local st.local",
    ),
    _row(
        "shuffle",
        "shuffle",
        "sm_70",
        "__shfl_xor_sync(0xffffffff, a, 1);",
        "shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;",
        "SHFL.BFLY PT, R2, R3, 0x1, 0x1f ;",
        "Threads of a warp exchange registers.",
        "shfl.sync",
        "SHFL shfl.",
    ),
    _row(
        "vote",
        "shuffle",
        "sm_70",
        "__ballot_sync(0xffffffff, p);",
        "vote.sync.ballot.b32 %r1, p, -1;",
        "VOTE.ANY R2, PT, P0 ;",
        "Threads of a warp agree on a predicate, or one of them is elected.",
        "vote.sync",
        "VOTE VOTEU ELECT MATCH vote. elect. match.",
    ),
    _row(
        "warp reduction",
        "shuffle",
        "sm_80",
        "tl::AllReduce<tl::MaxOp, 4, 1, 0>::run(a);",
        "redux.sync.add.s32 %r1, %r2, -1;",
        "REDUX.SUM UR4, R2 ;",
        "A sum or maximum over a warp.",
        "redux.sync",
        "REDUX CREDUX redux.",
    ),
    _row(
        "special function",
        "special_function",
        "sm_70",
        "exp2f(a);",
        "ex2.approx.ftz.f32 %f1, %f2;",
        "MUFU.EX2 R2, R3 ;",
        "Exponentials, logarithms, roots and reciprocals, 16 a clock on an SM.",
        "ex2, lg2, rcp, sin, tanh",
        "MUFU ex2. lg2. rcp. rsqrt. sqrt. tanh. sin. cos.",
    ),
    _row(
        "setmaxnreg",
        "register_realloc",
        "sm_90a",
        "tl::warpgroup_reg_alloc<240>();",
        "setmaxnreg.inc.sync.aligned.u32 240;",
        "USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xf0 ;",
        "A warp group takes registers that another one gave up.",
        "setmaxnreg",
        "USETMAXREG setmaxnreg.",
    ),
    _row(
        "tensor memory allocation",
        "register_realloc",
        "sm_100a",
        "tl::tmem_allocate((&(acc[0])), 256);",
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 256;",
        "UTCATOMSWS.FIND_AND_SET.ALIGN UP0, UR4, UR5 ;",
        "A warp takes columns of tensor memory, or gives them back; it waits while other blocks of the SM hold them.",
        "tcgen05.alloc",
        "UTCATOMSWS tcgen05.alloc tcgen05.dealloc tcgen05.relinquish",
    ),
    _row(
        "atomic",
        "atomic",
        "sm_70",
        "atomicAdd(p, a);",
        "red.global.add.f32 [%rd1], %f1;",
        "RED.E.ADD.F32.FTZ.RN [R2.64], R4 ;",
        "Reads, changes and writes memory as one step.",
        "atom, red",
        "ATOM ATOMG ATOMS RED REDG atom. red.",
    ),
    _row(
        "branch",
        "branch",
        "sm_70",
        "",
        "bra $L__BB0_2;",
        "BRA `(.L_x_12) ;",
        "Goes on elsewhere; with a predicate, some threads do.",
        "Control Flow Instructions",
        "BRA BRX JMP CALL RET EXIT BSSY BSYNC BREAK bra call ret exit",
    ),
    _row(
        "trap",
        "trap",
        "sm_70",
        "__trap();",
        "trap;",
        "BPT.TRAP 0x1 ;",
        "Ends the kernel with an error that the CUDA context does not survive.",
        "trap",
        "BPT trap brkpt",
    ),
)


def instruction(spelling: str) -> Instruction | None:
    """The row of a SASS or PTX spelling such as `HGMMA.64x128x16.F32`, or None. The longest beginning that fits counts."""
    head = re.match(r"[\w.:]+", spelling)
    if head is None:
        return None
    best, length = None, 0
    for row in TAXONOMY:
        for opcode in row.opcodes.split():
            whole = opcode.isupper() and head[0].split(".")[0] == opcode
            if (whole or (not opcode.isupper() and head[0].startswith(opcode))) and len(opcode) > length:
                best, length = row, len(opcode)
    return best
