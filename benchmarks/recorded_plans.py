"""What is recorded on a GPU: problems for each kernel, and the configs to try. Edit the tables;
spaces follow from the kernels' own knobs.

For each kernel the first problem gets a wide sweep, the others share a short one, over what the
wide one found best and what the kernel itself suggests for each of them.
"""

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.problems import DECODE, LENGTHS, MATRICES, attention
from tileviz.errors import BadRequest
from tileviz.kernels import kernel as kernel_of
from tileviz.kernels.asked import AskedKernel
from tileviz.records import Config, Problem, Target, canonical_json


@dataclass(frozen=True)
class Plan:
    """One kernel's part of the recording."""

    kernel: str
    problems: tuple[dict[str, Any], ...]
    """The first gets the wide sweep; what is not named takes the kernel's own value."""
    plane: tuple[str, ...]
    """Knobs of which every combination of declared choices is tried, the others as the kernel has
    them: what a heatmap shows best."""
    extra: tuple[Config, ...] = ()
    """Configs to try in any case; what is not named is the kernel's default for the problem."""
    wide: int = 160
    """Configs of the wide sweep that are compiled."""
    shared: int = 20
    """Configs of the shared sweep, each for every problem."""
    weight: float = 1.0
    """Share of the time, against the other kernels."""
    values: dict[str, tuple] = field(default_factory=dict)
    """Choices of a knob in place of the declared ones, and of pass configs, which have none
    declared."""

    def moved(self, kernel: AskedKernel) -> tuple[str, ...]:
        """What is changed: the kernel's knobs, and the pass configs."""
        return (
            *(knob.name for knob in kernel.knobs),
            *(name for name in self.values if "." in name),
        )


FAST_MATH = {"tl.enable_fast_math": (False, True)}

SMALL_TILE = {
    "variant": "persistent",
    "block_M": 64,
    "threads": 128,
    "store": "shared",
    "policy": "Square",
    "enable_swizzle": False,
}


def _matrix(M: int, N: int, K: int, **more: Any) -> dict[str, Any]:
    return {"M": M, "N": N, "K": K, **more}


PLANS = (
    Plan(
        "gemm",
        (
            _matrix(4096, 4096, 4096), *(_matrix(*shape) for shape in MATRICES if shape != (4096,
            4096, 4096)),
            *(_matrix(*shape, dtype="bfloat16") for shape in MATRICES),
        ),
        plane=("variant", "block_M", "block_N", "block_K"),
        extra=(
            {**SMALL_TILE, "block_N": 64, "block_K": 128, "num_stages": 5},
            {**SMALL_TILE, "block_N": 128, "block_K": 128, "num_stages": 4},
        ),
        shared=14,
        weight=1.6,
    ),
    Plan(
        "gemm_bias_gelu",
        (
            _matrix(8192, 4096, 1024), _matrix(4096, 4096, 4096), _matrix(8192, 16384, 1024),
            _matrix(4096, 11008, 4096),
            _matrix(512, 4096, 4096), _matrix(2048, 8192, 2048), _matrix(8192, 4096, 1024,
            epilogue="bias_silu"),
            _matrix(8192, 4096, 1024, dtype="bfloat16"),
        ),
        plane=("variant", "block_M", "block_N", "block_K"),
        values=FAST_MATH,
        shared=14,
    ),
    Plan(
        "softmax",
        (
            {"M": 8192, "N": 8192}, {"M": 32768, "N": 1024}, {"M": 4096, "N": 32768}, {"M": 65536,
            "N": 1000},
            {"M": 1024, "N": 131072}, {"M": 131072, "N": 128}, {"M": 8, "N": 262144}, {"M": 8192,
            "N": 8192, "dtype": "bfloat16"},
        ),
        plane=("variant", "block_M", "threads"),
        values=FAST_MATH,
        shared=14,
    ),
    Plan(
        "flash_attention",
        (
            attention(4096, 128, False), attention(4096, 128, True), DECODE,
            *(attention(length, 128,
            causal) for length in LENGTHS if length != 4096 for causal in (False, True)),
            *(attention(length, head, causal) for head in (64, 256) for length in (512, 1024,
            4096) for causal in (False, True)),
            {**attention(4096, 128, True), "dtype": "bfloat16"},
        ),
        plane=("schedule", "block_M", "block_N", "num_stages"),
        values=FAST_MATH,
        shared=15,
        weight=1.6,
    ),
    Plan(
        "vector_add",
        (
            {"N": 1 << 26, "dtype": "float32"}, {"N": 1 << 20, "dtype": "float32"}, {"N": 1 << 28,
            "dtype": "float32"},
            {"N": 1 << 20, "dtype": "float16"}, {"N": 1 << 24, "dtype": "float16"}, {"N": 1 << 28,
            "dtype": "float16"},
            {"N": 1_000_003, "dtype": "float16"}, {"N": 1 << 26, "dtype": "bfloat16"},
        ),
        plane=("block_N", "threads"),
        wide=40,
        shared=8,
        weight=0.4,
    ),
)  # fmt: skip

