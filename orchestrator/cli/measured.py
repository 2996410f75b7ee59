"""Files of measurements that a verb is given, from a path or from stdin."""

import sys
from pathlib import Path

from orchestrator import disk, text
from orchestrator.errors import InputError
from orchestrator.results.measurements import MAX_BYTES


def measured_in(file: str) -> tuple[bytes, str]:
    """The bytes of a file, `-` being stdin, and its name in the places of problems; InputError when it has none."""
    name = "stdin" if file == "-" else text.one_line(file, 200)
    try:
        if file != "-":
            data = disk.read_regular(Path(file), MAX_BYTES)
        elif sys.stdin is None:
            raise InputError("it is closed", place=name)
        else:
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputError("there is no such file", place=name) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"cannot be read: {reason}", place=name, hint="`-` reads from stdin") from None
    if len(data) > MAX_BYTES:
        raise InputError(f"it is larger than {MAX_BYTES >> 20} MiB", place=name)
    return data, name


def refused(error: InputError) -> str:
    """Why nothing can be said of what was given, for the JSON that is printed all the same."""
    return text.visible(str(error))
