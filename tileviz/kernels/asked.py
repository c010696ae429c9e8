"""A kernel as pages, commands, sweeps and the engine know it: a card, and a door to ask its code.

    gemm = kernels.kernel("gemm")
    problem = gemm.problem({"M": "4096"})
    estimate = gemm.rules(problem, gemm.config({}, target, problem), target)

Every question goes through `ask` as JSON, so the code may be in this process or in a child. Answers
are kept, so a page that asks the same again at every rerun waits for neither. Building and running
a kernel needs the code itself, which children of the engine have (`kernels.code`).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from tileviz.errors import KernelFault
from tileviz.kernels import questions
from tileviz.kernels.card import BaselineCard, Card, Field, Preset, pass_configs
from tileviz.kernels.kept import Kept
from tileviz.kernels.questions import Answer, Exactness, Offer, Question, Signature
from tileviz.kernels.toolkit.fields import Knob
from tileviz.records import Chain, Config, Cost, Estimate, Problem, Target

KEPT = Kept()
"""The answers of this process."""

_readers: dict[Any, msgspec.json.Decoder] = {}
"""By the type of what is given: making a reader takes longer than reading."""


class AskedKernel:
    """A card and a door. What asks raises the refusal, if there is one: BadRequest, KernelFault."""

    def __init__(self, card: Card, answer: Callable[[bytes], bytes], kept: Kept = KEPT) -> None:
        """`answer` takes the JSON of a Question and gives that of its Answer."""
        self.card, self._answer, self._kept = card, answer, kept

    def __repr__(self) -> str:
        return f"AskedKernel({self.card.name!r})"

    def ask(self, question: Question, gives: Any = None) -> list:
        """The answers, in the order of what the question lists. With `gives` they are read as that
        type, in place of the question's own. Raises the first refusal."""
        asked = msgspec.json.encode(question)
        kept = self._kept.find(self.card.hash, asked) if question.kept else None
        said = kept or self._answer(asked)
        answer = self._read(said, gives or question.gives | None)
        if kept is None and question.kept and answer.final:
            self._kept.keep(self.card.hash, asked, said)
        return answer.values()

    def _read(self, answer: bytes, gives: Any) -> Answer:
        if gives not in _readers:
            _readers[gives] = msgspec.json.Decoder(Answer[gives])
        try:
            return _readers[gives].decode(answer)
        except msgspec.DecodeError as error:
            raise KernelFault(f"an answer of {self.name} cannot be read: {error}") from error

    # what the card says

    @property
    def name(self) -> str:
        return self.card.name

    @property
    def title(self) -> str:
        return self.card.title

    @property
    def summary(self) -> str:
        return self.card.summary

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.card.fields

    @property
    def knobs(self) -> tuple[Knob, ...]:
        return self.card.knobs

    @property
    def presets(self) -> tuple[Preset, ...]:
        return self.card.presets

    @property
    def baselines(self) -> tuple[BaselineCard, ...]:
        return self.card.baselines

    def field(self, name: str) -> Field:
        """A field of the problem by its name. Raises BadRequest."""
        return self.card.field(name)

    def whole(self, config: Config) -> Config:
        """A stored config with every knob: those that it lacks stand at their own defaults."""
        return self.card.whole(config)

    def knob_values(self, config: Config) -> Config:
        """The config without its pass configs, every knob in it."""
        return self.card.knob_values(config)

    def pass_configs(self, config: Config) -> Config:
        """The pass configs of a config, by TileLang name."""
        return pass_configs(config)

    # what its code says

    def problem(self, values: dict[str, Any] | None = None, kind: str = "cuda") -> Problem:
        """Completes and checks a problem for a kind of device. Raises UnknownName, BadValue."""
        return self.ask(questions.Problems([_typed(values)], kind))[0]

    def config(
        self,
        values: dict[str, Any] | None = None,
        target: Target | None = None,
        problem: Problem | None = None,
    ) -> Config:
        """Completes and checks a config. Raises UnknownName, BadValue."""
        return self.configs([values or {}], target, problem)[0]

    def configs(
        self,
        values: Iterable[dict[str, Any]],
        target: Target | None = None,
        problem: Problem | None = None,
    ) -> list[Config]:
        """Completes and checks configs. Raises for the first that cannot be meant."""
        return self.ask(questions.Configs([_typed(each) for each in values], target, problem))

    def unsupported(self, problem: Problem, target: Target) -> str | None:
        """Why the target cannot express this problem, whatever the config; None where it can."""
        return self.ask(questions.Unsupported([problem], target))[0]

    def rules(self, problem: Problem, config: Config, target: Target) -> Estimate:
        """What is known before compiling, with every broken rule in `broken`."""
        return self.estimates(problem, [config], target)[0]

    def estimates(
        self,
        problem: Problem,
        configs: Sequence[Config],
        target: Target,
    ) -> list[Estimate]:
        """What is known of many configs before compiling."""
        return self.ask(questions.Rules(problem, list(configs), target))

    def broken(
        self,
        problem: Problem,
        configs: Sequence[Config],
        target: Target,
    ) -> list[tuple[str, ...]]:
        """The rules that each config breaks: `estimates` without the rest, and faster to read."""
        found = self.ask(questions.Rules(problem, list(configs), target), _Broken | None)
        return [each.broken for each in found]

    def same_code(self, problem: Problem, config: Config, target: Target) -> Config:
        """The canonical form of a config: configs that are equal here generate the same code."""
        return self.ask(questions.SameCode(problem, [config], target))[0]

    def codes(self, problem: Problem, configs: Sequence[Config], target: Target) -> list[bytes]:
        """For each config a text that is equal where the code is: the JSON of `same_code`."""
        question = questions.SameCode(problem, list(configs), target)
        return [bytes(raw) for raw in self.ask(question, msgspec.Raw)]

    def traffic(
        self,
        problem: Problem,
        config: Config,
        l2_bytes: int | None = None,
        sm_count: int | None = None,
    ) -> tuple[Chain, ...]:
        """The chains of launches that compute a problem, with the bytes that each moves, from the
        least fused to the kernel's own; none without a model."""
        if not self.card.models_traffic:
            return ()
        return self.ask(questions.Traffic(problem, [config], l2_bytes, sm_count))[0]

    def cost(self, problem: Problem) -> Cost:
        """FLOPs and least bytes, with their formulas."""
        return self.ask(questions.Work([problem]))[0]

    def math_mode(self, problem: Problem, target: Target) -> str:
        """Precision the products are formed in: `float32`, `TF32`, `float16`, `bfloat16`."""
        return self.exactness(problem, target).math_mode

    def exactness(self, problem: Problem, target: Target) -> Exactness:
        """What the tolerance of the check follows from."""
        return self.ask(questions.Precision([problem], target))[0]

    def arguments(self, problem: Problem) -> Signature:
        """The tensors that go in and come out."""
        return self.ask(questions.Arguments([problem]))[0]

    def conventions(self, problem: Problem) -> tuple[str, ...]:
        """What of this problem others read otherwise, and how it is read here, a sentence each."""
        return self.ask(questions.Conventions([problem]))[0]

    def offers(self, problem: Problem) -> tuple[Offer, ...]:
        """The baselines as they stand for this problem."""
        return self.ask(questions.Offers([problem]))[0]

    @property
    def source(self) -> str:
        """The kernel's file as text."""
        return self._text().text

    @property
    def source_hash(self) -> str:
        """Of all files that decide the generated code, as they are now."""
        return self._text().hash

    def _text(self) -> questions.Text:
        return self.ask(questions.Sources())[0]


class _Broken(msgspec.Struct, frozen=True):
    """Of an Estimate the broken rules alone."""

    broken: tuple[str, ...]


def _typed(values: dict[str, Any] | None) -> dict[str, Any]:
    """Given values as JSON has them; any other, infinity too, as the word that a person types."""
    given = (values or {}).items()
    return {name: value if _is_plain(value) else str(value) for name, value in given}


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, (str, int))