MOST_DRAWS = 20_000


def full_problems(plan: Plan) -> list[Problem]:
    kernel = kernel_of(plan.kernel)
    return [kernel.problem(problem, "cuda") for problem in plan.problems]


def wide_configs(plan: Plan, target: Target, seed: int = 0) -> list[Config]:
    """Configs of the wide sweep: what the kernel suggests, the plane with what its rules forbid,
    each knob moved by itself, and then random ones that are allowed, until there are enough."""
    kernel, problem = kernel_of(plan.kernel), full_problems(plan)[0]
    chosen = _Chosen(kernel, problem, target, plan.wide)
    first = starts(kernel, [problem], target, plan.extra)
    base = first[0]
    draw = random.Random(seed)
    for config in first:
        chosen.add(config, forbidden=True)
    plane = list(
        _products(base, {name: _values(plan, kernel, target, name) for name in plan.plane})
    )
    draw.shuffle(plane)
    for config in plane:
        chosen.add(config, forbidden=True)
    for config in neighbours(plan, kernel, target, base):
        chosen.add(config)
    for _ in range(MOST_DRAWS):
        if chosen.full:
            break
        chosen.add(
            {
                **base,
                **{
                    name: draw.choice(_values(plan, kernel, target, name))
                    for name in plan.moved(kernel)
                },
            }
        )
    return chosen.configs


def shared_configs(
    plan: Plan, target: Target, best: Sequence[Config], seed: int = 0
) -> list[Config]:
    """Configs for every problem of a plan: what the kernel suggests for each, the best ones of the
    wide sweep in order, and what lies one step from these."""
    kernel, problems = kernel_of(plan.kernel), full_problems(plan)
    found: dict[str, Config] = {}
    suggested = starts(kernel, problems, target, plan.extra)
    near = [
        config
        for leader in (*suggested[:1], *best[:1])
        for config in neighbours(plan, kernel, target, leader)
    ]
    random.Random(seed).shuffle(near)
    room = max(plan.shared - len(suggested), plan.shared // 2)
    for config in (*suggested, *best[: room // 2 + 1], *near):
        if len(found) >= max(plan.shared, len(suggested)):
            break
        if any(not kernel.rules(problem, config, target).broken for problem in problems):
            # a knob that is idle for one problem may matter for another
            found.setdefault(
                canonical_json([kernel.same_code(problem, config, target) for problem in problems]),
                config,
            )
    return list(found.values())


def starts(
    kernel: AskedKernel, problems: Sequence[Problem], target: Target, extra: Sequence[Config] = ()
) -> list[Config]:
    """What the kernel would take for each problem, its presets' configs, and the extra ones; each
    once."""
    given = [
        {},
        *(preset.config for preset in kernel.presets if preset.config and preset.kind != "cpu"),
        *extra,
    ]
    found: dict[str, Config] = {}
    for problem, values in itertools.product(problems, given):
        try:
            config = kernel.config(values, target, problem)
        except BadRequest:
            continue  # a knob that the kernel had when the table was written
        found.setdefault(canonical_json(config), config)
    return list(found.values())


def neighbours(plan: Plan, kernel: AskedKernel, target: Target, base: Config) -> Iterator[Config]:
    """The config with one knob at another of its choices."""
    for name in plan.moved(kernel):
        for value in _values(plan, kernel, target, name):
            if value != base.get(name, False):
                yield {**base, name: value}


class _Chosen:
    """Configs with code of their own, up to a number of allowed ones; of the forbidden ones at the
    most half as many."""

    def __init__(self, kernel: AskedKernel, problem: Problem, target: Target, most: int) -> None:
        self.kernel, self.problem, self.target, self.most = kernel, problem, target, most
        self.seen: set[str] = set()
        self.configs: list[Config] = []
        self.allowed = self.forbidden = 0

    @property
    def full(self) -> bool:
        return self.allowed >= self.most

    def add(self, config: Config, forbidden: bool = False) -> None:
        key = canonical_json(self.kernel.same_code(self.problem, config, self.target))
        if key in self.seen:
            return
        broken = bool(self.kernel.rules(self.problem, config, self.target).broken)
        if (broken and (not forbidden or self.forbidden >= self.most // 2)) or (
            not broken and self.full
        ):
            return
        self.seen.add(key)
        self.configs.append(config)
        self.forbidden += broken
        self.allowed += not broken


def _products(base: Config, values: dict[str, tuple]) -> Iterator[Config]:
    for found in itertools.product(*values.values()):
        yield {**base, **dict(zip(values, found, strict=True))}


def _values(plan: Plan, kernel: AskedKernel, target: Target, name: str) -> tuple:
    return plan.values.get(name) or next(
        (knob.offered(target.name) for knob in kernel.knobs if knob.name == name), ()
    )
