"""`diff` of two compiled configs: changed counts first, in words and in JSON."""

import pytest

from tests.conftest import tileviz

pytestmark = pytest.mark.usefixtures("shared_home")

SMALL = ("-p", "M=128", "-p", "N=128", "-p", "K=128", "-k", "block_M=64", "-k", "block_K=32", "-k", "num_stages=2", "-k", "threads=128")


@pytest.fixture(scope="module")
def trials(shared_home) -> list[str]:
    """Two trials that differ in the width of the tile."""
    made = [tileviz("compile", "gemm", "--target", "sm_90a", *SMALL, "-k", f"block_N={n}", "--json") for n in (64, 128)]
    return [done.json["trial"] for done in made]


def test_diff_says_what_differs_with_changed_counts_first(trials):
    done = tileviz("diff", *trials)
    assert done.status == 0
    head, _, body = done.out.partition("\n\n")
    assert "block_N    64 -> 128" in head and "resources" in head
    assert "+8 HGMMA.64x128x16.F32" in head and "-8 HGMMA.64x64x16.F32" in head
    assert "\n-" in body and "\n+" in body and "HGMMA" in body


def test_diff_in_json_has_counts_changes_and_rows(trials):
    found = tileviz("diff", *trials, "--json").json
    assert found["emit"] == "sass" and found["trials"] == trials and found["config"] == {"block_N": [64, 128]}
    assert found["counts"][0]["tensor_core"] == 8
    assert {"opcode": "HGMMA.64x128x16.F32", "cls": "tensor_core", "left": 0, "right": 8, "words": "+8 HGMMA.64x128x16.F32"} in found[
        "changes"
    ]
    assert set(found["rows"]) == {"same", "changed", "removed", "added"}


@pytest.mark.parametrize("text", ["source", "cuda", "ptx", "ir"])
def test_every_text_can_be_compared(trials, text):
    done = tileviz("diff", *trials, "--emit", text)
    assert done.status == 0 and "block_N    64 -> 128" in done.out


def test_a_trial_against_itself_is_the_same(trials):
    assert "the same, up to the names of registers and labels" in tileviz("diff", trials[0], trials[0]).out


def test_an_unknown_trial_is_one_sentence(trials):
    done = tileviz("diff", trials[0], "nothing")
    assert done.status == 2 and done.sentence.startswith("tileviz: no trial 'nothing'") and trials[0] in done.sentence


def test_the_lowered_ir_can_be_printed():
    done = tileviz("compile", "gemm", "--target", "sm_90a", *SMALL, "-k", "block_N=64", "--emit", "ir")
    assert done.status == 0 and "gemm_kernel" in done.out and "T.tma_load" in done.out
