"""Output that any terminal takes: a letter that its encoding lacks is spelled out, and one that
nobody reads any more ends quietly."""

import codecs
import errno
import io
import os
import select
import sys
import unicodedata
from collections.abc import Callable

SPELLED = str.maketrans({
    "\u00b5": "u", "\u03bc": "u", "\u00d7": "x", "\u2192": "->", "\u2190": "<-", "\u2026": "...",
    "\u00b0": " deg ", "\u00b1": "+-",
    "\u2264": "<=", "\u2265": ">=", "\u2260": "!=", "\u2248": "~", "\u2212": "-", "\u2010": "-",
    "\u2013": "-", "\u2014": "-",
    "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00b7": ".", "\u2022": "*",
    "\u2605": "*", "\u00df": "ss",
    "\u00b9": "^1", "\u00b2": "^2", "\u00b3": "^3",
})  # fmt: skip

HANDLER = "tileviz.plain"


class ReaderLeft(Exception):
    """Nobody reads the output any more. The sentence says what becomes of what was waited for."""


def reader_left() -> bool:
    """Whether standard output is a pipe that nobody reads any more, as in `| head -1`."""
    try:
        watch = select.poll()
        watch.register(sys.stdout.fileno(), 0)
        return any(event & select.POLLERR for _, event in watch.poll(0))
    except (OSError, ValueError):
        return False


def plain(text: str) -> str:
    """The same in ASCII: letters without their accents, signs as they are typed, and `?` for the
    rest."""
    without = unicodedata.normalize("NFKD", text.translate(SPELLED))
    return (
        "".join(letter for letter in without if not unicodedata.combining(letter))
        .encode("ascii", "replace")
        .decode()
    )


def printed(run: Callable[[], int]) -> int:
    """The exit status of a command, 1 when its output cannot be written. What it prints comes out
    whole, whatever the terminal's encoding; a reader that left (`| head -1`) ends it without a
    word, and a stream that was closed (`2>&-`) takes nothing."""
    _spell_out()
    try:
        try:
            return run()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
    except OSError as error:
        if not is_of_output(error):
            raise
        _drop_the_rest()
        if error.errno != errno.EPIPE:
            print(f"tileviz: the output cannot be written: {error.strerror}", file=sys.stderr)
        return 1


def is_of_output(error: OSError) -> bool:
    """Whether an error is one of printing: of no file that has a name."""
    return error.filename is None and error.errno in (
        errno.EPIPE,
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EIO,
    )


def _spell_out() -> None:
    codecs.register_error(HANDLER, _spelled)
    sys.stdout, sys.stderr = (
        stream or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
        for stream in (sys.stdout, sys.stderr)
    )
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=HANDLER)


def _spelled(error: UnicodeError) -> tuple[str, int]:
    """(what is written in the place of letters that an encoding lacks, where it goes on)."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return plain(error.object[error.start : error.end]), error.end


def _drop_the_rest() -> None:
    """Lets what is still to be flushed go nowhere, or Python would complain of it at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
