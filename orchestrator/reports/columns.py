"""Plain text in columns: padding, wrapping and tables that know how wide a character is on a terminal.

Text from outside stands behind a word of ours or behind a bar, so no printed line begins with it: what a CI server
takes for a command at the start of a line never stands there.
"""

import unicodedata
from collections.abc import Sequence

from msgspec import Struct

from orchestrator.text import one_line

BAR = "  | "
GAP = "  "
NAMES_SHOWN = 5


class Column(Struct, frozen=True, kw_only=True):
    """A column of a table. When there is no room for it, an optional one is dropped, another goes below its row."""

    name: str
    optional: bool = False


class Line(Struct, frozen=True, kw_only=True):
    """A row: a text for each column, what stands below it behind the bar, and one line of ours to paste."""

    values: Sequence[str]
    below: Sequence[str] = ()
    paste: str = ""
    colour: str = ""


def page(*blocks: Sequence[str]) -> str:
    """Blocks of lines with a blank line between them; a block without lines is none."""
    return "\n\n".join("\n".join(block) for block in blocks if block)


def width_of(text: str) -> int:
    """How many columns a terminal gives to the text: wide characters take two, combining marks none."""
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if char.isascii():
        return 1
    if unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def pad(text: str, width: int) -> str:
    """The text with spaces up to the width; a longer one stays whole."""
    return text + " " * (width - width_of(text))


def wrap(text: str, width: int) -> list[str]:
    """The words of one line in lines of at most `width` columns; a longer word is broken."""
    lines, line, used = [], "", 0
    for word in text.split(" "):
        for piece in _pieces(word, width):
            needed = width_of(piece)
            if line and used + 1 + needed > width:
                lines.append(line)
                line, used = piece, needed
            else:
                line, used = (f"{line} {piece}", used + 1 + needed) if line else (piece, needed)
    return [*lines, line] if line else lines


def _pieces(word: str, width: int) -> list[str]:
    pieces, piece, used = [], "", 0
    for char in word:
        needed = _char_width(char)
        if used + needed > width:
            pieces.append(piece)
            piece, used = "", 0
        piece, used = piece + char, used + needed
    return [*pieces, piece]


def fenced(text: str, width: int) -> list[str]:
    """One line from outside as lines behind the bar."""
    return [BAR + line for line in wrap(text, max(width - len(BAR), 20))]


def listed(names: Sequence[str], width: int) -> list[str]:
    """The first few names from outside behind the bar, a name a line, and how many more there are."""
    lines = [f"{BAR}{GAP}{one_line(name, max(width - len(BAR + GAP), 20))}" for name in names[:NAMES_SHOWN]]
    if len(names) > NAMES_SHOWN:
        lines.append(f"{BAR}{GAP}and {len(names) - NAMES_SHOWN} more: --json has all of them")
    return lines


def painted(text: str, code: str) -> str:
    """The text in an ANSI colour; without a code it stays plain."""
    return f"\x1b[{code}m{text}\x1b[0m" if code else text


def table(columns: Sequence[Column], lines: Sequence[Line], width: int) -> list[str]:
    """The rows under a heading. The first column is never cut and carries the colour of its row."""
    if not lines:
        return []
    widths = [
        max(width_of(text) for text in (column.name, *(line.values[at] for line in lines)))
        for at, column in enumerate(columns)
    ]
    shown = _that_fit(columns, widths, width)
    below = [at for at, column in enumerate(columns) if at not in shown and not column.optional]
    rows = [GAP.join(pad(columns[at].name, widths[at]) for at in shown).rstrip()]
    for line in lines:
        first, *others = (pad(line.values[at], widths[at]) for at in shown)
        rows.append(GAP.join((painted(first, line.colour), *others)).rstrip())
        for at in below:
            rows += fenced(f"{columns[at].name}: {line.values[at]}", width) if line.values[at] else []
        for text in line.below:
            rows += fenced(text, width)
        rows += [GAP + line.paste] if line.paste else []
    return rows


def _that_fit(columns: Sequence[Column], widths: Sequence[int], width: int) -> list[int]:
    """The columns with room for them, from the left; optional ones only in what the others leave."""
    kept: list[int] = []
    room = width + len(GAP)
    for optional in (False, True):
        for at, column in enumerate(columns):
            if column.optional is optional and (widths[at] + len(GAP) <= room or not kept):
                kept.append(at)
                room -= widths[at] + len(GAP)
    return sorted(kept)
