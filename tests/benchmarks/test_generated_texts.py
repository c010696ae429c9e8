"""The proof that generated code stays: every kernel is in it, and a text that has changed is seen."""

import json

from benchmarks import generated_texts
from benchmarks.generated_texts import Case, changed, own_cases
from tests.recordings import SM_90A
from tileviz import kernels
from tileviz.compiler.targets import TARGETS


def test_every_kernel_is_lowered_for_the_cpu_and_for_hopper_and_each_target_is_there():
    found = {(case.kernel, case.target) for case in own_cases()}
    assert {(name, target) for name in kernels.names() for target in ("cpu", SM_90A.name)} <= found
    assert {target for _, target in found} == set(TARGETS)


def test_a_text_that_changed_came_or_went_is_named():
    before, now = {"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "9", "d": "4"}
    assert changed(before, now) == ["b", "c", "d"] and changed(before, dict(before)) == []


def test_a_run_is_held_against_an_earlier_one(tmp_path, monkeypatch, capsys):
    problem, config = {"N": 4096, "dtype": "float32"}, {"block_N": 1024, "threads": 128}
    case = Case("vector_add", "cpu", problem, config)
    monkeypatch.setattr(generated_texts, "own_cases", lambda: iter([case]))
    monkeypatch.setattr(generated_texts, "recorded_cases", lambda recorded, every: iter([case]))
    out = tmp_path / "texts.json"
    assert generated_texts.main(["--out", str(out)]) == 0
    assert list(json.loads(out.read_text())) == [case.name]
    assert generated_texts.main(["--compare", str(out)]) == 0
    assert "1 texts, 0 not as in" in capsys.readouterr().out
    out.write_text(json.dumps({case.name: "another"}))
    assert generated_texts.main(["--compare", str(out)]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == case.name
