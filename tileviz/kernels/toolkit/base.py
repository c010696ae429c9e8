"""What a kernel is: a tile program with its problem, knobs, inputs, reference, cost, rules and baselines.

Everything else derives from this declaration: the form, the rules, presets, checks, the command line, the tests. A kernel file imports
neither TileLang nor torch: `T` imports TileLang on first use, torch is imported inside functions.
"""

import functools
import hashlib
import inspect
import os
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tileviz.errors import BadRequest, UnknownName
from tileviz.kernels.card import Preset
from tileviz.kernels.toolkit import rules
from tileviz.kernels.toolkit.fields import Choice, Flag, Knob, Real, Size
from tileviz.kernels.toolkit.pass_configs import parse_pass_config
from tileviz.kernels.toolkit.stand_in import LazyLanguage, for_cpu
from tileviz.kernels.toolkit.triton_baseline import TritonBaseline
from tileviz.records import Chain, Config, Cost, Estimate, Problem, Target

T = LazyLanguage()

FLOAT_DTYPES = ("float16", "bfloat16", "float32")

__all__ = ["FLOAT_DTYPES", "T", "Baseline", "Choice", "Flag", "Kernel", "Knob", "Preset", "Real", "Size", "TritonBaseline"]


@dataclass(frozen=True)
class Baseline:
    """What a user would call instead, as a plain callable over the same inputs."""

    name: str
    title: str
    make: Callable[[Problem], Callable]
    """make(problem) -> call(*inputs) -> output tensor of the same shape. Imports torch itself."""
    kind: str = "any"
    """`cuda` when it runs on a GPU only."""
    unavailable: Callable[[Problem], str | None] = lambda problem: None
    """Why it cannot be compared for this problem, in one sentence, or None."""
    math_mode: Callable[[Problem], str] = lambda problem: f"{problem['dtype']} in, float32 accumulate"
    compiles: bool = False
    """True for torch.compile: its first call compiles, and those seconds are reported apart."""


