"""What every kernel of the registry owes to the rest, whoever adds it."""

import inspect
import math
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.kernels.run_cpu import CPU, draw
from tileviz import kernels
from tileviz.bench.tolerance import SCALES
from tileviz.compiler.targets import TARGETS, target
from tileviz.errors import BadValue, UnknownName
from tileviz.kernels.toolkit.base import FLOAT_DTYPES, Choice, Size, TritonBaseline

ROOT = Path(__file__).resolve().parents[2]
EVERY = pytest.mark.parametrize("kernel", [kernels.code(name) for name in kernels.names()], ids=lambda kernel: kernel.name)

BLOCKED = """
import sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "tilelang", "tvm", "numpy"):
            raise ImportError(f"{name} is blocked here")

sys.meta_path.insert(0, Block())
from tileviz import kernels
from tileviz.bench.tolerance import SCALES
for name in kernels.names():
    kernel = kernels.code(name)
    problem = kernel.problem()
    kernel.rules(problem, kernel.config(), None or __import__("tileviz.records").records.Target("cpu", "cpu"))
    kernel.cost(problem), kernel.source_hash
print(*kernels.names())
"""


def small(kernel) -> dict:
    """A problem of this kernel that takes no time, its sizes unlike; its own for the CPU where such sizes do not go together."""
    sizes = [f for f in kernel.fields if isinstance(f, Size)]
    unlike = {f.name: min(f.maximum, f.minimum + 3 + number) for number, f in enumerate(sizes)}
    try:
        return kernel.problem(unlike | {"dtype": "float32"}, "cpu")
    except BadValue:
        return kernel.problem({"dtype": "float32"}, "cpu")


def test_the_registry_holds_the_five_in_order():
    five = ("vector_add", "gemm", "gemm_bias_gelu", "softmax", "flash_attention")
    assert tuple(name for name in kernels.names() if name in five) == five and kernels.FIRST in kernels.names()


def test_an_unknown_kernel_says_what_exists():
    with pytest.raises(UnknownName, match="no kernel 'gem'; known: flash_attention, gemm, "):
        kernels.code("gem")


