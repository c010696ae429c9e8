"""What the panel says of bytes: the model, and the profile beside it."""

from tileviz import kernels
from tileviz.ui.explore.traffic import profile_frame, saved

FOUND = {
    "kernel": "gemm_kernel", "duration_us": 251.3, "dram_read_bytes": 20.0 * 2**20, "dram_write_bytes": 64.0 * 2**20,
    "tensor_percent": 31.4, "sm_clock_mhz": 1755.0, "stalls": [["long_scoreboard", 2.3], ["gmma", 1.0], ["barrier", 0.8], ["wait", 0.4]],
}  # fmt: skip


def test_a_profile_shows_bytes_against_the_model_and_the_top_stalls():
    frame = profile_frame(FOUND, 80.0 * 2**20)
    rows = {row.measured: (row.value, row.note) for row in frame.itertuples()}
    assert rows["DRAM in all"] == ("84.0 MiB", "1.05 of the model's 80.0 MiB")
    assert rows["tensor pipe busy"][0] == "31.4 %"
    assert rows["stall: long scoreboard"] == ("2.30 warps", "waiting for global or local memory")
    assert "stall: wait" not in rows, "the largest three"


def test_what_ncu_did_not_give_is_left_out():
    assert list(profile_frame({"kernel": "k", "duration_us": 5.0})["measured"]) == ["duration"]


def test_the_sentence_compares_ours_with_the_first_chain():
    chains = kernels.kernel("softmax").traffic({"M": 128, "N": 1000, "dtype": "float32"}, {"block_N": 1024})
    assert saved(chains).startswith("This program moves 1,024,000 B through DRAM, 33 % of what four launches would.")
