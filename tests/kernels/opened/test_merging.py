"""Of each factory what was recorded wins, call sites fill."""

from tileviz.kernels.opened import merging
from tileviz.kernels.opened.texts import Factory


def program(part: str, number: int, title: str = "add", tir: str = "t", **more) -> dict:
    return {
        "event": "kernel",
        "part": part,
        "id": f"{part}{number}",
        "title": title,
        "file": "/a.py",
        "line": 3,
        "form": "lazy",
        "tir": tir,
        "tensors": [{"name": "X", "dtype": "int32", "shape": [4, "n"], "role": "in", "integer": True}],
        "out_idx": [],
        "pass_configs": {},
        "compile_flags": [],
        "target": None,
        "autotune": None,
        "arguments": {"N": 4},
        **more,
    }


def call(identity: str) -> dict:
    tensor = {
        "name": "X",
        "shape": [4, 8],
        "strides": [8, 1],
        "dtype": "int32",
        "least": 0,
        "most": 3,
    }
    return {
        "event": "call",
        "part": "record",
        "id": identity,
        "how": "tensors",
        "tensors": [tensor],
    }


def test_the_program_that_was_called_is_shown_with_its_tensors():
    told = [
        program("record", 0),
        program("record", 1, tir="u", arguments={"N": 8}),
        call("record1"),
        program("read", 0),
    ]
    [one] = merging.kernels(told, [], "/a.py")
    assert (one.how, one.fields[0].value, one.tir, one.called) == ("recorded", 8, "u", "tensors")
    assert (one.tensors[0].called_with, one.tensors[0].least, one.tensors[0].most) == ((4, 8), 0, 3)


def test_kinds_of_a_factory_hold_for_all_its_programs_and_an_autotune_list_is_right():
    tuned = {"configs": 2, "domains": {"block": [1, 2]}}
    told = [
        program("record", 0),
        program("record", 1, tir="u", arguments={"N": 8, "block": 1, "w": 3}, autotune=tuned),
        call("record1"),
        {
            "event": "parted",
            "part": "record",
            "id": "record0",
            "kinds": {"N": "size", "block": "size", "w": "knob"},
        },
    ]
    [one] = merging.kernels(told, [], "/a.py")
    assert [(field.name, field.kind) for field in one.fields] == [("N", "size")]
    assert [(knob.name, knob.domain) for knob in one.knobs] == [("block", (1, 2)), ("w", ())]


def test_a_factory_that_nothing_tells_of_has_its_parameters_missing():
    factories = [
        Factory("add", "add", 3, "lazy", ("N",), 9),
        Factory("other", "other", 12, "eager", ("A", "B"), 20),
    ]
    told = [
        program("record", 0),
        {"event": "unresolved", "title": "other", "why": "B is not known"},
    ]
    known, other = merging.kernels(told, factories, "/a.py")
    assert known.missing == () and (other.missing, other.why, other.how) == (
        ("A", "B"),
        "B is not known",
        "",
    )


def test_names_are_short_where_they_are_unique():
    told = [
        program("record", 0, title="f.<locals>.kernel"),
        program("record", 1, title="g.<locals>.kernel", line=9),
    ]
    assert [one.name for one in merging.kernels(told, [], "/a.py")] == ["f.kernel", "g.kernel"]


def test_the_best_check_is_named():
    checks = [
        {
            "event": "check",
            "id": "record0",
            "how": how,
            "name": how,
            "line": 5,
            "rtol": 0.1,
            "atol": None,
        }
        for how in ("derived", "profiler")
    ]
    [one] = merging.kernels([program("record", 0), *checks], [], "/a.py")
    assert (one.reference.how, one.reference.rtol, one.reference.atol) == ("profiler", 0.1, None)
