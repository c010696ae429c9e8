"""The words of the command line."""

import argparse

import pytest

from tileviz.cli import arguments
from tileviz.cli.once import Lists, Pairs


def parse(*words: str):
    return arguments.parser().parse_args(list(words))


def test_problem_and_config_are_pairs_in_order():
    asked = parse("run", "gemm", "-p", "M=512", "-p", "dtype=float32", "-k", "block_M=64", "-k", "tl.enable_fast_math=true")
    assert asked.problem == [("M", "512"), ("dtype", "float32")]
    assert asked.config == [("block_M", "64"), ("tl.enable_fast_math", "true")]


def test_options_may_come_before_the_kernel():
    assert parse("run", "-p", "M=512", "--json", "gemm").kernel == "gemm"


def test_a_value_may_hold_an_equals_sign_or_a_minus():
    asked = parse("run", "flash_attention", "-p", "scale=-0.5", "-k", "tl.some_flags=a=b")
    assert asked.problem == [("scale", "-0.5")]
    assert asked.config == [("tl.some_flags", "a=b")]


def test_a_run_has_cold_l2_normal_inputs_seed_zero_and_baselines_unless_told_otherwise():
    asked = parse("run", "gemm")
    assert (asked.l2, asked.inputs, asked.seed, asked.no_baselines, asked.timeout, asked.save) == ("cold", "normal", 0, False, None, None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "gemm", "-p", "M"], "'M' is not NAME=VALUE"),
        (["run", "gemm", "-k", "=3"], "'=3' is not NAME=VALUE"),
        (["run", "gemm", "--timeout", "0"], "'0' is not a number of seconds"),
        (["run", "gemm", "--timeout", "soon"], "'soon' is not a number of seconds"),
        (["run", "gemm", "--l2", "hot"], "invalid choice: 'hot'"),
        (["run", "gemm", "--seed", "x"], "invalid int value"),
        (["compile", "gemm", "--emit", "wasm"], "invalid choice: 'wasm'"),
        (["run"], "KERNEL"),
        (["run", "gemm", "-p", "N=1000", "-p", "N=2000"], "argument -p: N is given twice, 1000 and 2000"),
        (["compile", "gemm", "-k", "block_M=64", "-k", "block_M=128"], "block_M is given twice, 64 and 128"),
        (["sweep", "gemm", "-k", "block_M=64", "-k", "block_M=128"], "block_M is given twice, 64 and 128"),
        (["run", "gemm", "--no-baselines", "--baselines", "eager"], "not allowed with argument --no-baselines"),
        (["sweep", "gemm", "-s", 'a="b'], "is not NAME=VALUE,VALUE,..."),
        (["sweep", "gemm", "-s", "block_M=64,"], "is not NAME=VALUE,VALUE,..."),
        (["fly"], "invalid choice: 'fly'"),
        ([], "COMMAND"),
    ],
)
def test_bad_usage_exits_2_with_one_sentence(words, said, capsys):
    with pytest.raises(SystemExit) as stopped:
        parse(*words)
    assert stopped.value.code == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.strip().splitlines()) == 1


def takes_many(action: argparse.Action) -> bool:
    """Whether an option is given twice with sense, or takes no value or all that follows."""
    lists = (Pairs, Lists, argparse._AppendAction)
    return action.nargs in (0, argparse.REMAINDER) or isinstance(action, lists)


def test_every_option_with_one_value_is_refused_when_given_twice(capsys):
    top = arguments.parser()
    commands = next(action for action in top._actions if action.choices and action.dest == "command").choices
    seen = 0
    for name, command in commands.items():
        needed = ["word"] * sum(not action.option_strings and action.nargs != "?" for action in command._actions)
        for action in command._actions:
            if not action.option_strings or takes_many(action):
                continue
            twice = [action.option_strings[0], next(iter(action.choices or ["7"]))] * 2
            with pytest.raises(SystemExit):
                top.parse_args([name, *needed, *twice])
            assert f"argument {action.option_strings[0]}: given twice; it takes one value" in capsys.readouterr().err
            seen += 1
    assert seen > 30


def test_values_of_a_knob_given_in_parts_are_one_list():
    asked = parse("sweep", "gemm", "-s", "block_M=64", "-s", "block_N=32", "-s", "block_M=128,256", "-p", "M=1", "-p", "M=2,3")
    assert asked.space == [("block_M", ("64", "128", "256")), ("block_N", ("32",))] and asked.problem == [("M", ("1", "2", "3"))]


def test_where_commas_make_lists_a_quoted_value_is_one():
    asked = parse("sweep", "gemm", "-s", 'tl.device_compile_flags="-Xptxas -O1,-v", -DX=1', "-k", "tl.device_compile_flags=-a,-b")
    assert asked.space == [("tl.device_compile_flags", ("-Xptxas -O1,-v", "-DX=1"))]
    assert asked.config == [("tl.device_compile_flags", "-a,-b")]


def test_bad_usage_is_a_json_document_where_one_was_asked_for(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["tileviz", "run", "gemm", "-p", "M", "--json"])
    with pytest.raises(SystemExit):
        parse("run", "gemm", "-p", "M", "--json")
    assert '"error"' in capsys.readouterr().out
