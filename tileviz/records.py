"""The records that every part of tileviz passes around: frozen, plain, with the unit in the name.

Problems and configs are plain dicts of JSON values, completed and checked by `Kernel.problem` and `Kernel.config`.
`to_json` turns any record into the JSON document that the command line and the store use.
"""

import dataclasses
import json
import math
from dataclasses import dataclass, field
from typing import Any

Problem = dict[str, Any]
"""Sizes, dtypes and flags of one instance: {"M": 4096, "dtype": "float16", ...}"""

Config = dict[str, Any]
"""A value for every knob, and for every pass config given by its TileLang name ("tl.enable_fast_math")."""

STATUSES = (
    "ok", "pruned", "unsupported", "compile_failed", "launch_failed", "runtime_failed",
    "wrong_result", "timeout", "crashed", "cancelled",
)  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """What one SM of an architecture has. Source: CUDA programming guide, table of compute capabilities."""

    shared_per_block_bytes: int
    """Most shared memory one block may use, static and dynamic together."""
    shared_per_sm_bytes: int
    shared_reserved_bytes: int
    """Taken by the system from each resident block."""
    threads_per_sm: int
    blocks_per_sm: int
    registers_per_sm: int = 65536
    threads_per_block: int = 1024
    registers_per_thread: int = 255


@dataclass(frozen=True)
class Target:
    """What code is generated for: a CUDA architecture or the CPU."""

    name: str
    """`cpu`, or the real -arch value: `sm_90a`."""
    kind: str
    """`cuda` or `cpu`."""
    capability: tuple[int, int] | None = None
    limits: Limits | None = None
    note: str = ""
    """Why the name differs from what was asked: `sm_90 is compiled as sm_90a`; or a limit of the toolkit."""
    source_only: bool = False
    """True when the installed CUDA 13 toolkit makes no machine code for it (sm_70)."""

    @property
    def is_cuda(self) -> bool:
        return self.kind == "cuda"

    def at_least(self, major: int, minor: int = 0) -> bool:
        """True for a CUDA target of at least this compute capability."""
        return self.capability is not None and self.capability >= (major, minor)


@dataclass(frozen=True)
class Device:
    """What a kernel runs on, with the facts that a number depends on."""

    id: str
    """`cpu`, `cuda:0`, ..."""
    name: str
    target: str
    facts: dict[str, Any] = field(default_factory=dict)
    """compute_capability, sm_count, memory_bytes, shared_per_block_bytes, shared_per_sm_bytes, l2_bytes, sm_clock_max_mhz,
    memory_clock_max_mhz, power_cap_w; for the CPU: cores, memory_bytes. A fact that cannot be read is left out."""
    fingerprint: dict[str, Any] = field(default_factory=dict)
    """Device name, driver, CUDA, torch and TileLang versions. Numbers of unlike fingerprints are not compared silently."""


@dataclass(frozen=True)
class Estimate:
    """What the rules know of a config before anything is compiled."""

    shared_bytes: int = 0
    """Dynamic and static shared memory of a block."""
    accumulator_registers: int = 0
    """32-bit registers a thread needs for its accumulator alone."""
    threads: int = 0
    """Threads that the config asks for."""
    producer_threads: int = 0
    """Threads that warp specialisation is expected to add on Hopper and newer; an estimate until lowered."""
    stack_bytes: int = 0
    """Tiles on the stack of the CPU target."""
    broken: tuple[str, ...] = ()
    """Every rule the config breaks, a sentence each. Empty means it may be compiled."""
    notes: tuple[str, ...] = ()
    """What is allowed but slow or surprising, a sentence each."""

    @property
    def threads_launched(self) -> int:
        return self.threads + self.producer_threads


FLOP_COUNTS = ("halved", "exact")
"""How FLOPs under a causal mask are counted: as papers do, which every stored rate follows, or the pairs that the mask leaves."""


@dataclass(frozen=True)
class Cost:
    """Work of one problem: the formula's value and the formula."""

    flops: float
    """Floating-point operations; 0 where the field counts none (softmax)."""
    bytes: float
    """Model bytes: the minimum traffic, each input read once and each output written once."""
    flops_formula: str = ""
    bytes_formula: str = ""
    exact_flops: float | None = None
    """Of the pairs that a causal mask leaves, where `flops` follows the papers and halves; None where there is one way to count."""
    exact_formula: str = ""

    def counted(self, count: str) -> "Cost":
        """The same work with its FLOPs counted by one of FLOP_COUNTS."""
        if count != "exact" or self.exact_flops is None:
            return self
        return dataclasses.replace(self, flops=self.exact_flops, flops_formula=self.exact_formula)


@dataclass(frozen=True)
class SharedBytes:
    static: int = 0
    dynamic: int = 0

    @property
    def total(self) -> int:
        return self.static + self.dynamic


