"""Changes to the text of a matrix file, each at its place: every other character stays what and where it was."""

import json
import re
from collections.abc import Iterable

from msgspec import Struct

from orchestrator.errors import InputError
from orchestrator.matrix.tree import Listing, Scalar

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*", re.ASCII)
_BREAK = re.compile("\r\n|[\r\n]")


class Change(Struct, frozen=True, kw_only=True):
    """New text for what stands between two characters."""

    start: int
    end: int
    text: str


def applied(content: str, changes: Iterable[Change]) -> str:
    """The content with every change made; no two of them may overlap."""
    for change in sorted(changes, key=lambda change: change.start, reverse=True):
        content = content[: change.start] + change.text + content[change.end :]
    return content


def replaced(content: str, scalar: Scalar, value: str) -> Change:
    """The value in place of a scalar, in the quotes that were there."""
    return Change(start=scalar.start, end=scalar.end, text=_written(content, scalar, value))


def inserted(content: str, listing: Listing, at: int, value: str) -> Change:
    """The value as a new item of a list of scalars, before the item at `at`, or last; written as its neighbour is."""
    neighbour = listing.items[max(at - 1, 0)]
    if not isinstance(neighbour, Scalar):
        raise InputError("a list that holds more than text is not edited", place=str(neighbour.place))
    written = _written(content, neighbour, value)
    if not _is_block(content, listing):
        if at:
            return Change(start=neighbour.end, end=neighbour.end, text=f", {written}")
        return Change(start=neighbour.start, end=neighbour.start, text=f"{written}, ")
    line = _line_start(content, neighbour.start)
    lead = content[line : neighbour.start]
    ending = _BREAK.search(content, neighbour.end)
    if not at:
        # The first item may stand behind the key of its list: the new one takes its place there.
        following = ending[0] if ending else "\n"
        return Change(start=neighbour.start, end=neighbour.start, text=f"{written}{following}{_indented(lead)}")
    if ending is None:
        earlier = _BREAK.search(content)
        following = earlier[0] if earlier else "\n"
        return Change(start=len(content), end=len(content), text=f"{following}{_indented(lead)}{written}")
    return Change(start=ending.end(), end=ending.end(), text=f"{_indented(lead)}{written}{ending[0]}")


def _is_block(content: str, listing: Listing) -> bool:
    """Whether the list is written as lines that begin with a dash."""
    first = listing.items[0]
    assert isinstance(first, Scalar)
    return content[_line_start(content, first.start) : first.start].rstrip(" \t").endswith("-")


def _indented(lead: str) -> str:
    """What stands before an item on a line of its own: its dash, under the one of its neighbour."""
    dash = lead.rindex("-")
    return " " * dash + lead[dash:]


def _line_start(content: str, at: int) -> int:
    return max(content.rfind("\n", 0, at), content.rfind("\r", 0, at)) + 1


def _written(content: str, like: Scalar, value: str) -> str:
    """The value as the scalar `like` is written: plain, or in the same quotes."""
    quote = content[like.start : like.start + 1]
    if quote in {"|", ">"} or "\n" in content[like.start : like.end]:
        raise InputError("a value of several lines is not edited", place=str(like.place))
    if _PLAIN.fullmatch(value) is None:
        return json.dumps(value, ensure_ascii=False)
    return f"{quote}{value}{quote}" if quote in {'"', "'"} else value