def test_kernels_are_read_without_torch_or_tilelang():
    done = subprocess.run([sys.executable, "-c", BLOCKED], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == list(kernels.names())


@EVERY
def test_the_program_takes_exactly_its_fields_and_knobs(kernel):
    assert list(inspect.signature(kernel.program).parameters) == [f.name for f in kernel.fields] + [k.name for k in kernel.knobs]


@EVERY
def test_the_source_is_the_file_itself(kernel):
    assert f'name="{kernel.name}"' in kernel.source
    assert len(kernel.source_hash) == 16


@EVERY
def test_dtypes_are_some_of_the_contract_in_its_order_and_float32_is_one(kernel):
    field = kernel.field("dtype")
    assert isinstance(field, Choice) and field.choices == tuple(dtype for dtype in FLOAT_DTYPES if dtype in field.choices)
    assert "float32" in field.choices, "the CPU target runs no other"


@EVERY
def test_shapes_are_those_of_the_tensors_themselves(kernel):
    problem = small(kernel)
    inputs = draw(kernel.name, problem)
    assert kernel.shapes(problem) == [*(tuple(tensor.shape) for tensor in inputs), kernel.output(problem)[0]]


@EVERY
def test_defaults_are_values_that_are_taken(kernel):
    for kind in ("cuda", "cpu"):
        problem = kernel.problem({}, kind)
        assert kernel.problem(problem, kind) == problem
    for knob in kernel.knobs:
        assert knob.parse(knob.default) == knob.default
        assert all(knob.parse(str(choice)) == choice for choice in knob.choices)
        assert knob.help


@EVERY
def test_the_default_cpu_problem_is_one_the_cpu_can_do(kernel):
    problem = kernel.problem({}, "cpu")
    assert kernel.unsupported(problem, CPU) is None
    assert kernel.rules(problem, kernel.config({}, CPU, problem), CPU).broken == ()


@EVERY
@pytest.mark.parametrize("name", TARGETS)
def test_the_default_config_breaks_no_rule_for_any_dtype(kernel, name):
    chosen = target(name)
    for dtype in kernel.field("dtype").choices:
        problem = kernel.problem({"dtype": dtype}, chosen.kind)
        if kernel.unsupported(problem, chosen) is None:
            assert kernel.rules(problem, kernel.config({}, chosen, problem), chosen).broken == (), (dtype, name)


@EVERY
@pytest.mark.parametrize("name", TARGETS)
def test_every_choice_of_every_knob_is_judged(kernel, name):
    chosen = target(name)
    problem = kernel.problem({}, chosen.kind)
    for knob in kernel.knobs:
        for choice in knob.choices:
            estimate = kernel.rules(problem, kernel.config({knob.name: choice}, chosen, problem), chosen)
            assert all(isinstance(said, str) and said for said in (*estimate.broken, *estimate.notes))
            assert estimate.threads > 0


@EVERY
def test_presets_are_complete_and_named_once(kernel):
    assert len({preset.name for preset in kernel.presets}) == len(kernel.presets)
    for preset in kernel.presets:
        for kind in ("cuda", "cpu") if preset.kind == "any" else (preset.kind,):
            problem = kernel.problem(preset.problem, kind)
            kernel.config(preset.config, None, problem)


@EVERY
def test_inputs_output_and_reference_fit_together(kernel):
    problem = small(kernel)
    inputs = draw(kernel.name, problem)
    shape, dtype = kernel.output(problem)
    reference = kernel.reference(problem, *(t.double() for t in inputs))
    assert tuple(reference.shape) == shape
    assert reference.dtype == torch.float64 and dtype == "float32"
    assert all(t.dtype == torch.float32 for t in inputs)


@EVERY
def test_the_cost_is_positive_and_says_its_formula(kernel):
    cost = kernel.cost(kernel.problem())
    assert cost.bytes > 0 and cost.flops >= 0
    assert cost.flops_formula and cost.bytes_formula


@EVERY
def test_the_sum_is_as_long_as_a_whole_number_of_terms(kernel):
    assert kernel.accumulate(kernel.problem()) >= 1
    assert kernel.error_scale in SCALES
    assert kernel.math_mode(kernel.problem({"dtype": "float32"}), target("sm_90a")) in ("float32", "TF32")
    for dtype in set(kernel.field("dtype").choices) - {"float32"}:
        assert kernel.math_mode(kernel.problem({"dtype": dtype}), target("sm_90a")) == dtype


@EVERY
def test_unknown_names_say_what_exists(kernel):
    with pytest.raises(UnknownName, match=f"no problem size or flag of {kernel.name} 'not a field'; known: "):
        kernel.problem({"not a field": 1})
    with pytest.raises(UnknownName, match=f"no knob of {kernel.name} 'not a knob'; known: "):
        kernel.config({"not a knob": 1})
    with pytest.raises(UnknownName, match=r"no pass config 'tl\.nonsense'"):
        kernel.config({"tl.nonsense": 1})


@EVERY
def test_absurd_sizes_are_refused_in_a_sentence(kernel):
    for name in (f.name for f in kernel.fields if isinstance(f, Size)):
        for value in (0, -1, 10**12, "x", 1.5, True, math.inf):
            with pytest.raises(BadValue, match=f"{name} is "):
                kernel.problem({name: value})


@EVERY
def test_pass_configs_ride_along_and_reach_the_rules(kernel):
    config = kernel.config({"tl.disable_warp_specialized": "true"}, target("sm_90a"))
    assert config["tl.disable_warp_specialized"] is True
    assert kernel.pass_configs(config) == kernel.pass_configs(kernel.config({}, target("sm_90a"))) | {"tl.disable_warp_specialized": True}
    assert set(kernel.knob_values(config)) == {knob.name for knob in kernel.knobs}
    problem, without = kernel.problem(), kernel.config({}, target("sm_90a"))
    found, usual = (kernel.rules(problem, each, target("sm_90a")) for each in (config, without))
    assert found.producer_threads <= usual.producer_threads


@EVERY
def test_a_config_from_before_a_knob_is_one_with_the_knob_at_its_own_default(kernel):
    hopper, problem = target("sm_90a"), kernel.problem()
    config = kernel.config({}, hopper, problem)
    for knob in kernel.knobs:
        before = {name: value for name, value in config.items() if name != knob.name}
        now = {**config, knob.name: knob.default}
        assert kernel.whole(before) == now
        assert kernel.knob_values(before) == kernel.knob_values(now)
        assert kernel.rules(problem, before, hopper) == kernel.rules(problem, now, hopper)
        assert kernel.same_code(problem, before, hopper) == kernel.same_code(problem, now, hopper)


@EVERY
def test_baselines_are_named_once_and_answer_for_every_problem(kernel):
    names = [baseline.name for baseline in kernel.baselines]
    assert len(set(names)) == len(names)
    assert not any(isinstance(baseline, TritonBaseline) for baseline in kernel.baselines[:-1]), "a Triton program comes last"
    for baseline in kernel.baselines:
        assert baseline.kind in ("any", "cuda", "cpu")
        assert baseline.unavailable(small(kernel)) is None or isinstance(baseline.unavailable(small(kernel)), str)
        assert baseline.math_mode(small(kernel))


@EVERY
def test_baselines_that_run_on_the_cpu_compute_the_reference(kernel):
    problem = small(kernel)
    inputs = draw(kernel.name, problem)
    expected = kernel.reference(problem, *(t.double() for t in inputs))
    for baseline in kernel.baselines:
        if baseline.kind != "cuda" and not baseline.compiles and baseline.unavailable(problem) is None:
            output = baseline.make(problem)(*inputs)
            torch.testing.assert_close(output.double(), expected, rtol=1e-5, atol=1e-5, msg=baseline.name)


@EVERY
def test_the_canonical_form_is_its_own(kernel):
    for name in ("cpu", "sm_80", "sm_90a"):
        chosen = target(name)
        problem = kernel.problem({}, chosen.kind)
        for knob in kernel.knobs:
            config = kernel.config({knob.name: knob.choices[-1]}, chosen, problem)
            once = kernel.same_code(problem, config, chosen)
            assert kernel.same_code(problem, once, chosen) == once
            assert kernel.config(once, chosen, problem) == once
