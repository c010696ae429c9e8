"""Numbers and times as a person reads them: three significant digits and a unit."""

import math
import time
from typing import Literal


def significant(value: float, digits: int = 3) -> str:
    """`1234.5` -> `1,230`; `0.012345` -> `0.0123`; a dash where there is no number."""
    if value is None or not math.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    rounded = round(value, digits - 1 - exponent)
    if rounded and math.floor(math.log10(abs(rounded))) > exponent:
        exponent += 1
    if abs(rounded) < 1e-4:
        return f"{value:.{digits - 1}e}"
    return f"{rounded:,.{max(digits - 1 - exponent, 0)}f}"


def duration_us(value: float | None) -> str:
    """Microseconds with the unit that keeps the number short: `81.4 us`, `3.21 ms`, `1.20 s`."""
    if value is None or not math.isfinite(value):
        return "-"
    for scale, unit in ((1e6, "s"), (1e3, "ms")):
        if abs(value) >= scale:
            return f"{significant(value / scale)} {unit}"
    return f"{significant(value)} \u00b5s"


def scale_us(largest: float) -> tuple[float, str]:
    """(divisor, unit) for an axis of microseconds whose largest value is `largest`."""
    for scale, unit in ((1e6, "s"), (1e3, "ms")):
        if largest >= scale:
            return scale, unit
    return 1.0, "\u00b5s"


def size_bytes(value: float | None) -> str:
    """`98,304 B` stays in bytes below a MiB; larger values in MiB or GiB."""
    if value is None:
        return "-"
    if value < 1 << 20:
        return f"{value:,.0f} B"
    if value < 1 << 30:
        return f"{significant(value / (1 << 20))} MiB"
    return f"{significant(value / (1 << 30))} GiB"


def bandwidth(gbps: float) -> str:
    """GB/s below a thousand, else TB/s: `98.0 GB/s`, `4.27 TB/s`."""
    return f"{significant(gbps / 1000)} TB/s" if gbps >= 1000 else f"{significant(gbps)} GB/s"


def arithmetic(tflops: float) -> str:
    """TFLOPS, below one GFLOPS: `640 TFLOPS`, `44.8 GFLOPS`."""
    return f"{significant(tflops)} TFLOPS" if tflops >= 1 else f"{significant(tflops * 1000)} GFLOPS"


def rate(tflops: float | None, gbps: float | None, bound: str) -> str:
    """What a kernel is judged by: GB/s where memory binds (`bound` is `memory`), TFLOPS where arithmetic does; the other where that one
    is not counted; a dash without any."""
    known = {"compute": "".join(_arithmetic(tflops)), "memory": "".join(_bandwidth(gbps))}
    return known[bound] or known["memory" if bound == "compute" else "compute"] or "-"


def rates(tflops: float | None, gbps: float | None) -> list[str]:
    """Both, where they are counted."""
    return [*_arithmetic(tflops), *_bandwidth(gbps)]


def _arithmetic(tflops: float | None) -> list[str]:
    return [arithmetic(tflops)] if tflops is not None and _is_rate(tflops) else []


def _bandwidth(gbps: float | None) -> list[str]:
    return [bandwidth(gbps)] if gbps is not None and _is_rate(gbps) else []


def _is_rate(value: float) -> bool:
    return math.isfinite(value) and value > 0


def percent(share: float | None, digits: int = 1) -> str:
    if share is None or not math.isfinite(share):
        return "-"
    return f"{share * 100:.{digits}f} %"


def small_percent(share: float) -> str:
    """A share that must never round to zero: `0.024 %`, `0.000012 %`."""
    return "0 %" if share == 0 else f"{significant(share * 100, 2)} %"


def count(value: float) -> str:
    """A whole number with every digit, `137,438,953,472`; one that is not whole, or has more digits than a double, rounded and looking like
    it: `1.37e+20`."""
    return f"{int(value):,}" if float(value).is_integer() and abs(value) < 2**53 else f"{value:.2e}"


