"""The words of the command line."""

import pytest

from tileviz.cli import arguments


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


def test_bad_usage_is_a_json_document_where_one_was_asked_for(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["tileviz", "run", "gemm", "-p", "M", "--json"])
    with pytest.raises(SystemExit):
        parse("run", "gemm", "-p", "M", "--json")
    assert '"error"' in capsys.readouterr().out
