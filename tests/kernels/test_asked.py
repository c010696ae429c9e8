"""A kernel that is asked: the answers that its declaration gives, asked for once, as JSON alone."""

import json
import math
from dataclasses import replace

import pytest

from tileviz import kernels
from tileviz.compiler.targets import target
from tileviz.errors import BadValue, KernelFault, UnknownName
from tileviz.kernels.asked import AskedKernel
from tileviz.kernels.built_in import BuiltIn
from tileviz.kernels.kept import Kept

HOPPER = target("sm_90a")


class Counting:
    """Answers, and keeps the questions that came."""

    def __init__(self, name: str) -> None:
        self.built_in, self.questions = BuiltIn(kernels.code(name)), []

    def answer(self, question: bytes) -> bytes:
        self.questions.append(json.loads(question)["question"])
        return self.built_in.answer(question)


@pytest.fixture
def counting() -> Counting:
    return Counting("gemm")


@pytest.fixture
def gemm(counting) -> AskedKernel:
    return AskedKernel(counting.built_in.card, counting.answer, Kept())


@pytest.mark.parametrize("name", kernels.names())
def test_it_answers_as_the_declaration_does(name):
    kernel, asked = (
        kernels.code(name),
        AskedKernel(BuiltIn(kernels.code(name)).card, BuiltIn(kernels.code(name)).answer, Kept()),
    )
    problem = asked.problem()
    config = asked.config({}, HOPPER, problem)
    assert (problem, config) == (kernel.problem(), kernel.config({}, HOPPER, problem))
    assert asked.rules(problem, config, HOPPER) == kernel.rules(problem, config, HOPPER)
    assert asked.same_code(problem, config, HOPPER) == kernel.same_code(problem, config, HOPPER)
    assert asked.cost(problem) == kernel.cost(problem)
    assert asked.math_mode(problem, HOPPER) == kernel.math_mode(problem, HOPPER)
    assert asked.conventions(problem) == kernel.conventions(problem)
    assert asked.unsupported(problem, target("cpu")) == kernel.unsupported(problem, target("cpu"))
    assert asked.arguments(problem).shapes == kernel.shapes(problem)
    assert asked.traffic(problem, config) == (kernel.traffic(problem, config) if kernel.traffic else ())
    assert (asked.source, asked.source_hash) == (kernel.source, kernel.source_hash)
    assert asked.whole({"threads": 256}) == kernel.whole({"threads": 256})
    assert asked.knob_values(config) == kernel.knob_values(config)
    assert asked.pass_configs(config) == kernel.pass_configs(config)
    assert [offer.name for offer in asked.offers(problem)] == [baseline.name for baseline in asked.baselines]


def test_what_was_asked_before_is_not_asked_again(gemm, counting):
    for _ in range(3):
        problem = gemm.problem({"M": "512"})
        gemm.rules(problem, gemm.config({}, HOPPER, problem), HOPPER)
    assert counting.questions == ["problems", "configs", "rules"]


def test_a_refusal_is_kept_like_any_answer(gemm, counting):
    for _ in range(2):
        with pytest.raises(BadValue, match="M is 0; give a whole number"):
            gemm.problem({"M": 0})
        with pytest.raises(UnknownName, match="no knob of gemm 'block_Z'; known: "):
            gemm.config({"block_Z": 1})
    assert counting.questions == ["problems", "configs"]


def test_a_fault_is_asked_again_and_so_is_the_text_of_a_file(gemm, counting):
    for _ in range(2):
        with pytest.raises(KernelFault, match="KeyError"):
            gemm.cost({"M": 5})
        assert gemm.source
    assert counting.questions == ["work", "sources"] * 2


@pytest.mark.parametrize("given", [None, {"flops": 1.0}, {"flops": "many", "bytes": 1}, float("nan"), {1, 2}])
def test_an_answer_of_another_kind_is_a_fault_and_not_kept(given):
    has_code, kept = BuiltIn(replace(kernels.code("gemm"), cost=lambda problem: [given])), Kept()
    with pytest.raises(KernelFault, match="an answer of gemm cannot be read"):
        AskedKernel(has_code.card, has_code.answer, kept).cost({})
    assert kept.bytes == 0


def test_another_card_has_answers_of_its_own(counting):
    kept, other = Kept(), Counting("gemm_bias_gelu")
    problem = {"M": 64, "N": 64, "K": 64, "dtype": "float16", "layout": "NN", "epilogue": "bias"}
    plain = AskedKernel(counting.built_in.card, counting.answer, kept).cost(problem)
    biased = AskedKernel(other.built_in.card, other.answer, kept).cost(problem)
    assert biased.bytes == plain.bytes + 64 * 2


def test_a_caller_may_change_what_it_was_given(gemm):
    gemm.problem({"M": 5})["M"] = 7
    assert gemm.problem({"M": 5})["M"] == 5


def test_many_configs_are_one_question(gemm, counting):
    problem = gemm.problem()
    configs = gemm.configs([{"block_M": m, "threads": t} for m in (64, 128) for t in (128, 256)], HOPPER, problem)
    estimates = gemm.estimates(problem, configs, HOPPER)
    assert gemm.broken(problem, configs, HOPPER) == [estimate.broken for estimate in estimates]
    assert counting.questions == ["problems", "configs", "rules"]
    assert estimates == [kernels.code("gemm").rules(problem, config, HOPPER) for config in configs]


def test_codes_are_equal_where_the_code_is(gemm):
    problem = gemm.problem()
    usual = gemm.whole({"enable_swizzle": False})
    first, other_panel, other_tile = gemm.codes(problem, [usual, {**usual, "panel_size": 4}, {**usual, "block_M": 64}], HOPPER)
    assert first == other_panel != other_tile
    assert json.loads(first) == gemm.same_code(problem, usual, HOPPER)


def test_numbers_that_json_lacks_are_refused_like_any_other(gemm):
    attention = AskedKernel(
        BuiltIn(kernels.code("flash_attention")).card,
        BuiltIn(kernels.code("flash_attention")).answer,
        Kept(),
    )
    for value in (math.inf, math.nan):
        with pytest.raises(BadValue, match="scale is "):
            attention.problem({"scale": value})
        with pytest.raises(BadValue, match="M is "):
            gemm.problem({"M": value})


def test_a_number_of_another_library_is_read_as_the_word_it_prints():
    numpy = pytest.importorskip("numpy")
    built_in = BuiltIn(kernels.code("gemm"))
    assert AskedKernel(built_in.card, built_in.answer, Kept()).problem({"M": numpy.int64(96)})["M"] == 96
