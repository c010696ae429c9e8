"""FlashAttention by hand for Hopper, its own text run by threads on arrays: numbers, slots and waits, without a GPU."""

import inspect
import math
import sys
import types

import numpy as np
import pytest
import torch

from tests.kernels import by_hand
from tileviz import kernels
from tileviz.kernels.attention import overlapped

KERNEL = kernels.code("flash_attention")
ONE_HEAD = {"B": 1, "H": 1, "D": 64, "dtype": "float32"}
LONE = {"M": 64, "N": 16, "stages": 2, "threads": 128, "schedule": "overlap"}
PAIR = {"M": 128, "N": 32, "stages": 2, "threads": 256, "schedule": "pingpong"}
ORDER = {"heads_together": 1, "blocks": 0, "rescale": "vote", "store": "direct"}


def draw(problem: dict, seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return list(KERNEL.inputs(problem, lambda *shape, dtype: torch.randn(*shape, generator=generator)))


def run(problem: dict, knobs: dict, tensors: list[torch.Tensor] | None = None, program=overlapped.program):
    """(output, reference in float64)"""
    full = KERNEL.problem({**ONE_HEAD, **problem})
    given = tensors or draw(full)
    output = by_hand.run(program, full, {**ORDER, **knobs}, *(t.numpy() for t in given))
    return torch.from_numpy(output), KERNEL.reference(full, *(t.double() for t in given))


def planted(right: str, wrong: str):
    """The program with a fault in its text."""
    text = inspect.getsource(overlapped)
    assert text.count(right) == 1
    module = types.ModuleType("planted")
    sys.modules["planted"] = module
    exec(compile(text.replace(right, wrong), "planted.py", "exec"), module.__dict__)
    return module.program


@pytest.mark.parametrize(
    ("problem", "knobs"),
    [
        ({"Sq": 64, "Sk": 16}, LONE),
        ({"Sq": 1, "Sk": 100}, {**LONE, "stages": 4}),
        ({"Sq": 70, "Sk": 50, "B": 2, "H": 2}, {**LONE, "blocks": 3}),
        ({"Sq": 129, "Sk": 127}, PAIR),
        ({"Sq": 300, "Sk": 80}, {**PAIR, "blocks": 1}),
        ({"Sq": 300, "Sk": 80}, {**PAIR, "blocks": 1, "store": "queries"}),
        ({"Sq": 300, "Sk": 80, "causal": True, "H": 3}, {**PAIR, "stages": 3, "blocks": 2, "heads_together": 3}),
        ({"Sq": 300, "Sk": 80, "causal": True, "H": 3}, {**PAIR, "blocks": 2, "heads_together": 3, "store": "shared"}),
        ({"Sq": 70, "Sk": 50, "B": 2, "H": 2}, {**LONE, "blocks": 3, "store": "shared"}),
        ({"Sq": 80, "Sk": 300, "causal": True}, {**PAIR, "rescale": "always"}),
        ({"Sq": 150, "Sk": 40, "causal": True, "H": 2}, {**LONE, "blocks": 2, "heads_together": 2}),
        ({"Sq": 200, "Sk": 70, "D": 128}, {**PAIR, "M": 192, "threads": 384, "blocks": 1}),
        ({"Sq": 260, "Sk": 40, "D": 256, "causal": True}, {**PAIR, "M": 256, "threads": 512, "rescale": "always"}),
    ],
    ids=str,
)
def test_any_lengths_heads_and_orders_are_right(problem, knobs):
    output, reference = run(problem, knobs)
    torch.testing.assert_close(output.double(), reference, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize(("scale", "causal"), [(0.0, True), (-0.3, False), (-0.3, True), (2.0, True), (1e10, False)])
def test_any_scale_is_right(scale, causal):
    output, reference = run({"Sq": 70, "Sk": 90, "causal": causal, "scale": scale}, {**LONE, "blocks": 1})
    torch.testing.assert_close(output.double(), reference, rtol=1e-4, atol=1e-5)


def test_a_nan_spreads_over_its_own_row_only_and_not_into_the_next_tile():
    """The block goes on to another tile of rows with the same registers."""
    tensors = draw(KERNEL.problem({**ONE_HEAD, "Sq": 150, "Sk": 40}))
    tensors[0][0, 0, 7, 3] = math.nan
    output, reference = run({"Sq": 150, "Sk": 40}, {**LONE, "blocks": 1}, tensors)
    assert torch.equal(output.isnan(), reference.isnan())
    assert output.isnan().any(dim=3).sum() == 1


def test_large_scores_do_not_overflow():
    Q, K, V = draw(KERNEL.problem({**ONE_HEAD, "Sq": 64, "Sk": 40}))
    output, reference = run({"Sq": 64, "Sk": 40}, LONE, [Q * 1e4, K * 1e4, V])
    torch.testing.assert_close(output.double(), reference, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("threads", [128, 256, 384, 512, 640, 896])
def test_consumers_ask_for_no_more_registers_than_the_block_was_launched_with(threads):
    launched = 65536 // (threads + 128) // 8 * 8 * (threads + 128)
    asked = overlapped.registers(threads)
    assert asked % 8 == 0 and asked * threads + 24 * 128 <= launched
    assert asked == {128: 240, 256: 240, 384: 160}.get(threads, asked)


@pytest.mark.parametrize("lost", ["release(k_free, slot(done + 1))", 'if store != "queries":\n                release(q_free, group)'])
def test_a_slot_that_is_never_given_back_is_a_deadlock(monkeypatch, lost):
    monkeypatch.setattr(by_hand, "PATIENCE_S", 0.5)
    with pytest.raises(by_hand.Deadlock, match="waits without end"):
        run({"Sq": 150, "Sk": 80}, {**LONE, "blocks": 1}, program=planted(lost, "pass"))


def holds(program, **more) -> bool:
    """Whether the program gives the right numbers, with no slot torn."""
    problem = {"Sq": 150, "Sk": 90, "causal": True}
    try:
        output, reference = run(problem, {**LONE, "blocks": 1, **more}, program=program)
    except (by_hand.Torn, by_hand.Deadlock):
        return False
    return np.allclose(output, reference, rtol=1e-3, atol=1e-4)


FAULTS = {
    "scores read before they are there": ("T.wait_wgmma(1)", "T.wait_wgmma(2)"),
    "keys read before they are there": ("T.barrier_wait(k_ready[slot(done + 1)], phase(done + 1))", "pass"),
    "values read before they are there": ("T.barrier_wait(v_ready[slot(done)], phase(done))\n                T", "T"),
    "values given back while they are read": ("T.wait_wgmma(1)\n", "T.wait_wgmma(1); release(v_free, slot(done))\n"),
    "P filled anew while it is read": ("T.wait_wgmma(1)\n", "T.wait_wgmma(1); T.copy(S, P)\n"),
    "a mask off by one": ("first_key + j <= last", "first_key + j <= last + 1"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_in_the_order_of_work_are_caught(monkeypatch, fault):
    monkeypatch.setattr(by_hand, "PATIENCE_S", 1.0)
    assert not holds(planted(*FAULTS[fault]))


STORE_FAULTS = {
    "rows given out over those still being read": ("T.tma_store_wait(0)  # what went out before has been read", "pass", "shared"),
    "queries brought before the rows have left": ("T.tma_store_wait(0)\n                release(q_free", "release(q_free", "queries"),
    "a block that leaves before its rows": ('if store == "shared":\n            T.tma_store_wait(0)', "", "shared"),
}


@pytest.mark.parametrize("fault", STORE_FAULTS)
def test_faults_in_carrying_rows_out_are_caught(monkeypatch, fault):
    monkeypatch.setattr(by_hand, "PATIENCE_S", 1.0)
    right, wrong, store = STORE_FAULTS[fault]
    assert not holds(planted(right, wrong), store=store)


@pytest.mark.parametrize("store", ["direct", "queries", "shared"])
def test_what_only_moves_local_work_is_no_fault(store):
    moved = planted("release(v_free, slot(done))\n                T.copy(S, P)", "T.copy(S, P); release(v_free, slot(done))")
    assert holds(moved, store=store)
