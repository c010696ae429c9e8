"""What a compiled kernel takes: registers, spills, shared memory, threads, occupancy; bytes of stack on the CPU."""

import re
from dataclasses import dataclass

from tileviz.compiler.lowering import Launch, Lowered
from tileviz.compiler.occupancy import occupancy
from tileviz.records import Resources, SharedBytes, Target

# ptxas info    : Compiling entry function 'gemm_kernel' for 'sm_90a'
_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
#     304 bytes stack frame, 320 bytes spill stores, 256 bytes spill loads
_SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
# ptxas info    : Used 168 registers, used 1 barriers, 1024 bytes smem
_USED = re.compile(r"Used (\d+) registers")
_STATIC_SHARED = re.compile(r"(\d+) bytes smem")

# ptxas info : (C7512) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for
# the function 'flash_attention_kernel'
_SERIALIZED = re.compile(r"wgmma\.mma_async instructions are serialized due to (.+?)(?: (?:for|in) (?:the )?function| *$)", re.M)

_C_BYTES = {"float": 4, "double": 8, "int64_t": 8, "int32_t": 4, "int8_t": 1, "uint8_t": 1, "bool": 1, "half_t": 2}
# float acc[4096];
_C_ARRAY = re.compile(rf"^\s*({'|'.join(_C_BYTES)})\s+\w+\[(\d+)\];", re.M)


@dataclass(frozen=True)
class Usage:
    """What ptxas says one kernel uses."""

    registers: int
    stack_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int
    static_shared_bytes: int

    @property
    def local_bytes(self) -> int:
        """Spill stores; where there are none, the stack frame of local arrays."""
        return self.spill_store_bytes or self.stack_bytes


def parse_ptxas(log: str) -> dict[str, Usage]:
    """Usage of each kernel by name, from the text of `ptxas -v`."""
    parts = _ENTRY.split(log)
    return {name: _usage(text) for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def serialized(log: str) -> str | None:
    """Why every wgmma is waited for at once, as ptxas says; "" where it says nothing of it, None without a word of ptxas."""
    found = _SERIALIZED.search(log)
    return found[1] if found else "" if _ENTRY.search(log) else None


def cuda_resources(lowered: Lowered, log: str, target: Target) -> Resources:
    """Resources of a program: of several kernels the most that any takes, and the geometry of the one with the most threads in all."""
    if not lowered.launches:
        return Resources()
    usage = parse_ptxas(log)
    each = [_kernel_resources(launch, usage.get(launch.name), target) for launch in lowered.launches]
    main = max(each, key=_threads_in_all)
    tightest = min(each, key=lambda r: 2.0 if r.occupancy is None else r.occupancy)
    return Resources(
        registers=max((r.registers for r in each if r.registers is not None), default=None),
        spill_bytes=max((r.spill_bytes for r in each if r.spill_bytes is not None), default=None),
        shared_bytes=max((r.shared_bytes for r in each), key=lambda shared: shared.total),
        threads_launched=main.threads_launched,
        grid=main.grid,
        blocks_per_sm=tightest.blocks_per_sm,
        occupancy=tightest.occupancy,
        occupancy_limiter=tightest.occupancy_limiter,
        serialized=serialized(log),
    )


def no_room(resources: Resources, target: Target) -> str | None:
    """Why not even one block fits on an SM, with the figures; None where one does, and where the target's limits are not known."""
    limits, threads, shared = target.limits, resources.threads_launched or 0, resources.shared_bytes
    if limits is None:
        return None
    if threads > limits.threads_per_block:
        takes, most = f"it launches {threads:,} threads", f"a block may have {limits.threads_per_block:,}; use fewer threads"
    elif shared.total > limits.shared_per_block_bytes:
        takes = f"it takes {shared.total:,} B of shared memory ({shared.static:,} B static, {shared.dynamic:,} B dynamic)"
        most = f"a block may have {limits.shared_per_block_bytes:,} B; use fewer stages or smaller tiles"
    elif resources.blocks_per_sm == 0:
        takes = f"its {threads:,} threads have {resources.registers} registers each"
        most = f"an SM has {limits.registers_per_sm:,}; use fewer threads or smaller tiles"
    else:
        return None
    return f"no block fits on an SM of {target.name}: {takes}, and {most}"


def cpu_resources(source: str) -> Resources:
    """Bytes of the arrays that a C kernel keeps on the stack."""
    return Resources(stack_bytes=sum(_C_BYTES[kind] * int(count) for kind, count in _C_ARRAY.findall(source)))


def _usage(text: str) -> Usage:
    registers, shared, spills = _USED.search(text), _STATIC_SHARED.search(text), _SPILLS.search(text)
    stack, stores, loads = (int(value) for value in spills.groups()) if spills else (0, 0, 0)
    return Usage(int(registers[1]) if registers else 0, stack, stores, loads, int(shared[1]) if shared else 0)


def _kernel_resources(launch: Launch, usage: Usage | None, target: Target) -> Resources:
    shared = SharedBytes(static=usage.static_shared_bytes if usage else 0, dynamic=launch.dynamic_shared_bytes)
    if usage is None or launch.threads is None or target.limits is None:
        return Resources(shared_bytes=shared, threads_launched=launch.threads, grid=launch.grid)
    fit = occupancy(target.limits, threads=launch.threads, registers=usage.registers, shared_bytes=shared.total)
    return Resources(
        registers=usage.registers,
        spill_bytes=usage.local_bytes,
        shared_bytes=shared,
        threads_launched=launch.threads,
        grid=launch.grid,
        blocks_per_sm=fit.blocks_per_sm,
        occupancy=fit.share,
        occupancy_limiter=fit.limiter,
    )


def _threads_in_all(resources: Resources) -> int:
    x, y, z = resources.grid or (1, 1, 1)
    return x * y * z * (resources.threads_launched or 1)
