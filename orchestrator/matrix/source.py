"""From a path to text: what a file must be before anything in it is looked at."""

import re
from pathlib import Path

from orchestrator import disk, text
from orchestrator.errors import InputError, InputErrors, refuse_shortage
from orchestrator.model import Place

MAX_BYTES = 1 << 20
# What YAML 1.2 allows in a stream: https://yaml.org/spec/1.2.2/#51-character-set
_ILLEGAL = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_BOM = "\ufeff"


def name_of(path: Path) -> str:
    """The path as it shows in the places of problems: one printable line."""
    return text.one_line(str(path), 200)


def read(path: Path) -> str:
    """The text of a file, its byte order mark taken off; InputErrors with the one thing that is wrong otherwise."""
    return decode(bytes_of(path), name_of(path))


def bytes_of(path: Path) -> bytes:
    """The bytes of a regular file; a FIFO or a device is refused without being read, so that nothing hangs."""
    name = name_of(path)
    try:
        data = disk.read_regular(path, MAX_BYTES)
    except FileNotFoundError:
        hint = "`torchmatrix init` writes one for this machine, --matrix names another file"
        raise _refused(name, "there is no such file", hint) from None
    except disk.NotRegular:
        raise _refused(name, "cannot be read: Is a directory" if path.is_dir() else "is not a regular file") from None
    except (OSError, ValueError) as error:
        refuse_shortage(error, name)
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise _refused(name, f"cannot be read: {reason}") from None
    if len(data) > MAX_BYTES:
        raise _refused(name, f"is larger than {MAX_BYTES >> 20} MiB")
    return data


def _refused(place: str, fact: str, hint: str = "") -> InputErrors:
    return InputErrors([InputError(fact, place=place, hint=hint)])


def decode(data: bytes, name: str) -> str:
    """The text of UTF-8 bytes; `name` is the file in the place of a problem."""
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        raise _refused(f"{name}:1:1", "the file is UTF-16: save it as UTF-8")
    try:
        content = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        raise _refused(str(_end_of(before, name)), f"byte 0x{data[error.start]:02x} is not UTF-8") from None
    content = content.removeprefix(_BOM)
    if illegal := _ILLEGAL.search(content):
        place = _end_of(content[: illegal.start()], name)
        raise _refused(str(place), f"character U+{ord(illegal[0]):04X} has no place in a YAML file")
    return content


def _end_of(before: str, name: str) -> Place:
    line_start = max(before.rfind("\n"), before.rfind("\r")) + 1
    breaks = before.count("\n") + before.replace("\r\n", "").count("\r")
    return Place(file=name, line=1 + breaks, column=1 + len(before) - line_start)
