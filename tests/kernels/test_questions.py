"""Questions to a kernel: plain values in and out, refusals among the answers, for every kernel."""

import json
from dataclasses import replace

import msgspec
import pytest

from tileviz import kernels
from tileviz.compiler.targets import target
from tileviz.errors import BadRequest, BadValue, KernelFault, UnknownName, Unsupported
from tileviz.kernels import questions
from tileviz.kernels.built_in import BuiltIn, answered, card_of
from tileviz.kernels.questions import Answer, Asked, Refusal, question_from_json

HOPPER = target("sm_90a")
EVERY = pytest.mark.parametrize("kernel", [kernels.code(name) for name in kernels.names()], ids=lambda kernel: kernel.name)


def every_question(kernel) -> list[Asked]:
    """One of each kind."""
    problem = kernel.problem()
    config = kernel.config({}, HOPPER, problem)
    return [
        questions.Problems([{}, {"dtype": "float32"}], "cpu"),
        questions.Configs([{}], HOPPER, problem),
        questions.Unsupported([problem], HOPPER),
        questions.Rules(problem, [config, config], HOPPER),
        questions.SameCode(problem, [config], HOPPER),
        questions.Traffic(problem, [config], 50 << 20, 132),
        questions.Work([problem]),
        questions.Precision([problem], HOPPER),
        questions.Arguments([problem]),
        questions.Conventions([problem]),
        questions.Offers([problem]),
        questions.Sources(),
    ]


def answer(kernel, question) -> Answer:
    """The answer as it arrives where it was asked."""
    text = BuiltIn(kernel).answer(msgspec.json.encode(question))
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    return msgspec.json.decode(text, type=Answer[question.gives | None])


@EVERY
def test_every_question_arrives_as_it_was_asked_and_is_answered(kernel):
    asked = every_question(kernel)
    assert {type(question) for question in asked} == set(Asked.__args__)
    for question in asked:
        assert question_from_json(msgspec.json.encode(question)) == question
        found = answer(kernel, question)
        assert (found.refused, found.final) == ({}, True)
        assert len(found.given) == (2 if isinstance(question, (questions.Problems, questions.Rules)) else 1)


@EVERY
def test_answers_are_those_of_the_declaration(kernel):
    problem = kernel.problem()
    config = kernel.config({}, HOPPER, problem)
    told = {type(question): answer(kernel, question).given[0] for question in every_question(kernel)}
    assert told[questions.Problems] == kernel.problem({}, "cpu")
    assert told[questions.Configs] == config
    assert told[questions.Unsupported] == kernel.unsupported(problem, HOPPER)
    assert told[questions.Rules] == kernel.rules(problem, config, HOPPER)
    assert told[questions.SameCode] == kernel.same_code(problem, config, HOPPER)
    model = kernel.traffic and kernel.traffic(problem, config, 50 << 20, 132)
    assert told[questions.Traffic] == model
    assert told[questions.Work] == kernel.cost(problem)
    assert told[questions.Precision].math_mode == kernel.math_mode(problem, HOPPER)
    assert told[questions.Precision].accumulate == kernel.accumulate(problem)
    assert told[questions.Precision].cancelled == kernel.cancelled(problem)
    assert told[questions.Arguments].shapes == kernel.shapes(problem)
    assert told[questions.Arguments].outputs[0].dtype == kernel.output(problem)[1]
    assert told[questions.Conventions] == kernel.conventions(problem)
    assert [(o.name, o.unavailable or None) for o in told[questions.Offers]] == [(b.name, b.unavailable(problem)) for b in kernel.baselines]
    assert (told[questions.Sources].text, told[questions.Sources].hash) == (
        kernel.source,
        kernel.source_hash,
    )


@EVERY
def test_the_card_of_a_kernel_holds_what_its_plain_defaults_come_from(kernel):
    card = card_of(kernel)
    assert answer(kernel, questions.Problems([{}], "cpu")).given[0].items() >= card.defaults.get("cpu", {}).items()
    assert set(answer(kernel, questions.Configs([{}])).given[0]) == {knob.name for knob in card.knobs}


def test_the_inputs_are_named_as_the_reference_names_them():
    gelu = kernels.code("gemm_bias_gelu")
    drawn = answer(
        gelu,
        questions.Arguments([gelu.problem({"epilogue": "none"}), gelu.problem({"epilogue": "bias"})]),
    ).given
    assert [[tensor.name for tensor in each.inputs] for each in drawn] == [
        ["A", "B"],
        ["A", "B", "bias"],
    ]
    assert [tensor.name for tensor in drawn[0].outputs] == ["out"]


def test_one_that_is_refused_leaves_the_others_answered():
    found = answer(kernels.code("gemm"), questions.Problems([{"M": 5}, {"M": 0}, {"Z": 1}, {"M": 7}]))
    assert [problem and problem["M"] for problem in found.given] == [5, None, None, 7]
    assert {place: refusal.error for place, refusal in found.refused.items()} == {
        1: "BadValue",
        2: "UnknownName",
    }
    assert found.final
    with pytest.raises(BadValue, match="M is 0; give a whole number"):
        found.values()


def test_a_fault_of_the_kernels_code_is_an_answer_with_its_traceback():
    found = answer(kernels.code("gemm"), questions.Work([{"M": 5}]))
    assert not found.final
    with pytest.raises(KernelFault, match="KeyError: 'N'") as caught:
        found.values()
    assert "in cost" in caught.value.detail


@pytest.mark.parametrize(
    "error",
    [BadValue("M is 0"), UnknownName("no knob"), Unsupported("no", "its text"), BadRequest("")],
)
def test_an_error_of_ours_is_the_same_where_it_was_asked(error):
    found = msgspec.json.decode(msgspec.json.encode(Refusal.of(error)), type=Refusal).as_error()
    assert (type(found), found.message, found.detail) == (type(error), error.message, error.detail)


@pytest.mark.parametrize("name", ["SystemExit", "annotations", "Exception", ""])
def test_a_name_that_is_no_error_of_ours_is_a_fault(name):
    assert type(Refusal(name, "stop").as_error()) is KernelFault


@EVERY
def test_a_problem_of_another_kernel_is_a_fault_whatever_is_asked_of_it(kernel):
    """As the trials of a file have them: the page says nothing of such a problem, and stands."""
    foreign, config = {"rows": 5}, kernel.config()
    for question in (
        questions.Rules(foreign, [config, config], HOPPER),
        questions.Work([foreign]),
        questions.Arguments([foreign]),
        questions.Unsupported([foreign], HOPPER),
    ):
        assert {refusal.error for refusal in answer(kernel, question).refused.values()} == {"KernelFault"}


def test_what_is_no_plain_data_is_a_fault_of_the_kernels_code():
    found = answer(replace(kernels.code("gemm"), cost=lambda problem: object()), questions.Work([{}, {}]))
    assert (found.given, sorted(found.refused), found.final) == ([None, None], [0, 1], False)
    with pytest.raises(KernelFault, match="TypeError: .*object"):
        found.values()


def test_ctrl_c_is_no_answer():
    def interrupted(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answered(interrupted, [1])


def test_sizes_whose_work_no_float_holds_are_answered_exactly():
    gemm = kernels.code("gemm")
    largest = gemm.problem({"M": 2**31 - 2**16, "N": 2**31 - 2**16, "K": 2**31 - 2**16})
    assert answer(gemm, questions.Work([largest])).given[0] == gemm.cost(largest)


def test_what_is_no_question_is_refused():
    with pytest.raises(msgspec.ValidationError, match="Invalid value 'price'"):
        question_from_json(b'{"question": "price"}')
