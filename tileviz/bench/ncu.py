"""Nsight Compute: is it here, the command that profiles launches, and its CSV as records. Text in, records out; runs only ncu itself.

The program that is profiled marks the launches itself (cudaProfilerStart and cudaProfilerStop), so nothing else is counted. Clocks are
left alone (`--clock-control none`) and caches are emptied before each launch, as ncu does by default.
"""

import csv
import glob
import io
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

from tileviz.errors import RuntimeFailed, ToolMissing

DURATION = "gpu__time_duration.sum"
DRAM_READ, DRAM_WRITE = "dram__bytes_read.sum", "dram__bytes_write.sum"
SM_CLOCK = "smsp__cycles_elapsed.avg.per_second"
TENSOR = (
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
)
"""Tensor-pipe use; the second where an architecture lacks the first."""

STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
STALLS = {
    "long_scoreboard": "waiting for global or local memory",
    "short_scoreboard": "waiting for shared memory or a special function",
    "math_pipe_throttle": "the arithmetic pipe is full",
    "gmma": "waiting for a warp-group matrix product",
    "barrier": "waiting at a barrier",
    "wait": "fixed latency between dependent instructions",
    "mio_throttle": "the shared-memory queue is full",
    "lg_throttle": "the global-memory queue is full",
    "tex_throttle": "the texture queue is full",
    "no_instruction": "waiting for the instruction cache",
    "not_selected": "another warp was chosen",
    "membar": "waiting at a memory fence",
    "drain": "waiting for stores before it ends",
    "sleeping": "asleep",
    "branch_resolving": "waiting for a branch",
    "dispatch_stall": "the dispatcher is held",
    "imc_miss": "waiting for the constant cache",
    "misc": "other",
}
"""Stall reasons, and what each means."""

SCALES = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "K": 1e3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
UNITS = {"second": "s", "nsecond": "ns", "usecond": "us", "msecond": "ms"}

PERMISSION = (
    "the driver lets only an administrator read performance counters (ERR_NVGPUCTRPERM): run as root, in a container with"
    " --cap-add=SYS_ADMIN, or load the nvidia module with NVreg_RestrictProfilingToAdminUsers=0"
)

PLACES = (
    "/usr/local/cuda/bin/ncu",
    "/usr/local/cuda/nsight-compute-*/ncu",
    "/usr/local/cuda-*/bin/ncu",
    "/opt/nvidia/nsight-compute/*/ncu",
)


@dataclass(frozen=True)
class Launch:
    """What ncu measured of one kernel launch. None where it gave no value."""

    kernel: str
    duration_us: float | None = None
    """gpu__time_duration: from the launch's first to its last activity on the GPU, with some 1 to 1.5 us of ncu's own."""
    dram_read_bytes: float | None = None
    dram_write_bytes: float | None = None
    tensor_percent: float | None = None
    """Cycles in which the tensor pipe was busy, of those in which the multiprocessor was active."""
    sm_clock_mhz: float | None = None
    stalls: tuple[tuple[str, float], ...] = ()
    """(reason, warps stalled for it at each issue), largest first."""


