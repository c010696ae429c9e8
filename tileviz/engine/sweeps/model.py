"""Predicts how long a config takes, from the kernel's rules and cost alone: numbers in,
microseconds out. It orders a queue, no more.

Roofline with the tile's own traffic, rounded up to whole waves of blocks, with factors for what
hides latency. Sources: CUDA programming guide (occupancy), the wave quantisation of NVIDIA's matrix
multiplication guide; the factors were set by hand against H200 sweeps.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tileviz.bench.peaks import Peaks, peaks_of
from tileviz.compiler.occupancy import occupancy
from tileviz.kernels.asked import AskedKernel
from tileviz.kernels.toolkit.rules import DTYPE_BYTES
from tileviz.records import Config, Cost, Device, Estimate, Limits, Problem, Target

OTHER_REGISTERS = 40
"""Registers of a thread beside its accumulator."""

L2_TBPS_PER_SM = 0.07
"""Rate at which L2 feeds one SM: most of 64 bytes a clock at 1.5 to 2 GHz."""

OVERLAP_LOSS = 0.15
"""Share of the second of the bounds that does not hide behind the first."""

GUESS = Peaks(
    {"float16": 300.0, "bfloat16": 300.0, "TF32": 150.0, "float32": 30.0},
    2.0,
    "a guess for a GPU that is in no table",
)
GUESSED_SMS = 108

DEPTH_FACTORS = ((192, 1.0), (128, 1.06), (64, 1.25), (0, 1.5))
"""Time over that of a full pipeline, by the least depth in flight: buffers times block_K."""

CACHE_BYTES = (32 << 10, 512 << 10)
"""First and second cache of a CPU core, about."""


@dataclass(frozen=True)
class Machine:
    """What the model knows of a device."""

    target: Target
    peaks: Peaks = GUESS
    sms: int = GUESSED_SMS


def machine_of(target: Target, device: Device | None) -> Machine:
    peaks = peaks_of(device.name) if device is not None else None
    sms = device.facts.get("sm_count") if device is not None else None
    return Machine(target, peaks or GUESS, sms or GUESSED_SMS)


@dataclass(frozen=True)
class Task:
    """What the model knows of a problem."""

    cost: Cost
    shape: tuple[int, ...]
    """Of the first output."""
    dtype: str
    math_mode: str


def task_of(kernel: AskedKernel, problem: Problem, target: Target) -> Task:
    output = kernel.arguments(problem).outputs[0]
    return Task(kernel.cost(problem), output.shape, output.dtype, kernel.math_mode(problem, target))


def predict_us(
    kernel: AskedKernel, problem: Problem, configs: Sequence[Config], machine: Machine
) -> list[float]:
    """Predicted microseconds of configs that break no rule. Right in order, not in size."""
    task = task_of(kernel, problem, machine.target)
    estimates = kernel.estimates(problem, configs, machine.target)
    limits = machine.target.limits
    if limits is None:  # a CPU
        return [
            _cpu_us(task, config, estimate)
            for config, estimate in zip(configs, estimates, strict=True)
        ]
    return [
        _gpu_us(task, config, estimate, machine, limits)
        for config, estimate in zip(configs, estimates, strict=True)
    ]


def _gpu_us(
    task: Task, config: Config, estimate: Estimate, machine: Machine, limits: Limits
) -> float:
    cost, peaks = task.cost, machine.peaks
    shape, dtype = task.shape, task.dtype
    rows, columns = _tile(config, shape, estimate)
    blocks = _blocks(shape, rows, columns)
    registers = min(limits.registers_per_thread, estimate.accumulator_registers + OTHER_REGISTERS)
    fit = occupancy(
        limits,
        threads=estimate.threads_launched,
        registers=registers,
        shared_bytes=estimate.shared_bytes,
    )
    resident = max(1, fit.blocks_per_sm) * machine.sms
    waves = math.ceil(blocks / resident)
    # in the last wave, blocks spread over all SMs before they share one
    last = blocks - (waves - 1) * resident
    idle = ((waves - 1) * resident + math.ceil(last / machine.sms) * machine.sms) / blocks
    padded = blocks * rows * columns / math.prod(shape)
    rate = peaks.tflops.get(peaks.mode(task.math_mode)) or peaks.tflops["float32"]
    compute_us = cost.flops / rate / 1e6 * padded * idle
    depth = cost.flops / 2 / math.prod(shape)
    tile_bytes = blocks * depth * (rows + columns) * DTYPE_BYTES[dtype] if depth > 2 else 0
    feed_us = tile_bytes / (L2_TBPS_PER_SM * machine.sms) / 1e6 * idle
    bounds = sorted((compute_us, feed_us, cost.bytes / peaks.tbps / 1e6))
    return (bounds[2] + OVERLAP_LOSS * bounds[1]) * _factors(
        config, estimate, limits, fit.blocks_per_sm
    )


def _factors(config: Config, estimate: Estimate, limits: Limits, blocks_per_sm: int) -> float:
    """What stretches the time: no buffers in flight, spills, too few or too many threads for the
    tile, no swizzle."""
    factor = 1.0
    if "num_stages" in config:
        in_flight = config["num_stages"] * config.get("block_K", config.get("block_N", 64))
        factor = next(factor for least, factor in DEPTH_FACTORS if in_flight >= least)
    over = estimate.accumulator_registers + OTHER_REGISTERS - limits.registers_per_thread
    if over > 0:
        factor *= 1.5 + over / 40
    warps = blocks_per_sm * estimate.threads / 32
    if warps < 8:
        factor *= 1 + (8 - warps) / 16
    if estimate.accumulator_registers and estimate.accumulator_registers < 32:
        factor *= 1.1
    if config.get("enable_swizzle") is False:
        factor *= 1.03
    return factor


def _tile(config: Config, shape: tuple[int, ...], estimate: Estimate) -> tuple[int, int]:
    """Rows and columns of the output that a block makes."""
    rows, columns = config.get("block_M"), config.get("block_N")
    if len(shape) == 1 or rows is None:
        return 1, min(columns or max(1, estimate.threads), shape[-1])
    if "block_K" in config and columns is not None:
        return rows, columns
    return rows, shape[-1]  # a whole row: softmax, attention


def _blocks(shape: tuple[int, ...], rows: int, columns: int) -> int:
    across = math.ceil(shape[-1] / columns)
    if len(shape) == 1:
        return across
    return across * math.ceil(shape[-2] / rows) * math.prod(shape[:-2])


def _cpu_us(task: Task, config: Config, estimate: Estimate) -> float:
    """One serial loop: what is computed in vain, and tiles that fall out of the caches."""
    shape = task.shape
    rows, columns = _tile(config, shape, estimate)
    padded = _blocks(shape, rows, columns) * rows * columns / math.prod(shape)
    work = max(task.cost.flops / 1e4, task.cost.bytes / 1e4) * padded
    spill = sum(0.25 for size in CACHE_BYTES if estimate.stack_bytes > size)
    overhead = _blocks(shape, rows, columns) * 0.05
    return work * (1 + spill) + overhead