@dataclass(frozen=True)
class Resources:
    """What a compiled kernel takes. A value that a target does not have is None."""

    registers: int | None = None
    """32-bit registers a thread at launch."""
    spill_bytes: int | None = None
    """Local memory of a thread: stack and spills."""
    shared_bytes: SharedBytes = SharedBytes()
    threads_launched: int | None = None
    grid: tuple[int, int, int] | None = None
    blocks_per_sm: int | None = None
    occupancy: float | None = None
    """Resident warps of an SM, as a share of the most it can hold, 0 to 1."""
    occupancy_limiter: str | None = None
    """`registers`, `shared memory`, `threads` or `blocks`."""
    stack_bytes: int | None = None
    """CPU target: bytes of tiles on the stack."""


@dataclass(frozen=True)
class Artifact:
    """What compiling one trial gave. Texts live in the store as files under `key`."""

    key: str
    """Content hash of everything that decides the generated code."""
    target: str
    source: str
    """CUDA, or C for the CPU target."""
    source_language: str
    """`cuda` or `c`."""
    ptx: str | None = None
    sass: str | None = None
    ir: str | None = None
    """TileLang's lowered IR, the last form before the source."""
    program: str | None = None
    """The kernel's file, that the Python lines of `lines` are counted in."""
    cubin: bytes | None = None
    resources: Resources = Resources()
    instructions: dict[str, dict[str, int]] = field(default_factory=dict)
    """Static counts: {"source": {"tensor_core": 8}, "ptx": {...}, "sass": {...}}."""
    compiler: str = ""
    """`NVRTC 13.5`, `nvcc 13.5`, `g++ 12.2 -O3`."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall seconds of each step: lower, compile, disassemble."""
    missing: dict[str, str] = field(default_factory=dict)
    """Texts that could not be made and why: {"sass": "nvdisasm not found; ..."}."""
    lines: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Where each line of a text comes from, 0 where that is not known: of "source" the Python line, of "ptx" and "sass" the CUDA line."""
    tensors: tuple[dict[str, Any], ...] = ()
    """{"name", "shape", "dtype"} of the program's arguments; a size that is known only at run time is a text."""


@dataclass(frozen=True)
class ErrorMap:
    """Where in an output the errors lie: the output as a matrix of its last dimension across, cut into blocks."""

    shape: tuple[int, ...]
    """Of the output."""
    block: tuple[int, int]
    """Rows and columns of a block; those at the ends may be smaller. A vector is one column."""
    worst: tuple[tuple[float, ...], ...]
    """Largest error of each block over its bound: above 1 is wrong, infinity is a NaN or infinity that should be a number."""
    wrong: tuple[tuple[int, ...], ...] = ()
    """Wrong elements of each block; empty when there are none."""


@dataclass(frozen=True)
class Verdict:
    """Output against reference."""

    ok: bool
    rel_error: float
    """Frobenius norm of the difference over that of the reference."""
    max_abs_error: float
    wrong_fraction: float
    """Share of elements outside the tolerance. Any is a failure."""
    wrong_count: int = 0
    worst_index: tuple[int, ...] | None = None
    unwritten_count: int = 0
    """Elements that still hold the NaN they were filled with."""
    tolerance: str = ""
    """The bound in words and numbers, with what it was derived from."""
    reference: str = "float64"
    reason: str = ""
    """One sentence when wrong: `8 of 104 columns never written (96-103)`."""
    errors: ErrorMap | None = None
    """None where it was not kept: right results of a sweep and of baselines."""


@dataclass(frozen=True)
class Timing:
    """Every sample of one timed callable."""

    samples_us: tuple[float, ...]
    timer: str
    """`cupti`, `cuda_events` or `perf_counter`."""
    l2: str
    """`cold`, `warm`, or `n/a` on the CPU."""
    warmup: int = 0
    """Launches before the first sample."""
    stop_reason: str = ""
    """Why sampling stopped: `median known to 0.44 %, target 0.5 %` or `cap of 200 samples`."""
    sm_clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    power_w: float | None = None
    temperature_c: float | None = None
    throttled: bool | None = None
    """True when a thermal or hardware slowdown was seen; None when clocks cannot be read."""
    throttle_reasons: tuple[str, ...] = ()
    sm_clocks_mhz: tuple[float, ...] = ()
    """The SM clock while the samples were taken, in order and thinned to at most 60: the lowest of each share."""
    clock_limits: tuple[tuple[int, int, str], ...] = ()
    """(first, last, reasons): which of `sm_clocks_mhz` were held back, and why. A power cap counts here, though it flags no value."""
    implausible: str = ""
    """Why the value cannot be right: faster than the memory or the arithmetic allows. Empty when plausible."""
    launch_bound: bool = False
    """Within 2x of an empty kernel: never ranked."""
    l2_resident: bool = False
    """Warm L2 and a rate over what memory can give: the data came from L2."""
    floor_us: float | None = None
    """An empty kernel by the same timer, in the same session."""
    flush: str = ""
    """How L2 was emptied before each sample: `read`, `write` or `none`; empty on the CPU."""
    earlier_us: tuple[float, ...] = ()
    """Samples taken before the others and set aside: at another clock, or before ours and the baselines were measured in turn."""
    note: str = ""
    """How the samples came about: measured in turn, measured again and why."""

    @property
    def n(self) -> int:
        return len(self.samples_us)

    @property
    def median_us(self) -> float:
        return quantile(self.samples_us, 0.5)

    @property
    def p10_us(self) -> float:
        return quantile(self.samples_us, 0.1)

    @property
    def p90_us(self) -> float:
        return quantile(self.samples_us, 0.9)