@dataclass(frozen=True)
class Kernel:
    """A kernel and everything that derives from it. All callables take a completed problem (and config)."""

    name: str
    title: str
    summary: str
    """One sentence: what it computes and how."""
    program: Callable
    """program(**problem, **knobs) -> T.prim_func, arguments in order: inputs, then the one output."""
    fields: tuple
    """Size, Choice, Flag and Real of the problem, in the order of the form."""
    knobs: tuple[Knob, ...]
    inputs: Callable
    """inputs(problem, randn) -> tuple of tensors, where randn(*shape, dtype=...) draws a standard normal tensor on the device;
    `shapes` asks with a randn that only notes them."""
    output: Callable[[Problem], tuple[tuple[int, ...], str]]
    """output(problem) -> (shape, dtype)."""
    reference: Callable
    """reference(problem, *inputs) -> tensor. Inputs come in as float64 (float32 where too large); computes in that dtype."""
    cost: Callable[[Problem], Cost]
    estimate: Callable[[Problem, Config, Target], Estimate]
    """What the rules know before compiling: `estimate(problem, config, target)`; the config holds the pass configs too."""
    accumulate: Callable[[Problem], int]
    """Length of the longest sum behind one output element; the tolerance grows with its square root."""
    defaults: dict[str, Problem] = field(default_factory=dict)
    """{"cpu": {...}, "cuda": {...}}: what the first Run uses, over the defaults of the fields."""
    default_configs: dict[str, Config] = field(default_factory=dict)
    """{"cpu": {...}, "sm_90a": {...}}: over the defaults of the knobs, pass configs too; an exact target name wins over `cpu` or `cuda`."""
    suggest: Callable[[Problem, Target], Config] = lambda problem, target: {}
    """Knobs that this problem wants otherwise than `default_configs` has them: smaller tiles for float32, fewer rows for long ones."""
    presets: tuple[Preset, ...] = ()
    baselines: tuple[Baseline | TritonBaseline, ...] = ()
    """In the order they are shown; a Triton program of our own comes last."""
    canonical: Callable[[Problem, Config, Target], Config] = lambda problem, config, target: config
    """The config that generates the same code: idle knobs brought to one value."""
    cannot: Callable[[Problem, Target], str | None] = lambda problem, target: None
    """What this kernel cannot do on a target whatever the config, in one sentence, or None."""
    check: Callable[[Problem], None] = lambda problem: None
    """Raises BadValue when fields do not go together."""
    conventions: Callable[[Problem], tuple[str, ...]] = lambda problem: ()
    """What of this problem others read otherwise, and how it is read here, a sentence each: stands beside every number."""
    error_scale: str = "sum"
    """How the tolerance is derived: `exact` (elementwise), `sum` (dot products), `shares` (of a row, as a softmax gives them), `averages`
    (weighted by such shares)."""
    cancelled: Callable[[Problem], float] = lambda problem: 0.0
    """Largest absolute error that evaluating the output adds whatever the output's size: 1 + erf(x) keeps nothing under a unit of 1."""
    traffic: Callable[..., tuple[Chain, ...]] | None = None
    """traffic(problem, config, l2_bytes=None, sm_count=None) -> chains of launches with the bytes that each moves, from the least fused to
    ours, one of them marked as ours; the two tell whether a second read finds its row in L2, None where they are not known. The config is
    one as it was stored. None where there is nothing to set ours against."""
    exponents: Callable | None = None
    """exponents(problem, *inputs) -> `exponents.Exponents`, with inputs as `reference` gets them; None where no exponential is taken."""
    math_mode: Callable[[Problem, Target], str] = lambda problem, target: problem["dtype"]
    """Precision the products are formed in: `float32`, `TF32`, `float16`, `bfloat16`. The tolerance follows it; sums are float32."""

    def problem(self, values: dict | None = None, kind: str = "cuda") -> Problem:
        """Completes and checks a problem for a kind of device (`cuda` or `cpu`).

        Raises UnknownName for a field that is not there and BadValue for a value it cannot take.
        """
        given = dict(values or {})
        known = {f.name: f for f in self.fields}
        for name in given:
            if name not in known:
                raise UnknownName.of(f"problem size or flag of {self.name}", name, known)
        start = self.defaults.get(kind, {})
        problem = {name: f.parse(given.get(name, start.get(name, f.default))) for name, f in known.items()}
        self.check(problem)
        return problem

    def config(self, values: dict | None = None, target: Target | None = None, problem: Problem | None = None) -> Config:
        """Completes and checks a config; pass configs (names with a dot) come after the knobs.

        A knob that is not given takes what suits the problem, else the target, else its own default. What suits the problem is taken as a
        whole: where it does not go with the knobs that are given, the target's defaults take its place.
        """
        suited = self._completed(values or {}, self.default_config(target, problem))
        if not (values and target and problem) or not self.rules(problem, suited, target).broken:
            return suited
        return self._completed(values, self.default_config(target))

    def _completed(self, values: dict, start: Config) -> Config:
        given = {name: value for name, value in start.items() if "." in name} | dict(values)
        known = {k.name: k for k in self.knobs}
        config = {name: k.parse(given.pop(name, start.get(name, k.default))) for name, k in known.items()}
        for name in sorted(given):
            if "." not in name:
                raise UnknownName.of(f"knob of {self.name}", name, known)
            config[name] = parse_pass_config(name, given[name])
        return config

    def default_config(self, target: Target | None, problem: Problem | None = None) -> Config:
        if target is None:
            return {}
        base = self.default_configs.get(target.name) or self.default_configs.get(target.kind) or {}
        return {**base, **self.suggest(problem, target)} if problem else base

    def whole(self, config: Config) -> Config:
        """A stored config with every knob. One of an earlier version lacks those that came since: they stand at their own defaults, which
        is how the program was before it had them."""
        return {k.name: k.default for k in self.knobs} | config

    def knob_values(self, config: Config) -> Config:
        """The config without its pass configs: what `program` takes."""
        whole = self.whole(config)
        return {k.name: whole[k.name] for k in self.knobs}

    def pass_configs(self, config: Config) -> Config:
        """The pass configs of a config, by TileLang name."""
        return {name: value for name, value in config.items() if "." in name}

    def rules(self, problem: Problem, config: Config, target: Target) -> Estimate:
        """What is known before compiling, with every broken rule in `broken`."""
        return self.judge(problem, target)(config)

    def judge(self, problem: Problem, target: Target) -> Callable[[Config], Estimate]:
        """`rules` of any config of this problem: what the problem alone decides is found once."""

        @functools.cache
        def wide() -> str | None:
            return rules.wide_note(self.shapes(problem)) if self.cost(problem).bytes > rules.MOST_COUNTED else None

        def judged(config: Config) -> Estimate:
            found = self.estimate(problem, self.whole(config), target)
            notes = rules.joined(*found.notes, rules.unknown_note(found.shared_bytes, config), wide())
            return replace(found, notes=notes, shared_known=not rules.laid_out_anew(config))

        return judged

    def shapes(self, problem: Problem) -> list[tuple[int, ...]]:
        """Of the inputs in order, then of the output."""
        found: list[tuple[int, ...]] = []
        self.inputs(problem, lambda *shape, dtype: found.append(shape))
        return [*found, self.output(problem)[0]]

    def unsupported(self, problem: Problem, target: Target) -> str | None:
        """Why the target cannot express this problem at all, whatever the config: its dtype, or what the kernel itself cannot do there."""
        return rules.dtype_supported(problem["dtype"], target) or self.cannot(problem, target)

    def same_code(self, problem: Problem, config: Config, target: Target) -> Config:
        """The canonical form of a config: configs that are equal here generate the same code."""
        knobs = self.canonical(problem, self.knob_values(config), target)
        return {**knobs, **self.pass_configs(config)}

    def build(self, problem: Problem, config: Config, target: Target):
        """The T.prim_func of this problem and config. Imports TileLang."""
        program = for_cpu(self.program) if target.kind == "cpu" else self.program
        return program(**problem, **self.knob_values(config))

    @property
    def source(self) -> str:
        """The kernel file as text."""
        return inspect.getsource(sys.modules[self.program.__module__])

    @property
    def source_hash(self) -> str:
        """Of the kernel's file and of those of ours that it imports from: what decides the tile program."""
        return _program_hash(sys.modules[self.program.__module__])

    def field(self, name: str):
        for f in self.fields:
            if f.name == name:
                return f
        raise BadRequest(f"{self.name} has no field '{name}'")


