"""Which rows a `--select` names: globs on the id of the cell or on the name of the row, upper and lower case apart."""

import difflib
import fnmatch
from collections.abc import Sequence

from orchestrator import axes, text
from orchestrator.errors import NothingSelected
from orchestrator.model import Row

_NEAR = 3


def is_selected(row: Row, globs: Sequence[str]) -> bool:
    """Whether one of the globs names the row; no glob at all names every row."""
    return not globs or any(_names(glob, row) for glob in globs)


def check_globs(rows: Sequence[Row], globs: Sequence[str]) -> None:
    """NothingSelected, with the nearest names, for a glob that names no row: a typo must not shrink a run."""
    for glob in globs:
        if not any(_names(glob, row) for row in rows):
            raise NothingSelected(f"`{text.one_line(glob, 80)}` selects no cell", hint=_nearest(glob, rows))


def _names(glob: str, row: Row) -> bool:
    return any(fnmatch.fnmatchcase(name, glob) for name in (row.name, axes.cell_id(row.axes)))


def _nearest(glob: str, rows: Sequence[Row]) -> str:
    names = [name for row in rows for name in (row.name, axes.cell_id(row.axes))]
    near = difflib.get_close_matches(glob.strip("*"), names, n=_NEAR, cutoff=0.3) or names[:_NEAR]
    return f"did you mean {' or '.join(f'`{name}`' for name in near)}?" if near else "the matrix has no production row"
