"""A trial as a person reads it in a terminal. Records in, text out."""

from tileviz import formats
from tileviz.bench.roofline import why_over
from tileviz.cli.explained import Explained, check_lines
from tileviz.measured import BaselineResult, Timing, Verdict
from tileviz.records import Cost, Trial

NOTHING = Explained()

STATUS_WORDS = {"ok": "ok", "wrong_result": "WRONG RESULT"}


def trial_text(
    trial: Trial, name: str = "", math_mode: str = "", found: Explained = NOTHING
) -> str:
    """A labelled line for each thing that the trial has; `name` of its device, the precision of its
    products, and what explains it, where they are known."""
    rows = [
        ("problem", formats.assignments(trial.problem)),
        ("config", formats.assignments(trial.config)),
        (
            "target",
            f"{trial.target}, on {name or trial.device}"
            if trial.device
            else f"{trial.target}, compiled only",
        ),
        ("math", math_mode),
        (
            "status",
            STATUS_WORDS.get(trial.status, trial.status)
            + (f": {trial.reason}" if trial.reason else ""),
        ),
        ("verdict", verdict_text(trial.verdict)),
        ("repeats", determinism_text(trial.verdict)),
        ("time", timing_text(trial.timing)),
        ("rate", rate_text(trial)),
        ("FLOPs", flops_text(trial, found.cost)),
        *found.rows,
        ("resources", resources_text(trial)),
        *((f"in {text}", counts_text(found)) for text, found in trial.instructions.items()),
        (
            "seconds",
            ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in trial.seconds.items()),
        ),
        ("artifact", trial.artifact),
        ("trial", trial.trial),
    ]
    lines = [f"{trial.kernel}"] + [f"  {label:<10} {value}" for label, value in rows if value]
    return "\n".join(lines + check_lines(found.checks) + baseline_lines(trial))


def verdict_text(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    errors = (
        f"relative error {formats.significant(verdict.rel_error)}, max abs error"
        f" {formats.significant(verdict.max_abs_error)}"
    )
    if verdict.ok:
        return f"right: {errors}; against {verdict.reference}"
    where = f", worst at {list(verdict.worst_index)}" if verdict.worst_index else ""
    return (
        f"WRONG: {formats.small_percent(verdict.wrong_fraction)} of the elements{where}; {errors}"
    )


def determinism_text(verdict: Verdict | None) -> str:
    """Whether launch after launch gave the same bits; empty where that was not looked at."""
    found = verdict.determinism if verdict is not None else None
    return formats.determinism(found.launches, found.differing) if found is not None else ""


def timing_text(timing: Timing | None) -> str:
    if timing is None:
        return ""
    median, p10, p90 = map(formats.duration_us, (timing.median_us, timing.p10_us, timing.p90_us))
    spread = f"median {median}, p10 {p10}, p90 {p90}"
    cache = (
        ""
        if timing.l2 == "n/a"
        else f", {timing.l2} L2" + (" by a write flush" if timing.flush == "write" else "")
    )
    clock = f", SM {timing.sm_clock_mhz:.0f} MHz" if timing.sm_clock_mhz else ""
    marks = [
        timing.implausible,
        "launch-bound: within twice an empty kernel" if timing.launch_bound else "",
        "throttled" if timing.throttled else "",
    ]
    return f"{spread} of {timing.n} ({timing.timer}{cache}{clock})" + "".join(
        f"; {mark}" for mark in marks if mark
    )


def rate_text(trial: Trial) -> str:
    rates = formats.rates(trial.tflops, trial.gbps)
    point = trial.roofline
    if point and point.fraction is not None:
        rates.append(
            f"{formats.percent(point.fraction)} of the {point.bound} ceiling ({point.ceiling})"
        )
    if point and point.fraction_measured is not None:
        rates.append(
            f"{formats.percent(point.fraction_measured)} of the measured one"
            f" ({point.ceiling_measured})"
        )
    over = why_over(point) if point else ""
    return ", ".join(rates) + (f". {over}" if over else "")


def flops_text(trial: Trial, cost: Cost | None) -> str:
    """Which count a causal rate follows, and what it is by the other; empty where there is one way
    to count."""
    if cost is None or cost.exact_flops is None or not trial.tflops:
        return ""
    exact = formats.arithmetic(trial.tflops * cost.exact_flops / cost.flops)
    return (
        f"causal, halved as papers count: {cost.flops_formula}; by exact pairs the rate is {exact}"
    )


def resources_text(trial: Trial) -> str:
    found = trial.resources
    words = []
    if found.registers is not None:
        words.append(f"{found.registers} registers a thread")
    if found.spill_bytes is not None:
        words.append(f"{formats.size_bytes(found.spill_bytes)} spilled")
    if found.shared_bytes.total:
        words.append(f"shared memory {formats.size_bytes(found.shared_bytes.total)}")
    if found.threads_launched is not None:
        words.append(f"{found.threads_launched} threads a block")
    if found.occupancy is not None:
        words.append(
            f"occupancy {formats.percent(found.occupancy, 0)}"
            + (f" (limited by {found.occupancy_limiter})" if found.occupancy_limiter else "")
        )
    if found.stack_bytes:
        words.append(f"{formats.size_bytes(found.stack_bytes)} of tiles on the stack")
    return ", ".join(words)


def counts_text(counts: dict[str, int]) -> str:
    """Static counts of the classes that occur."""
    return ", ".join(f"{name} {count}" for name, count in counts.items() if count)


def baseline_lines(trial: Trial) -> list[str]:
    if not trial.baselines:
        return []
    width = max(len(b.title) for b in trial.baselines)
    return ["  baselines"] + [
        f"    {baseline.title:<{width}}  {baseline_text(baseline)}" for baseline in trial.baselines
    ]


def baseline_text(baseline: BaselineResult) -> str:
    if baseline.timing is None:
        return f"{baseline.status}: {baseline.reason}" if baseline.reason else baseline.status
    words = [formats.duration_us(baseline.timing.median_us)]
    if baseline.comparison is not None:
        words.append(
            f"ours is {formats.compared_with(baseline.comparison, 'it')}"
            f" ({formats.interval(baseline.comparison)})"
        )
    if baseline.verdict is not None:
        own = f"relative error {formats.significant(baseline.verdict.rel_error)}"
        words.append(
            own if baseline.verdict.ok else f"its own result is outside the tolerance ({own})"
        )
    if baseline.compile_s:
        words.append(f"compiled in {formats.seconds(baseline.compile_s)}")
    return ", ".join(words)
