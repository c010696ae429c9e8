"""The words of the command line, as an argparse parser."""

import argparse
import json
import sys
from typing import NoReturn

from tileviz import __version__, texts
from tileviz.cli import sweep_arguments
from tileviz.cli.once import Once, Pairs, pair
from tileviz.engine.options import FLUSHES, INPUTS, L2_MODES

EMITS = ("source", "cuda", *(name for name in texts.names() if name not in ("source", "program")))
"""Texts of an artifact that a command prints; `cuda` is another word for `source`, `ir` is
TileLang's lowered form before it. The program is the kernel's own file."""

EXAMPLES = """examples:
  python -m tileviz doctor
  python -m tileviz run gemm -p M=512 -p N=512 -p K=512 -p dtype=float32 -k block_M=64
  python -m tileviz compile gemm --target sm_90a --emit ptx
  python -m tileviz run softmax --json > result.json

exit status: 0 it worked; 1 it did not (a wrong result counts); 2 the request makes no sense; \
130 stopped by Ctrl-C
"""


class Parser(argparse.ArgumentParser):
    """Bad usage exits 2 with one sentence, and with a JSON document where one was asked for. An
    option with a value is taken once."""

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        for plain in (None, "store"):
            self.register("action", plain, Once)

    def error(self, message: str) -> NoReturn:
        if "--json" in sys.argv:
            print(json.dumps({"error": message}))
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def parser() -> Parser:
    top = Parser(
        prog="python -m tileviz",
        description="Compile, run, check and time GPU kernels written in TileLang.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"tileviz {__version__}")
    commands = top.add_subparsers(
        dest="command", required=True, metavar="COMMAND", parser_class=Parser
    )
    _doctor(commands)
    _kernels(commands)
    _compile(commands)
    _run(commands)
    _show(commands)
    _diff(commands)
    _presets(commands)
    sweep_arguments.add(commands, _command, _seconds)
    _delete(commands)
    _cancel(commands)
    _open(commands)
    _serve(commands)
    return top


def _doctor(commands) -> None:
    _command(
        commands, "doctor", "what this machine has, what is missing, and the line that gets it"
    )


def _kernels(commands) -> None:
    command = _command(commands, "kernels", "the kernels with their problem fields and knobs")
    command.add_argument("kernel", nargs="?", metavar="KERNEL", help="this one alone")


def _compile(commands) -> None:
    command = _command(
        commands, "compile", "generate and compile the code of one config, for any target"
    )
    _add_request(command)
    command.add_argument(
        "--emit", choices=EMITS, help="print this text; `--emit source` only lowers"
    )


def _run(commands) -> None:
    command = _command(
        commands, "run", "compile, run, check and time one config on a device of this machine"
    )
    _add_request(command)
    sweep_arguments.add_baselines(command)
    command.add_argument(
        "--l2",
        choices=L2_MODES,
        default="cold",
        help="state of the L2 cache before each sample on a GPU (default: cold)",
    )
    command.add_argument(
        "--flush",
        choices=FLUSHES,
        default="read",
        help="how L2 is emptied on a GPU; write leaves dirty lines that the kernel pays"
        " for, none leaves L2 warm (default: read)",
    )
    command.add_argument(
        "--inputs", choices=INPUTS, default="normal", help="what the inputs hold (default: normal)"
    )
    command.add_argument("--seed", type=int, default=0, help="of the random inputs (default: 0)")
    command.add_argument(
        "--save", metavar="FILE.npz", help="keep the inputs (in0, in1, ...) and the output (out)"
    )


def _show(commands) -> None:
    command = _command(commands, "show", "a stored trial or sweep")
    command.add_argument(
        "trial", metavar="ID", help="its id, as `run`, `compile` and `sweep` print it"
    )
    command.add_argument("--emit", choices=EMITS, help="print this text of its artifact")
    command.add_argument("--keep-best", action="store_true", help=sweep_arguments.KEEP_BEST)


def _diff(commands) -> None:
    command = _command(
        commands, "diff", "what differs between the code of two stored trials, changed counts first"
    )
    command.add_argument("first", metavar="TRIAL_A", help="id of a trial")
    command.add_argument("second", metavar="TRIAL_B", help="id of another")
    command.add_argument("--emit", choices=EMITS, default="sass", help="which text (default: sass)")


def _presets(commands) -> None:
    command = _command(
        commands,
        "presets",
        "the configs that knobs start from where none are given, your own and the recorded ones",
    )
    command.add_argument("kernel", nargs="?", metavar="KERNEL", help="of this one alone")
    command.add_argument("--forget", metavar="ID", help="delete one of your own")


def _delete(commands) -> None:
    what = (
        "delete sweeps, trials or compiled code, or take them back; without an ID,"
        " list what can be taken back"
    )
    command = _command(commands, "delete", what)
    command.add_argument(
        "ids",
        nargs="*",
        metavar="ID",
        help="of a sweep, of a trial that is in none, or of compiled code (its artifact)",
    )
    command.add_argument(
        "--undo", action="store_true", help="take back what was deleted in the last 7 days"
    )


def _cancel(commands) -> None:
    what = "stop sweeps or runs that wait or run; what was measured stays; without an ID, list them"
    command = _command(commands, "cancel", what)
    command.add_argument(
        "ids", nargs="*", metavar="ID", help="of a sweep, or of a run as this command lists it"
    )


def _open(commands) -> None:
    what = (
        "say which TileLang kernels a Python file holds; this runs its script, in its own process"
    )
    command = _command(commands, "open", what)
    command.add_argument("file", metavar="FILE", help="a Python file")
    command.add_argument(
        "--compile",
        metavar="TARGET",
        action="append",
        default=[],
        help="compile each kernel for this target, too: sm_90a, ...; repeat",
    )
    command.add_argument(
        "--timeout",
        type=_seconds,
        metavar="SECONDS",
        help="most seconds for its script (default: 60)",
    )
    command.add_argument(
        "--pytest",
        nargs=argparse.REMAINDER,
        metavar="ARGS",
        help="run the tests in it; what follows goes to pytest, so give this last",
    )


def _serve(commands) -> None:
    what = "open the dashboard in a browser, for this machine alone unless told otherwise"
    command = _command(commands, "serve", what, has_json=False)
    command.add_argument(
        "--host",
        metavar="ADDRESS",
        default="127.0.0.1",
        help="where it answers (default: 127.0.0.1); others need TILEVIZ_TOKEN",
    )
    command.add_argument("--port", metavar="N", type=_port, default=8501, help="(default: 8501)")
    command.add_argument(
        "--allow",
        metavar="NAMES",
        type=_names,
        default=(),
        help="names, with commas, under which browsers may ask for this machine",
    )


def _command(commands, name: str, summary: str, has_json: bool = True) -> argparse.ArgumentParser:
    command = commands.add_parser(
        name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", allow_abbrev=False
    )
    if has_json:
        command.add_argument("--json", action="store_true", help="print one JSON document")
    else:
        command.set_defaults(json=False)
    return command


def _add_request(command) -> None:
    command.add_argument(
        "kernel", metavar="KERNEL", help="its name; `python -m tileviz kernels` lists them"
    )
    command.add_argument(
        "-p",
        dest="problem",
        action=Pairs,
        default=[],
        type=pair,
        metavar="NAME=VALUE",
        help="a size, dtype or flag; repeat",
    )
    command.add_argument(
        "-k",
        dest="config",
        action=Pairs,
        default=[],
        type=pair,
        metavar="NAME=VALUE",
        help="a knob, or a TileLang pass config; repeat",
    )
    command.add_argument("--no-presets", action="store_true", help=sweep_arguments.PLAIN)
    command.add_argument(
        "--target",
        metavar="NAME",
        help="what code is generated for: sm_75 ... sm_120a, or cpu (default: the device's)",
    )
    sweep_arguments.add_device(command)
    command.add_argument(
        "--timeout",
        type=_seconds,
        metavar="SECONDS",
        help="most seconds a step may take before it is stopped",
    )


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 < value <= 86400:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a number of seconds above 0 and up to 86,400"
        )
    return value


def _names(text: str) -> tuple[str, ...]:
    found = tuple(filter(None, (name.strip() for name in text.split(","))))
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' names no host")
    return found


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"'{text}' is not a port: a whole number from 1 to 65,535")
    return int(text)
