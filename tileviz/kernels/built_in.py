"""Answers questions in this process, from the declaration of a kernel that comes with tileviz."""

import inspect
import traceback
from collections.abc import Callable, Sequence

import msgspec

from tileviz.kernels import questions
from tileviz.kernels.card import BaselineCard, Card, Origin
from tileviz.kernels.questions import (
    Answer,
    Asked,
    Exactness,
    Offer,
    Refusal,
    Signature,
    Tensor,
    Text,
    question_from_json,
)
from tileviz.kernels.toolkit.base import Kernel
from tileviz.records import Problem, Target

OUTPUT = "out"
"""Name of the one output."""


class BuiltIn:
    """Has the code of one kernel. What a child does for a user's file, without the child."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.card = card_of(kernel)

    def answer(self, question: bytes) -> bytes:
        """The JSON of an Answer to the JSON of a Question; what the kernel raises is a refusal in it."""
        ask, things = self._asked(question_from_json(question))
        return msgspec.json.encode(answered(ask, things))

    def _asked(self, question: Asked) -> tuple[Callable, Sequence]:
        """(what answers for one thing of the question's list, the list)."""
        kernel = self.kernel
        match question:
            case questions.Problems(values, kind):
                return lambda each: kernel.problem(each, kind), values
            case questions.Configs(values, target, problem):
                return lambda each: kernel.config(each, target, problem), values
            case questions.Unsupported(problems, target):
                return lambda problem: kernel.unsupported(problem, target), problems
            case questions.Rules(problem, configs, target):
                return kernel.judge(problem, target), configs
            case questions.SameCode(problem, configs, target):
                return lambda config: kernel.same_code(problem, config, target), configs
            case questions.Traffic(problem, configs, l2_bytes, sm_count):
                model = kernel.traffic or (lambda *_: None)
                return lambda config: model(problem, config, l2_bytes, sm_count), configs
            case questions.Work(problems):
                return kernel.cost, problems
            case questions.Precision(problems, target):
                return lambda problem: exactness_of(kernel, problem, target), problems
            case questions.Arguments(problems):
                return lambda problem: signature_of(kernel, problem), problems
            case questions.Conventions(problems):
                return kernel.conventions, problems
            case questions.Offers(problems):
                return lambda problem: offers_of(kernel, problem), problems
            case questions.Sources():
                return lambda _: Text(kernel.source, kernel.source_hash), (None,)


def answered(ask: Callable, things: Sequence) -> Answer:
    """What `ask` gives for each thing, and for which it refuses."""
    given, refused = [], {}
    for place, thing in enumerate(things):
        try:
            given.append(ask(thing))
        except Exception as error:  # a kernel's code raises what it likes
            given.append(None)
            refused[place] = Refusal.of(error, traceback.format_exc())
    return Answer(given, refused)


def card_of(kernel: Kernel) -> Card:
    """The card of a declaration."""
    return Card(
        name=kernel.name,
        title=kernel.title,
        summary=kernel.summary,
        fields=kernel.fields,
        knobs=kernel.knobs,
        defaults=kernel.defaults,
        default_configs=kernel.default_configs,
        presets=kernel.presets,
        baselines=tuple(BaselineCard(b.name, b.title, b.kind, b.compiles) for b in kernel.baselines),
        models_traffic=kernel.traffic is not None,
        origin=Origin(kernel.source_hash),
    )


def exactness_of(kernel: Kernel, problem: Problem, target: Target) -> Exactness:
    return Exactness(
        math_mode=kernel.math_mode(problem, target),
        accumulate=kernel.accumulate(problem),
        error_scale=kernel.error_scale,
        cancelled=kernel.cancelled(problem),
    )


def signature_of(kernel: Kernel, problem: Problem) -> Signature:
    """The arguments, named as the reference names them: a draw of inputs that only notes what is drawn."""
    drawn: list[tuple[tuple[int, ...], str]] = []
    kernel.inputs(problem, lambda *shape, dtype: drawn.append((shape, dtype)))
    shape, dtype = kernel.output(problem)
    inputs = (Tensor(name, *each) for name, each in zip(_input_names(kernel, len(drawn)), drawn, strict=True))
    return Signature(tuple(inputs), (Tensor(OUTPUT, shape, dtype),))


def offers_of(kernel: Kernel, problem: Problem) -> tuple[Offer, ...]:
    return tuple(Offer(b.name, b.math_mode(problem), b.unavailable(problem) or "") for b in kernel.baselines)


def _input_names(kernel: Kernel, count: int) -> list[str]:
    """`reference(problem, A, B, *bias)` has A, B and bias, as far as there are so many."""
    names = list(inspect.signature(kernel.reference).parameters)[1:]
    return [names[place] if place < len(names) else f"in{place}" for place in range(count)]