@dataclass(frozen=True)
class Comparison:
    """One timing against another."""

    verdict: str
    """`faster`, `slower`, `same` or `unclear`."""
    ratio: float
    """Their median over ours: above 1 means ours is faster."""
    low: float
    high: float
    """Interval of the ratio, 95 %."""


@dataclass(frozen=True)
class BaselineResult:
    """What a user would use instead, checked and timed with the same inputs, timer and L2 mode."""

    name: str
    title: str
    status: str
    reason: str = ""
    detail: str = ""
    kernel_name: str = ""
    math_mode: str = ""
    """`float32`, `TF32`, `float16 in, float32 accumulate`."""
    compile_s: float | None = None
    """Seconds before the first result, where the baseline compiles (torch.compile)."""
    verdict: Verdict | None = None
    timing: Timing | None = None
    comparison: Comparison | None = None
    speedup: float | None = None
    """Its median over ours; None where either is missing or implausible."""


@dataclass(frozen=True)
class Roofline:
    bound: str
    """`memory` or `compute`."""
    fraction: float | None
    """Share of that ceiling reached, 0 to 1; None when no ceiling is known."""
    ceiling: str = ""
    """The ceiling used, with its source: `4.80 TB/s, datasheet`."""
    fraction_measured: float | None = None
    """Share of the ceiling measured on this device; over 1 when this kernel beats what was measured with."""
    ceiling_measured: str = ""
    """`4.28 TB/s, copy of 4.00 GiB measured on 2026-11-29`."""


@dataclass(frozen=True)
class Trial:
    """One config of one kernel and problem on one target. Carries its own config, so that it never lands under other knobs."""

    trial: str
    kernel: str
    problem: Problem
    config: Config
    target: str
    device: str | None
    status: str
    reason: str = ""
    detail: str = ""
    """The tool's own text, folded on the page."""
    key: str = ""
    resources: Resources = Resources()
    instructions: dict[str, dict[str, int]] = field(default_factory=dict)
    verdict: Verdict | None = None
    timing: Timing | None = None
    tflops: float | None = None
    gbps: float | None = None
    roofline: Roofline | None = None
    baselines: tuple[BaselineResult, ...] = ()
    fingerprint: dict[str, Any] = field(default_factory=dict)
    artifact: str | None = None
    inputs: str = "normal"
    """Distribution of the inputs; only normal data is compared with published numbers."""
    seed: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall seconds of each phase."""
    created: float = 0.0
    """Unix time."""
    profile: dict[str, Any] | None = None
    """What Nsight Compute measured of one cold launch: the fields of `bench.ncu.Launch`, and `created`. None while it was not asked."""
    recorded: bool = False
    """True when it comes with tileviz and was not measured on this machine; its device is then a name, never an id of a device here."""


@dataclass(frozen=True)
class TunedConfig:
    """The best config that a sweep found for one problem: what a like problem starts from. A page calls it a preset."""

    id: str
    kernel: str
    problem: Problem
    config: Config
    target: str
    device: str
    """Name of the device that it was measured on: `NVIDIA H200`."""
    median_us: float
    tflops: float | None = None
    gbps: float | None = None
    baseline: str = ""
    """Title of the fastest baseline beside it; empty where none was measured."""
    baseline_us: float | None = None
    speedup: float | None = None
    """The baseline's median over ours."""
    sweep: str = ""
    trial: str = ""
    fingerprint: dict[str, Any] = field(default_factory=dict)
    created: float = 0.0
    """Unix time of the trial."""
    recorded: bool = False
    """True when it comes with tileviz."""