DECLARED_WITH = (
    "card", "toolkit.base", "toolkit.exponents", "toolkit.fields", "toolkit.fit", "toolkit.pass_configs", "toolkit.traffic",
    "toolkit.triton_baseline",
)  # fmt: skip
"""Modules of `tileviz.kernels` that describe a kernel and do not run while its program is built."""


Stamp = tuple[str, int, int]
"""Path of a file, when it was last changed in nanoseconds, and its bytes."""

_hashed: dict[types.ModuleType, tuple[tuple[Stamp, ...], str]] = {}
"""The stamps of a program's files when they were read, and their hash. A page asks for many keys, and there are up to 15 files."""


def _program_hash(module: types.ModuleType) -> str:
    """Of the files that a kernel's program is made of, read again where one of them was edited."""
    kept = _hashed.get(module)
    if kept is not None and kept[0] == tuple(_stamp(path) for path, *_ in kept[0]):
        return kept[1]
    files = _program_files(module)
    stamps = tuple(_stamp(str(file.__file__)) for file in files)  # before they are read: an edit meanwhile is noticed next time
    found = hashlib.sha256("".join(map(inspect.getsource, files)).encode()).hexdigest()[:16]
    _hashed[module] = stamps, found
    return found


def _stamp(path: str) -> Stamp:
    found = os.stat(path)
    return path, found.st_mtime_ns, found.st_size


def _program_files(module: types.ModuleType) -> list[types.ModuleType]:
    """A kernel's module and the modules of kernels that it imports, in a fixed order: what runs while its program is built is among
    them."""
    left = {f"tileviz.kernels.{name}" for name in DECLARED_WITH}
    found = [module]
    for each in found:
        for _, value in sorted(vars(each).items()):
            of = value if isinstance(value, types.ModuleType) else sys.modules.get(str(getattr(value, "__module__", "")))
            ours = of is not None and of.__name__.startswith("tileviz.kernels.") and of.__name__ not in left
            if ours and of not in found:
                found.append(of)
    return found
