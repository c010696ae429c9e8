"""Registers, spills and shared memory from the text of ptxas -v; stack from C."""

from tileviz.compiler.lowering import Launch, Lowered
from tileviz.compiler.resources import cpu_resources, cuda_resources, parse_ptxas, serialized
from tileviz.compiler.targets import target
from tileviz.records import SharedBytes

LOG = """ptxas info    : 2301 bytes gmem
ptxas info    : Compiling entry function 'first_kernel' for 'sm_90a'
ptxas info    : Function properties for first_kernel
ptxas         .     304 bytes stack frame, 320 bytes spill stores, 256 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 304 bytes cumulative stack size, 1024 bytes smem
ptxas info    : Compiling entry function 'second_kernel' for 'sm_90a'
ptxas info    : Function properties for second_kernel
    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers, 16 bytes cumulative stack size
"""


def test_each_kernel_of_a_log_is_read():
    usage = parse_ptxas(LOG)
    assert list(usage) == ["first_kernel", "second_kernel"]
    first, second = usage.values()
    assert (first.registers, first.stack_bytes, first.spill_store_bytes, first.spill_load_bytes, first.static_shared_bytes) == (
        255,
        304,
        320,
        256,
        1024,
    )
    assert (second.registers, second.static_shared_bytes) == (40, 0)
    assert (first.local_bytes, second.local_bytes) == (320, 16), "spill stores, or the stack of local arrays"


def test_several_kernels_give_the_most_any_takes_and_the_geometry_of_the_largest():
    lowered = Lowered("", (Launch("first_kernel", 384, (8, 1, 1), 65_536), Launch("second_kernel", 128, (4096, 2, 1), 0)))
    found = cuda_resources(lowered, LOG, target("sm_90a"))
    assert (found.registers, found.spill_bytes, found.shared_bytes) == (255, 320, SharedBytes(1024, 65_536))
    assert (found.threads_launched, found.grid) == (128, (4096, 2, 1))
    assert (found.blocks_per_sm, found.occupancy_limiter) == (0, "registers"), "255 registers leave room for 8 warps, not 12"


def test_without_a_log_only_what_lowering_tells_is_known():
    found = cuda_resources(Lowered("", (Launch("k", 256, (2, 3, 1), 1_000),)), "", target("sm_80"))
    assert (found.threads_launched, found.grid, found.shared_bytes.dynamic) == (256, (2, 3, 1), 1_000)
    assert found.registers is found.spill_bytes is found.occupancy is None


def test_the_stack_of_a_c_kernel_is_the_sum_of_its_arrays():
    assert cpu_resources("  float acc[4096];\n  float A_shared[2048];\n  int32_t n[2];\n  float x = acc[12];\n").stack_bytes == 4 * (
        4096 + 2048 + 2
    )
    assert cpu_resources("int main() { return 0; }").stack_bytes == 0


def test_what_ptxas_says_of_wgmma_in_a_row_is_kept():
    told = "ptxas info    : (C7512) Potential Performance Loss: wgmma.mma_async instructions are serialized due to "
    entry = "ptxas info    : Compiling entry function 'f' for 'sm_90a'\n"
    assert serialized(f"{told}insufficient register resources for the function 'f'\n{entry}") == "insufficient register resources"
    assert serialized(f"{told}ill formed pipeline stage in the function 'f'\n{entry}") == "ill formed pipeline stage"
    assert serialized(entry) == ""
    assert serialized("") is None
