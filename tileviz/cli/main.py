"""Runs a command and turns what went wrong into one sentence and an exit status."""

import json
import signal
import sys
import time
import traceback

from tileviz import settings
from tileviz.cli import (
    arguments,
    cancel,
    delete,
    diff,
    doctor,
    kernels,
    open,
    presets,
    serve,
    sweep,
    terminal,
    trials,
)
from tileviz.errors import BadRequest, TilevizError
from tileviz.store import tileviz_home

COMMANDS = {
    "doctor": doctor.doctor, "kernels": kernels.kernels, "compile": trials.compile,
    "run": trials.run, "show": sweep.show,
    "diff": diff.diff, "presets": presets.presets,
    "sweep": sweep.sweep, "export": sweep.export, "import": sweep.bring_in, "delete": delete.delete,
    "cancel": cancel.cancel, "open": open.open,
    "serve": serve.serve,
}  # fmt: skip

FAILED, BAD_USAGE, INTERRUPTED, TERMINATED = 1, 2, 130, 143


class Terminated(KeyboardInterrupt):
    """SIGTERM: stops a command as Ctrl-C does."""


def main(words: list[str] | None = None) -> int:
    """The exit status of a command line: 0 when the thing asked for worked."""
    return terminal.printed(lambda: _run(arguments.parser().parse_args(words)))


def _run(asked) -> int:
    signal.signal(signal.SIGTERM, _terminate)
    try:
        if asked.command != "doctor":  # which tells of every setting
            settings.check()
        status = COMMANDS[asked.command](asked)
        sys.stdout.flush()
        return status
    except TilevizError as error:
        return _refuse(error, asked.json)
    except terminal.ReaderLeft as left:
        print(f"tileviz: {left}", file=sys.stderr)
        return FAILED
    except Terminated:
        print("stopped", file=sys.stderr)
        return TERMINATED
    except KeyboardInterrupt:
        print("stopped by Ctrl-C", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        if terminal.is_of_output(error):
            raise
        return _unexpected(error, asked.json)
    except (
        Exception
    ) as error:  # a fault of ours: a person gets a sentence, and the traceback lies in the log
        return _unexpected(error, asked.json)


def _terminate(_number, _frame) -> None:
    raise Terminated


def _refuse(error: TilevizError, as_json: bool) -> int:
    if as_json:
        print(
            json.dumps(
                {"error": error.message, **({"detail": error.detail} if error.detail else {})}
            )
        )
    if error.detail:
        print(error.detail.rstrip(), file=sys.stderr)
    print(f"tileviz: {error.message}", file=sys.stderr)
    return BAD_USAGE if isinstance(error, BadRequest) else FAILED


def _unexpected(error: Exception, as_json: bool) -> int:
    sentence = (
        "something went wrong that tileviz did not expect"
        f" ({type(error).__name__}: {error}); {_keep(error)}"
    )
    if as_json:
        print(json.dumps({"error": sentence}))
    print(f"tileviz: {sentence}", file=sys.stderr)
    if settings.debug():
        traceback.print_exception(error)
    return FAILED


def _keep(error: Exception) -> str:
    """Appends the traceback to command.log and says where that is; a log that cannot be written is
    said, too."""
    try:
        log = tileviz_home() / "command.log"
        with log.open("a", encoding="utf-8", errors="replace") as file:
            file.write(
                f"\n{time.strftime('%Y-%m-%d %H:%M:%S')}"
                f" {' '.join(sys.argv)}\n{''.join(traceback.format_exception(error))}"
            )
    except (OSError, TilevizError) as trouble:
        return f"set TILEVIZ_DEBUG=1 to see where (no log: {trouble})"
    return f"the details are in {log}"