@dataclass(frozen=True)
class JobView:
    """A job as the store knows it."""

    id: str
    kind: str
    """`compile`, `run`, `sweep`, `read`, `structure`, `profile` or `ceilings`."""
    request: dict[str, Any]
    state: str
    """`queued`, `running`, `cancelling`, `done`, `failed` or `cancelled`."""
    phase: str = ""
    phases: dict[str, float] = field(default_factory=dict)
    """Seconds each finished phase took."""
    phase_started: float | None = None
    trial: str | None = None
    """Set as soon as there is a result, while baselines may still be running."""
    artifact: str | None = None
    """Set as soon as the source is generated, before the rest is compiled."""
    reason: str = ""
    created: float = 0.0
    started: float | None = None
    ended: float | None = None
    queue_position: int | None = None

    @property
    def active(self) -> bool:
        return self.state in ("queued", "running", "cancelling")


def quantile(samples, q: float) -> float:
    """Linear-interpolation quantile (numpy's default, type 7) of a non-empty sequence; NaN when it is empty."""
    if not samples:
        return math.nan
    ordered = sorted(samples)
    at = q * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def to_json(record) -> Any:
    """The JSON value of a record: fields by name, tuples as lists, NaN and infinity as None; a Timing gains its median,
    p10, p90 and n; bytes are left out."""
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        out = {
            f.name: to_json(getattr(record, f.name)) for f in dataclasses.fields(record) if not isinstance(getattr(record, f.name), bytes)
        }
        if isinstance(record, Timing):
            out = {
                "median_us": to_json(record.median_us),
                "p10_us": to_json(record.p10_us),
                "p90_us": to_json(record.p90_us),
                "n": record.n,
                **out,
            }
        return out
    if isinstance(record, dict):
        return {str(k): to_json(v) for k, v in record.items()}
    if isinstance(record, (list, tuple, set, frozenset)):
        return [to_json(v) for v in record]
    if isinstance(record, float) and not math.isfinite(record):
        return None
    return record


def resources_from_json(doc: dict[str, Any]) -> Resources:
    """The Resources that `to_json` wrote."""
    values = _known(Resources, doc)
    values["shared_bytes"] = SharedBytes(**_known(SharedBytes, doc.get("shared_bytes") or {}))
    if values.get("grid"):
        values["grid"] = tuple(values["grid"])
    return Resources(**values)


def trial_from_json(doc: dict[str, Any]) -> Trial:
    """The Trial that `to_json` wrote; fields that a newer or older version has and this one lacks are left out."""
    values = _known(Trial, doc)
    values["resources"] = resources_from_json(doc.get("resources") or {})
    values["verdict"] = _verdict(doc.get("verdict"))
    values["timing"] = _timing(doc.get("timing"))
    values["roofline"] = Roofline(**_known(Roofline, doc["roofline"])) if doc.get("roofline") else None
    values["baselines"] = tuple(_baseline(b) for b in doc.get("baselines") or ())
    return Trial(**values)


def tuned_from_json(doc: dict[str, Any]) -> TunedConfig:
    """The TunedConfig that `to_json` wrote."""
    return TunedConfig(**_known(TunedConfig, doc))


def canonical_json(value) -> str:
    """One spelling of a JSON value, for hashing."""
    return json.dumps(to_json(value), sort_keys=True, separators=(",", ":"))


def _known(cls, doc):
    names = {f.name for f in dataclasses.fields(cls)}
    return {k: v for k, v in doc.items() if k in names}


def _verdict(doc) -> Verdict | None:
    if not doc:
        return None
    values = _known(Verdict, doc)
    if values.get("worst_index") is not None:
        values["worst_index"] = tuple(values["worst_index"])
    for name in ("rel_error", "max_abs_error", "wrong_fraction"):
        if values.get(name) is None:
            values[name] = math.nan
    values["errors"] = _error_map(values.get("errors"))
    return Verdict(**values)


def _error_map(doc) -> ErrorMap | None:
    if not doc:
        return None
    values = _known(ErrorMap, doc)
    worst = tuple(tuple(math.inf if v is None else v for v in row) for row in values["worst"])
    wrong = tuple(tuple(row) for row in values.get("wrong") or ())
    return ErrorMap(tuple(values["shape"]), tuple(values["block"]), worst, wrong)


def _timing(doc) -> Timing | None:
    if not doc:
        return None
    values = _known(Timing, doc)
    values["samples_us"] = tuple(values.get("samples_us") or ())
    values["throttle_reasons"] = tuple(values.get("throttle_reasons") or ())
    values["earlier_us"] = tuple(values.get("earlier_us") or ())
    values["sm_clocks_mhz"] = tuple(values.get("sm_clocks_mhz") or ())
    values["clock_limits"] = tuple(tuple(limit) for limit in values.get("clock_limits") or ())
    return Timing(**values)


def _baseline(doc) -> BaselineResult:
    values = _known(BaselineResult, doc)
    values["verdict"] = _verdict(doc.get("verdict"))
    values["timing"] = _timing(doc.get("timing"))
    values["comparison"] = Comparison(**_known(Comparison, doc["comparison"])) if doc.get("comparison") else None
    return BaselineResult(**values)