def several(number: int, word: str) -> str:
    """`1 config`, `4,320 configs`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


Colour = Literal["green", "orange", "red", "violet", "gray"]
"""Of a word beside a number, by the names that Streamlit has for them."""

COMPARED: dict[str, tuple[str, Colour]] = {
    "faster": ("as fast as", "green"), "slower": ("as fast as", "orange"),
    "same": ("tied with", "gray"), "unclear": ("neither clearly faster nor slower than", "gray"),
}  # fmt: skip
"""What stands between us and the other of a comparison, by its verdict, and its colour. After a ratio: `1.05\u00d7 as fast as cuBLAS`."""


def compared_value(comparison) -> str:
    """`1.05\u00d7`, their time over ours, where one is clearly faster; else `tie` or `unclear`, and no ratio that may as well be 1."""
    return {"same": "tie", "unclear": "unclear"}.get(comparison.verdict) or f"{significant(comparison.ratio)}\u00d7"


def compared_with(comparison, title: str) -> str:
    """The same in a sentence: `1.05 times as fast as cuBLAS`, `tied with cuBLAS`."""
    if comparison.verdict in ("faster", "slower"):
        return f"{significant(comparison.ratio)} times as fast as {title}"
    return f"{COMPARED[comparison.verdict][0]} {title}"


def interval(comparison) -> str:
    """`1.04 to 1.06`: where their median over ours lies, at 95 %; and why that decides nothing, where it does not."""
    meet = ", but p10 to p90 of both meet" if comparison.verdict == "unclear" else ""
    return f"{significant(comparison.low)} to {significant(comparison.high)}{meet}"


def seconds(value: float) -> str:
    if value < 10:
        return f"{value:.1f} s"
    if value < 100:
        return f"{value:.0f} s"
    return f"{int(value // 60)} min {int(value % 60):02d} s"


def age(created: float, now: float | None = None) -> str:
    """`just now`, `3 minutes ago`, `2 days ago`."""
    passed = max(0.0, (time.time() if now is None else now) - created)
    if passed < 10:
        return "just now"
    for limit, scale, word in ((60, 1, "second"), (3600, 60, "minute"), (86400, 3600, "hour"), (math.inf, 86400, "day")):
        if passed < limit:
            n = int(passed // scale)
            return f"{n} {word}{'s' if n != 1 else ''} ago"
    return ""


def short_age(created: float, now: float | None = None) -> str:
    """`now`, `13 s ago`, `3 min ago`, `2 h ago`, `5 d ago`, for a narrow column."""
    words = age(created, now)
    if words == "just now":
        return "now"
    n, unit, _ = words.split()
    return f"{n} {({'second': 's', 'minute': 'min', 'hour': 'h', 'day': 'd'})[unit.rstrip('s')]} ago"


def assignments(values: dict) -> str:
    """`block_M=64 num_stages=3`, flags as true and false, None left out: the command line's own spelling."""
    return " ".join(f"{name}={word(value)}" for name, value in values.items() if value is not None)


def race_words(found: dict) -> str:
    """What came of a race against TileLang's AutoTuner (`engine.jobs.race.told`), in one or two sentences."""
    said = "TileLang AutoTuner: "
    if "wall_s" not in found:
        return f"{said}{found.get('reason') or 'no result'}."
    lost = f", {found['failed']:,} of them without a time" if found.get("failed") else ""
    said += f"{seconds(found['wall_s'])} for {found['tried']:,} configs{lost}, "
    said += f"best {assignments(found['config'])}, {duration_us(found['says_us'])} as it says"
    if found.get("measured_us") is not None:
        said += f" and {duration_us(found['measured_us'])} by our timer"
    if found.get("reason"):
        return f"{said}; {found['reason']}."
    if found.get("ours_us") is None:
        return f"{said}. This sweep: {seconds(found['sweep_s'])} of search."
    how = "faster" if found["ours_us"] < found["measured_us"] else "slower"
    ours = "the same config" if found["same"] else f"{assignments(found['ours_config'])}, {'tied' if found['tied'] else how}"
    return f"{said}. This sweep: {seconds(found['sweep_s'])} of search, best {duration_us(found['ours_us'])}: {ours}."


def word(value) -> str:
    """One value as it is typed and stands in the address."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    return str(value)


def determinism(launches: int, differing: int) -> str:
    """`same bits in 10 launches`, `1 element differs between 10 launches`."""
    if not differing:
        return f"same bits in {launches} launches"
    return f"{differing:,} {'element differs' if differing == 1 else 'elements differ'} between {launches} launches"
