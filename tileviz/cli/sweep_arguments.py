"""The words of `sweep`, `export` and `import`, added to the command line's parser."""

import argparse

from tileviz.cli.once import Lists, Pairs, pair, values
from tileviz.engine.options import INPUTS, L2_MODES
from tileviz.engine.strategies import STRATEGIES
from tileviz.engine.sweeps.budget import EFFORTS, FINALISTS
from tileviz.store.exchange import FORMATS

KEEP_BEST = (
    "keep the best config of each problem of the sweep as a preset: what a like problem starts from"
)

STAYS = "a knob that stays at this value; repeat"

PLAIN = "plain defaults for knobs that are not given, in place of the nearest preset"


def listed(text: str) -> tuple[str, ...]:
    """Names with commas between them."""
    return tuple(name for name in (part.strip() for part in text.split(",")) if name)


def add(commands, command, seconds) -> None:
    """Adds the three commands; `command` makes one, `seconds` is the type of a time limit."""
    _sweep(
        command(commands, "sweep", "compile, check and time many configs, and tell the best"),
        seconds,
    )
    words = command(commands, "export", "write a sweep to a file")
    words.add_argument("sweep", metavar="SWEEP", help="its id, as `sweep` prints it")
    words.add_argument("file", metavar="FILE", help="where to")
    words.add_argument(
        "--format",
        choices=FORMATS,
        default="json",
        help="t4 is Kernel Tuner's results format (default: json)",
    )
    words = command(commands, "import", "store the sweep of an exported file")
    words.add_argument("file", metavar="FILE", help="a CSV, JSON or T4 export")


def add_device(words) -> None:
    """Adds `--device`: which one of this machine measures."""
    words.add_argument(
        "--device", metavar="ID", help="cpu, cuda:0, ... (default: the first GPU, else the CPU)"
    )


def add_baselines(words) -> None:
    """Which baselines are run: all, none, or those that are named."""
    which = words.add_mutually_exclusive_group()
    which.add_argument(
        "--no-baselines", action="store_true", help="leave out PyTorch and the other baselines"
    )
    which.add_argument(
        "--baselines",
        type=listed,
        default=(),
        metavar="NAME,...",
        help="run these alone, for example eager,cublas,triton (default: all)",
    )


def _sweep(words, seconds) -> None:
    words.add_argument(
        "kernel",
        metavar="KERNEL",
        nargs="?",
        help="its name; `python -m tileviz kernels` lists them",
    )
    words.add_argument(
        "-p", dest="problem", action=Lists, default=[], type=values, metavar="NAME=VALUE,...",
        help="a size, dtype or flag of the problem; several values make several problems; repeat",
    )  # fmt: skip
    words.add_argument(
        "-s", dest="space", action=Lists, default=[], type=values, metavar="NAME=VALUE,...",
        help="values of a knob, or of a TileLang pass config; the knobs that are not"
        " named stand where `run` would start; repeat"
        " (default: all knobs, over every choice made for the target)",
    )  # fmt: skip
    words.add_argument(
        "-k", dest="config", action=Pairs, default=[], type=pair, metavar="NAME=VALUE", help=STAYS
    )
    words.add_argument(
        "--all-knobs",
        action="store_true",
        help="beside -s: the other knobs vary, too, over every choice for the target",
    )
    words.add_argument("--no-presets", action="store_true", help=PLAIN)
    words.add_argument(
        "--strategy",
        choices=tuple(STRATEGIES),
        help="what is tried next (default: by effort, model or grid)",
    )
    words.add_argument(
        "--effort",
        choices=EFFORTS,
        default="normal",
        help="quick: some 10 s; normal: up to 200 configs; full: all",
    )
    words.add_argument("--budget-trials", type=count, metavar="N", help="most configs to try")
    words.add_argument("--budget-seconds", type=seconds, metavar="S", help="most seconds of trying")
    words.add_argument(
        "--patience", type=count, metavar="N", help="stop when the best has not moved for N configs"
    )
    words.add_argument(
        "--finalists",
        type=int,
        default=FINALISTS,
        metavar="N",
        help=f"best configs measured again (default: {FINALISTS})",
    )
    words.add_argument(
        "--seed", type=int, default=0, help="of the order and of the inputs (default: 0)"
    )
    words.add_argument(
        "--inputs", choices=INPUTS, default="normal", help="what the inputs hold (default: normal)"
    )
    words.add_argument(
        "--l2",
        choices=L2_MODES,
        default="cold",
        help="state of the L2 cache before each sample on a GPU (default: cold)",
    )
    add_baselines(words)
    words.add_argument(
        "--target", metavar="NAME", help="sm_75 ... sm_120a, or cpu (default: the device's)"
    )
    add_device(words)
    words.add_argument(
        "--timeout",
        type=seconds,
        metavar="SECONDS",
        help="most seconds one config may compile, and again run",
    )
    words.add_argument("--keep-best", action="store_true", help=KEEP_BEST)
    words.add_argument(
        "--race-autotuner", action="store_true",
        help="then run TileLang's own AutoTuner over the same configs and time its best"
        " beside ours (GPU only; takes its time)",
    )  # fmt: skip
    words.add_argument(
        "--resume", metavar="SWEEP", help="go on with a sweep: what is done is skipped"
    )


def count(text: str) -> int:
    number = int(text) if text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number above 0")
    return number
