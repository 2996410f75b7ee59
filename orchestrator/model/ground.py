"""What all of the values are made of: whole numbers that every reader holds, names, places."""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct

SCHEMA_VERSION: Literal[1] = 1

Axes = Mapping[str, str]
# `(?!\n)`: Python's `$` stands before a last newline too, JSON Schema's does not; this means the same to both.
LARGEST = (1 << 53) - 1  # of the whole numbers: every reader of JSON holds it exactly, and every column of metrics
Whole = Annotated[int, Meta(ge=-LARGEST, le=LARGEST)]
Natural = Annotated[int, Meta(ge=0, le=LARGEST)]
Positive = Annotated[int, Meta(ge=1, le=LARGEST)]
CellId = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,126}$(?!\n)")]


class Place(Struct, frozen=True, kw_only=True):
    """Where in a file a value stands, counted from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"
