"""Opcodes of PTX, inline assembly included."""

import pytest

from tileviz import lens
from tileviz.texts.ptx import class_of


@pytest.mark.parametrize(
    "opcode, cls",
    [
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "tensor_core"),
        ("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", "tensor_core"),
        ("tcgen05.mma.cta_group::1.kind::f16", "tensor_core"),
        ("cp.async.cg.shared.global", "async_copy"),
        ("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes", "async_copy"),
        ("cp.async.commit_group", "barrier"),
        ("cp.async.bulk.wait_group.read", "barrier"),
        ("cp.async.mbarrier.arrive.noinc.shared.b64", "barrier"),
        ("ldmatrix.sync.aligned.x4.m8n8.shared.b16", "matrix_load_store"),
        ("stmatrix.sync.aligned.m8n8.x4.shared.b16", "matrix_load_store"),
        ("tcgen05.ld.sync.aligned.32x32b.x64.b32", "matrix_load_store"),
        ("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", "register_realloc"),
        ("setmaxnreg.inc.sync.aligned.u32", "register_realloc"),
        ("mbarrier.try_wait.parity.shared::cta.b64", "barrier"),
        ("bar.sync", "barrier"),
        ("wgmma.wait_group.sync.aligned", "barrier"),
        ("ld.global.nc.v4.f32", "global_load"),
        ("st.global.v2.u32", "global_store"),
        ("ld.shared.f32", "shared_load"),
        ("st.shared::cta.f32", "shared_store"),
        ("ld.local.u32", "spill"),
        ("st.local.v4.u32", "spill"),
        ("shfl.sync.bfly.b32", "shuffle"),
        ("ex2.approx.ftz.f32", "special_function"),
        ("rsqrt.approx.f32", "special_function"),
        ("atom.global.add.f32", "atomic"),
        ("red.async.relaxed.cluster", "async_copy"),
        ("bra.uni", "branch"),
        ("ret", "branch"),
        ("trap", "trap"),
        ("add.f32", None),
        ("ld.param.u64", None),
        ("barrelled", None),
    ],
)
def test_an_opcode_has_its_class(opcode, cls):
    assert class_of(opcode) == cls


@pytest.mark.parametrize(
    "line, found",
    [
        ("\t@%p1 bra \t$L__BB0_2;", ["bra"]),
        ("\t@!%p1 bra $L1;", ["bra"]),
        ("{ .reg .pred p; setp.ne.b32 p, %r1, 0; wgmma.mma_async.sync.aligned {%f1};", ["wgmma.mma_async.sync.aligned"]),
        ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32{%f8, %f7},{%r3};", ["mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"]),
        ("LAB_WAIT: mbarrier.try_wait.parity.shared::cta.b64 P1, [%r1], %r2;", ["mbarrier.try_wait.parity.shared::cta.b64"]),
        ("\t// begin mma.sync.aligned block", []),
        (".visible .entry mma(", []),
        ("$L__bar_0:", []),
    ],
)  # fmt: skip
def test_a_statement_is_found_wherever_it_opens(line, found):
    assert [line[hit.start : hit.end] for hit in lens.listing(line, "ptx").lines[0].hits] == found