def find_ncu() -> str | None:
    """Path of ncu: NCU, then PATH, CUDA_HOME and the usual places, newest first."""
    named = os.environ.get("NCU")
    if named:
        return named if os.access(named, os.X_OK) else None
    roots = [root for root in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")) if root]
    patterns = [f"{root}/{path}" for root in roots for path in ("bin/ncu", "nsight-compute-*/ncu")]
    found = [path for pattern in (*patterns, *PLACES) for path in sorted(glob.glob(pattern), reverse=True) if os.access(path, os.X_OK)]
    return shutil.which("ncu") or next(iter(found), None)


def is_available() -> str | None:
    """Why ncu cannot be used here, with what to do; None when it can be tried. Whether counters are permitted only a run tells."""
    if find_ncu() is not None:
        return None
    if os.environ.get("NCU"):
        return f"NCU is set to {os.environ['NCU']}, which is no program that can be run"
    return "Nsight Compute (ncu) was not found; install the CUDA toolkit's nsight-compute package, or set NCU to its path"


def metrics(known: Iterable[str] | None = None, *, only_duration: bool = False) -> list[str]:
    """Names to ask for. `known` is what this ncu offers for the device (`known_metrics`), with which the others are left out."""
    if only_duration:
        return [DURATION, SM_CLOCK]
    wanted = [DURATION, DRAM_READ, DRAM_WRITE, SM_CLOCK, *TENSOR, *(STALL.format(reason) for reason in STALLS)]
    if known is None:
        return [name for name in wanted if name != TENSOR[1]]
    bases = set(known)
    kept = [name for name in wanted if name.split(".")[0] in bases]
    return [name for name in kept if not (name == TENSOR[1] and TENSOR[0] in kept)]


def known_metrics(ncu: str | None = None) -> set[str] | None:
    """Base names of the metrics that this ncu has for the device here; None when it cannot be asked."""
    ncu = ncu or find_ncu()
    if ncu is None:
        return None
    try:
        done = subprocess.run([ncu, "--query-metrics"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = {line.split()[0] for line in done.stdout.splitlines() if re.match(r"[a-z0-9]+__\w+", line)}
    return found or None


def command(target: list[str], names: list[str], ncu: str | None = None) -> list[str]:
    """The command line that profiles `target` (a command line) between its own profiler start and stop.

    Raises ToolMissing when there is no ncu.
    """
    ncu = ncu or find_ncu()
    if ncu is None:
        raise ToolMissing(is_available() or "")
    return [
        ncu,
        "--csv",
        *("--print-units", "base"),
        *("--clock-control", "none"),
        *("--profile-from-start", "off"),
        *("--target-processes", "all"),
        *("--metrics", ",".join(names)),
        *target,
    ]  # fmt: skip


def profile(target: list[str], names: list[str], timeout_s: float = 300.0, env: dict[str, str] | None = None) -> list[Launch]:
    """Profiles a command and gives its marked launches in order. Raises RuntimeFailed with one sentence when ncu fails."""
    environment = {**os.environ, **(env or {}), "LC_ALL": "C"}
    try:
        done = subprocess.run(command(target, names), capture_output=True, text=True, timeout=timeout_s, env=environment)
    except subprocess.TimeoutExpired as error:
        raise RuntimeFailed(f"ncu was stopped after {timeout_s:g} s") from error
    reason = trouble(done.stdout + done.stderr, done.returncode)
    if reason:
        raise RuntimeFailed(reason, (done.stdout + done.stderr)[-4000:])
    return parse(done.stdout)


def trouble(text: str, status: int = 0) -> str:
    """What went wrong, in one sentence, from ncu's own output; empty when nothing did."""
    if "ERR_NVGPUCTRPERM" in text:
        return PERMISSION
    error = next((line.removeprefix("==ERROR==").strip() for line in text.splitlines() if line.startswith("==ERROR==")), "")
    if error:
        return f"ncu failed: {error}"
    if "No kernels were profiled" in text:
        return "ncu saw no launch: the program ended before it launched anything"
    return f"ncu or the program it ran ended with exit status {status}" if status else ""


def parse(text: str) -> list[Launch]:
    """The launches in ncu's CSV, in order, whatever lines of the program and of ncu stand around it.

    Takes the long form (a row a metric) and the wide form (`--page raw`: a row a launch, units in the second row).
    """
    rows = [row for row in csv.reader(io.StringIO(_table(text))) if row]
    if not rows:
        return []
    head = {name: at for at, name in enumerate(rows[0])}
    if "Metric Name" in head:
        return _long(head, rows[1:])
    return _wide(head, rows[1:])


def value_of(text: str, unit: str) -> float | None:
    """A number in base units: seconds, bytes, hertz; percent and ratios as they are. `1,234` is 1234; None for `n/a`."""
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        return None
    unit = UNITS.get(unit, unit)
    match = re.fullmatch(r"([numKkMGT]?)(s|byte|B|hz|Hz|cycle/second|cycle/s)", unit)
    return number * SCALES[match.group(1)] if match else _per_time(number, unit)


def _per_time(number: float, unit: str) -> float:
    """`cycle/nsecond` and `cycle/ns` are 10^9 a second."""
    match = re.fullmatch(r"\w+/([num]?)s(?:econd)?", unit)
    return number / SCALES[match.group(1)] if match else number


def _table(text: str) -> str:
    """The CSV from its head on: lines of the program and of ncu (`==PROF== ...`) left out."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID","Process ID"') or '"Metric Name"' in line), None)
    if start is None:
        return ""
    return "\n".join(line for line in lines[start:] if line.startswith('"'))


def _long(head: dict[str, int], rows: list[list[str]]) -> list[Launch]:
    found: dict[str, dict[str, float | None]] = {}
    kernels: dict[str, str] = {}
    for row in rows:
        number = row[head["ID"]]
        kernels[number] = row[head["Kernel Name"]]
        unit = row[head["Metric Unit"]]
        found.setdefault(number, {})[row[head["Metric Name"]]] = value_of(row[head["Metric Value"]], unit)
    return [_launch(kernels[number], values) for number, values in found.items()]


def _wide(head: dict[str, int], rows: list[list[str]]) -> list[Launch]:
    if not rows:
        return []
    units, launches = rows[0], rows[1:]
    named = {name: at for name, at in head.items() if "__" in name}
    return [_launch(row[head["Kernel Name"]], {name: value_of(row[at], units[at]) for name, at in named.items()}) for row in launches]


def _launch(kernel: str, values: dict[str, float | None]) -> Launch:
    seconds, hertz = values.get(DURATION), values.get(SM_CLOCK)
    stalls = {reason: values.get(STALL.format(reason)) for reason in STALLS}
    ranked = sorted(((r, v) for r, v in stalls.items() if v), key=lambda pair: -pair[1])
    return Launch(
        kernel=kernel,
        duration_us=None if seconds is None else seconds * 1e6,
        dram_read_bytes=values.get(DRAM_READ),
        dram_write_bytes=values.get(DRAM_WRITE),
        tensor_percent=next((values[name] for name in TENSOR if values.get(name) is not None), None),
        sm_clock_mhz=None if hertz is None else hertz / 1e6,
        stalls=tuple(ranked),
    )
