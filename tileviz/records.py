"""The records that every part of tileviz passes around: frozen, plain, with the unit in the name.

Problems and configs are plain dicts of JSON values, completed and checked by `Kernel.problem` and `Kernel.config`. What checking and
timing give is in `measured`, and `records_json` turns any record into a JSON document and back.
"""

import json
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from tileviz.measured import BaselineResult, Comparison, Roofline, Timing, Verdict

Problem = dict[str, Any]
"""Sizes, dtypes and flags of one instance: {"M": 4096, "dtype": "float16", ...}"""

Config = dict[str, Any]
"""A value for every knob, and for every pass config given by its TileLang name ("tl.enable_fast_math")."""

Status = Literal[
    "ok", "pruned", "unsupported", "compile_failed", "launch_failed", "runtime_failed",
    "wrong_result", "timeout", "crashed", "cancelled",
]  # fmt: skip
"""What became of a trial."""

STATUSES: tuple[Status, ...] = get_args(Status)

DECIDED: tuple[Status, ...] = ("pruned", "unsupported")
"""Statuses that are known before anything is compiled."""

TargetKind = Literal["cuda", "cpu"]
"""What code is generated for."""

EndState = Literal["done", "failed", "cancelled"]
"""How a job or a sweep ends."""

SweepState = Literal["queued", "running", EndState]

JobState = Literal["queued", "running", "cancelling", EndState]
"""Where a job is; `cancelling` was told to stop while it ran."""

ACTIVE: tuple[JobState, ...] = ("queued", "running", "cancelling")
"""States of a job that has not ended; a sweep's are among them."""


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
    kind: TargetKind
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
    unusable: str = ""
    """Why no kernel runs there, in a few words: `no code for sm_61`; empty where one does."""


@dataclass(frozen=True)
class Estimate:
    """What the rules know of a config before anything is compiled."""

    shared_bytes: int = 0
    """Dynamic and static shared memory of a block."""
    shared_known: bool = True
    """False where a pass config lays shared memory out anew: then `shared_bytes` is what it takes without, and compiling tells the rest."""
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


MEMORY_LEVELS = ("dram", "l2", "shared", "registers")
"""The levels of memory that a model of traffic counts bytes through."""


@dataclass(frozen=True)
class Moved:
    """Model bytes through one level of memory."""

    bytes: float
    formula: str


@dataclass(frozen=True)
class Step:
    """One launch of a chain, or one pass inside of one."""

    name: str
    moved: dict[str, Moved] = field(default_factory=dict)
    """By level; a level that the step does not use is left out."""


@dataclass(frozen=True)
class Chain:
    """One way to compute a whole output, step by step, with the bytes that it moves: a model, not a measurement."""

    name: str
    title: str
    steps: tuple[Step, ...]
    note: str = ""
    ours: bool = False
    """Whether it is the kernel's own program."""

    def total(self, level: str) -> float:
        """Bytes of all steps through one of MEMORY_LEVELS."""
        return sum(step.moved[level].bytes for step in self.steps if level in step.moved)


FLOP_COUNTS = ("halved", "exact")
"""How FLOPs under a causal mask are counted: as papers do, which every stored rate follows, or the pairs that the mask leaves."""


@dataclass(frozen=True)
class Cost:
    """Work of one problem: the formula's value and the formula."""

    flops: int | float
    """Floating-point operations; 0 where the field counts none (softmax). Whole ones stay whole."""
    bytes: int | float
    """Model bytes: the minimum traffic, each input read once and each output written once."""
    flops_formula: str = ""
    bytes_formula: str = ""
    exact_flops: int | float | None = None
    """Of the pairs that a causal mask leaves, where `flops` follows the papers and halves; None where there is one way to count."""
    exact_formula: str = ""

    def counted(self, count: str) -> "Cost":
        """The same work with its FLOPs counted by one of FLOP_COUNTS."""
        if count != "exact" or self.exact_flops is None:
            return self
        return replace(self, flops=self.exact_flops, flops_formula=self.exact_formula)


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
    serialized: str | None = None
    """Why ptxas lets no wgmma run on beside other work, in its words; "" where it does not say so, None where it did not speak."""
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
    more: dict[str, str] = field(default_factory=dict)
    """Texts of the registry that have no field here, by name."""
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
class Trial:
    """One config of one kernel and problem on one target. Carries its own config, so that it never lands under other knobs."""

    trial: str
    kernel: str
    problem: Problem
    config: Config
    target: str
    device: str | None
    status: Status
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
    comparison: Comparison | None = None
    """The baseline against ours; None where there is none. The words of a page and of the command line are those of this."""
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
    """One of `engine.jobs.kinds.KINDS`, or a word of another version."""
    request: dict[str, Any]
    state: JobState
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
        return self.state in ACTIVE


def canonical_json(value: Any) -> str:
    """One spelling of a problem, a config or another value of plain JSON types: for hashing, and to find equal ones."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
