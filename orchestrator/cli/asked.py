"""What is asked of `check`: KEY=VALUE words, a date, lines of JSON. Nothing here prints."""

import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any, NoReturn

from orchestrator import text
from orchestrator.errors import InputError

MAX_LINE = 1 << 20

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def pairs(words: Iterable[str]) -> dict[str, str]:
    """`torch=2.13.0 gpu=H100` as a mapping; InputError for a word that is none, or a key that is there twice."""
    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise InputError(f"`{text.shown(word)}` is not KEY=VALUE", hint="torch=2.13.0 torch_build=cu130 gpu=H100")
        if key in found:
            raise InputError(f"`{text.shown(key)}` is given twice")
        found[key] = value
    return found


def day(word: str) -> dt.date:
    """The day of `2027-04-30`; InputError for anything else."""
    try:
        if _DATE.fullmatch(word):
            return dt.date.fromisoformat(word)
    except ValueError:
        pass
    raise InputError(f"`{text.shown(word)}` is not a date", hint="YYYY-MM-DD, such as 2027-04-30")


def today() -> str:
    """Today, as dates are written here."""
    return dt.datetime.now(tz=dt.UTC).date().isoformat()


def lines(stream: IO[bytes]) -> Iterator[bytes | None]:
    """Each line without its end; None for one of more than `MAX_LINE` bytes, of which no more than that is held."""
    while line := stream.readline(MAX_LINE):
        if line.endswith(b"\n") or len(line) < MAX_LINE:
            yield line.rstrip(b"\r\n")
            continue
        while (rest := stream.readline(MAX_LINE)) and not rest.endswith(b"\n"):
            pass
        yield None


def combination(line: bytes | None) -> Mapping[str, object]:
    """The combination on a line of JSON; InputError says why there is none.

    A number is the text that it was written as: 3.10 is a version here, and no 3.1.
    """
    if line is None:
        raise InputError(f"the line has more than {MAX_LINE} bytes")
    try:
        found = json.loads(
            line.decode(),
            object_pairs_hook=_distinct,
            parse_int=str,
            parse_float=str,
            parse_constant=_no_number,
        )
        if b"\\u" in line:
            json.dumps(found, ensure_ascii=False).encode()  # an escape may spell half of a character
    except RecursionError as error:
        raise InputError("the line is not JSON that can be read: it is nested too deep") from error
    except ValueError as error:
        raise InputError(f"the line is not JSON that can be read: {text.one_line(str(error))}") from error
    if not isinstance(found, dict):
        raise InputError("the line is not a JSON object")
    return found


def _distinct(items: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(items)
    if len(found) < len(items):
        raise ValueError("a key is there twice")
    return found


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no value")
