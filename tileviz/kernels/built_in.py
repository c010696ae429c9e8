"""Answers questions in this process, from the declaration of a kernel that comes with tileviz."""

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
    Text,
    question_from_json,
)
from tileviz.kernels.toolkit.base import Baseline, Kernel, TritonBaseline
from tileviz.records import Problem, Target


class BuiltIn:
    """Has the code of one kernel. What a child does for a user's file, without the child."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.card = card_of(kernel)

    def answer(self, question: bytes) -> bytes:
        """The JSON of an Answer to the JSON of a Question. What the kernel's code raises is a
        refusal in it, and so is what it gives where that is no plain data."""
        ask, things = self._asked(question_from_json(question))
        try:
            return msgspec.json.encode(answered(ask, things))
        except Exception as error:  # a kernel's code gives what it likes
            refusal = Refusal.of(error, traceback.format_exc())
            everything = Answer([None] * len(things), dict.fromkeys(range(len(things)), refusal))
            return msgspec.json.encode(everything)

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
                return kernel.signature, problems
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
        baselines=tuple(baseline_card(baseline) for baseline in kernel.baselines),
        models_traffic=kernel.traffic is not None,
        origin=Origin(kernel.source_hash),
    )


def baseline_card(baseline: Baseline | TritonBaseline) -> BaselineCard:
    return BaselineCard(baseline.name, baseline.title, baseline.kind, baseline.compiles)


def exactness_of(kernel: Kernel, problem: Problem, target: Target) -> Exactness:
    return Exactness(
        math_mode=kernel.math_mode(problem, target),
        accumulate=kernel.accumulate(problem),
        error_scale=kernel.error_scale if isinstance(kernel.error_scale, str) else kernel.error_scale.name,
        cancelled=kernel.cancelled(problem),
    )


def offers_of(kernel: Kernel, problem: Problem) -> tuple[Offer, ...]:
    """Every baseline as it stands for a problem."""
    return tuple(offer_of(baseline, problem) for baseline in kernel.baselines)


def offer_of(baseline: Baseline | TritonBaseline, problem: Problem) -> Offer:
    return Offer(baseline.name, baseline.math_mode(problem), baseline.unavailable(problem) or "")
