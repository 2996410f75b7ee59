"""What is printed: results to stdout, progress and errors to stderr; a reader that has gone changes no exit code."""

import errno
import io
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

import click

from orchestrator import text
from orchestrator.masking import NOTHING, Masker

if TYPE_CHECKING:
    from msgspec import Struct

_IN_FORCE = [NOTHING]


def escape_what_has_no_code() -> None:
    """From here on a character that the terminal's encoding has no code for is printed as an escape, and no error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def keep_out(masker: Masker) -> None:
    """From here to the end of the process nothing is printed in which the masker finds a secret, errors included."""
    _IN_FORCE[0] = masker


def masked(output: str) -> str:
    """The text without the secrets that are in force."""
    return _IN_FORCE[0].text(output)


def show(output: str) -> bool:
    """Print a result; whether somebody still reads."""
    try:
        click.echo(masked(output))
    except OSError as error:
        if not _nobody_reads(error, sys.stdout):
            raise
        # The reader has gone (`| head`). The verb's exit code stays what it is: others read that.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def show_json(value: Any) -> None:
    """Print a result for machines."""
    import json

    show(json.dumps(value, indent=1, allow_nan=False))


def show_value(value: "Struct") -> None:
    """Print a value of the model for machines, as its schema has it."""
    import msgspec

    show(msgspec.json.format(msgspec.json.encode(value), indent=1).decode())


def say(line: str) -> None:
    """Tell of progress or an error, with nothing in it that acts on a terminal."""
    try:
        click.echo(text.visible(masked(line)), err=True)
    except OSError as error:
        if not _nobody_reads(error, sys.stderr):
            raise
        # Nobody listens any more: what was asked for is done all the same.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _nobody_reads(error: OSError, stream: TextIO) -> bool:
    """Whether a pipe's reader has gone or a terminal was closed; of a file, the second is a disk that is broken."""
    return error.errno == errno.EPIPE or (error.errno == errno.EIO and _was_terminal(stream))


def _was_terminal(stream: TextIO) -> bool:
    """Whether it is a character device: one that hung up does not answer as a terminal any more."""
    import stat

    try:
        return stat.S_ISCHR(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):
        return False


def width() -> int:
    """The terminal's columns; a file or a pipe has room for every column of a table."""
    import shutil

    return shutil.get_terminal_size((120, 24)).columns if _is_terminal() else _UNBOUND


_UNBOUND = 240


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()  # None: the caller closed it


def colour() -> bool:
    """Whether results may be coloured."""
    return _is_terminal() and "NO_COLOR" not in os.environ
