"""Files of many kinds, opened one after another from one process: what is found, what is said, and
that nothing stays behind."""

import json
import shutil
from pathlib import Path

import psutil
import pytest

from tileviz.engine.processes import opening
from tileviz.errors import BadRequest
from tileviz.kernels.opened import found as records
from tileviz.kernels.opened.found import Found, FoundKernel

CASES = Path(__file__).with_name("cases")
LEFT = "left_by_a_script_that_tileviz_opened"
NAMES = ("eager", "lazy", "bare", "several", "read", "hangs", "greedy", "unruly", "nothing")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The cases in a folder of their own, which may be looked through."""
    return Path(shutil.copytree(CASES, tmp_path_factory.mktemp("opened") / "<b>cases"))


@pytest.fixture(scope="module")
def opened(folder) -> dict[str, Found | BadRequest]:
    requests = [opening.Request(folder / f"{name}.py", seconds=4 if name == "hangs" else 60) for name in NAMES]
    requests[0] = opening.Request(folder / "eager.py", seconds=60, targets=("sm_90a",))
    requests.append(opening.Request(folder / "several.py", seconds=60, tests=("-k", "main")))
    return dict(zip((*NAMES, "tests"), opening.open_files(requests), strict=True))


def kernel(found: Found, name: str) -> FoundKernel:
    return next(one for one in found.kernels if one.name == name)


def sizes(one: FoundKernel) -> dict:
    return {field.name: field.value for field in one.fields if field.kind == "size"}


def test_an_eager_kernel_has_the_sizes_of_its_tensors_and_its_own_comparison(opened):
    add = kernel(opened["eager"], "add")
    assert (add.form, add.how, add.called, add.missing) == ("eager", "recorded", "tensors", ())
    assert sizes(add) == {"N": 1024} and [(knob.name, knob.value) for knob in add.knobs] == [("block", 128)]
    assert [(t.name, t.shape, t.dtype, t.role) for t in add.tensors] == [
        ("A", (1024,), "float32", "in"),
        ("B", (1024,), "float32", "in"),
        ("C", (1024,), "float32", "out"),
    ]
    assert add.tensors[0].called_with == (1024,) and add.tensors[0].strides == (1,)
    assert (add.reference.how, add.reference.name) == ("comparison", "torch.testing.assert_close")
    assert (add.reference.rtol, add.reference.atol) == (1e-3, 1e-4)


def test_what_was_seen_is_kept_when_the_script_leaves_with_os_exit_and_it_is_compiled_all_the_same(
    opened,
):
    found = opened["eager"]
    assert found.ended == "exited" and "os._exit(3)" in found.troubles[0]
    [code] = found.kernels[0].code
    assert (code.target, code.reason) == ("sm_90a", "") and code.cuda_lines > 10


def test_an_autotune_list_names_the_knobs_and_the_profiler_the_reference(opened):
    double = kernel(opened["lazy"], "double")
    assert double.form == "lazy" and double.configs == 2 and double.called == "profiler"
    assert {knob.name: knob.domain for knob in double.knobs} == {
        "block": (64, 128),
        "threads": (64, 128),
    }
    assert sizes(double) == {"N": 32, "M": 256} and double.dtypes == {"dtype": "float16"}
    assert [(field.name, field.kind) for field in double.fields if field.dtype == "bool"] == [("is_fast", "option")]
    assert (double.reference.how, double.reference.name, double.reference.atol) == (
        "profiler",
        "reference",
        1e-3,
    )
    assert double.pass_configs == {"tl.disable_warp_specialized": "True"} and double.out_idx == (1,)


def test_what_a_script_prints_is_kept_apart(opened):
    assert "the profiler said 1.0" in opened["lazy"].printed


def test_a_bare_program_is_named_by_its_function_and_gets_its_values_from_the_call_site(opened):
    scale = kernel(opened["bare"], "scale")
    assert (scale.form, scale.target) == ("bare", "cuda") and sizes(scale) == {"N": 512}
    assert [t.role for t in scale.tensors] == ["in", "out"]


@pytest.mark.parametrize("way", ["several", "tests"])
def test_several_outputs_writing_in_place_and_a_length_known_at_run_time_only(opened, way):
    found = opened[way]
    assert found.ended == "finished" and [one.name for one in found.kernels] == [
        "split",
        "gather_add",
        "negate",
    ]
    assert [(t.name, t.role, t.dtype) for t in kernel(found, "split").tensors[1:]] == [
        ("low", "out", "float32"),
        ("high", "out", "float16"),
    ]
    gather = kernel(found, "gather_add")
    assert [(t.name, t.role, t.integer) for t in gather.tensors] == [
        ("X", "in", False),
        ("index", "in", True),
        ("total", "in place", False),
    ]
    assert (gather.tensors[1].least, gather.tensors[1].most) == (0, 7)
    assert (gather.reference.how, gather.reference.atol) == ("derived", 1e-5)
    assert kernel(found, "negate").tensors[0].shape == ("N",)


def test_call_sites_fill_what_the_script_did_not_come_to(opened):
    found = opened["read"]
    copy = kernel(found, "copy")
    assert (copy.how, sizes(copy)) == ("read", {"N": 16, "M": 32}) and copy.knobs[0].value == 128
    assert found.stood_in == ("a_module_that_is_nowhere",) and found.ended == "raised"


def test_values_that_nothing_tells_are_named(opened):
    never = kernel(opened["read"], "never_called")
    assert never.how == "" and never.missing == ("rows", "columns") and never.why


def test_a_script_that_prints_without_end_is_stopped_and_its_kernel_kept(opened, folder):
    found = opened["hangs"]
    assert found.ended == "timeout" and sizes(kernel(found, "twice")) == {"N": 32}
    assert kernel(found, "twice").file == str(folder / "eager_beside.py") == next(iter(found.siblings))
    assert len(found.printed) <= opening.TAIL_BYTES


def test_forty_gigabytes_are_refused_and_the_kernel_before_them_is_kept(opened):
    found = opened["greedy"]
    assert kernel(found, "small").how == "recorded" and "MemoryError" in found.troubles[0]


def test_what_a_script_starts_and_writes_is_told_and_nothing_of_it_stays(opened, folder):
    found = opened["unruly"]
    assert kernel(found, "small").how == "recorded"
    for words in (
        "a socket to listen on",
        "another process",
        "another program",
        f"{LEFT}, which was refused",
    ):
        assert any(words in trouble for trouble in found.troubles), words
    assert not [p for p in psutil.process_iter(["cmdline"]) if "7654321" in (p.info["cmdline"] or ())]
    assert not [
        *folder.rglob(LEFT),
        *folder.rglob("__pycache__"),
        *Path.cwd().glob(LEFT),
        *Path.home().glob(LEFT),
    ]


def test_a_file_without_kernels_is_refused_in_one_sentence(opened):
    error = opened["nothing"]
    assert isinstance(error, BadRequest) and error.message.endswith("nothing.py holds no TileLang kernel that could be found")


def test_what_was_found_comes_back_equal_from_its_json(opened):
    for found in opened.values():
        if isinstance(found, Found):
            assert records.from_json(json.loads(json.dumps(records.to_json(found)))) == found
