"""Files of measurements that a verb is given, from a path or from stdin."""

import sys
from pathlib import Path

from orchestrator import disk, text
from orchestrator.errors import InputError, refuse_shortage
from orchestrator.results.measurements import MAX_BYTES


def measured_in(file: str | None, option: str) -> tuple[bytes, str]:
    """The bytes of the file that an option names, `-` being stdin, and how it is named in problems; or InputError."""
    if file is None:
        raise InputError("no file is given", place=option, hint=f"{option} FILE, or {option} - for stdin")
    name = "stdin" if file == "-" else text.one_line(file, 200)
    try:
        if file != "-":
            data = disk.read_regular(Path(file), MAX_BYTES)
        elif sys.stdin is None:
            raise InputError("it is closed", place=name, hint="give a file, or send one in")
        else:
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputError("there is no such file", place=name, hint="the path counts from where you are") from None
    except disk.NotRegular as error:
        raise InputError(f"cannot be read: {error}", place=name, hint="`-` reads from stdin") from None
    except (OSError, ValueError) as error:
        refuse_shortage(error, name)
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"cannot be read: {reason}", place=name) from None
    if len(data) > MAX_BYTES:
        raise InputError(f"it is larger than {MAX_BYTES >> 20} MiB", place=name, hint="a run is one number")
    return data, name
