"""The cases that there are, by profile: known without collecting them, so that one that is lost is missed.

`cases.json` is written by `tests/generate_cases.py`. A case's short name is its file's and its function's:
`loads/test_matmul.py::test_square[fp32]` is `matmul.square[fp32]`.
"""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Dict, List, Mapping, Optional, Sequence, Tuple

from suites.request import PROFILES

if TYPE_CHECKING:
    from pathlib import Path

FILE = "cases.json"
Cases = Mapping[str, Tuple[str, str]]
"""Name in the report -> the least profile that runs it: by itself, and through a compile backend."""


def read(folder: Path) -> Optional[Cases]:
    """The cases of the suite in a folder, or None where none are written down."""
    try:
        found: Dict[str, List[str]] = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return {name: (least[0], least[1]) for name, least in found.items()}


def short(name: str) -> str:
    """The short name of a case."""
    file, separator, function = name.partition("::")
    if not separator:
        return name
    stem = file.rpartition("/")[2]
    for text in ("test_", ".py"):
        stem = stem.replace(text, "", 1)
    return f"{stem}.{function.replace('test_', '', 1)}"


def fits(name: str, globs: Sequence[str]) -> bool:
    """Whether a case is one of these loads: `matmul`, `matmul.square`, `*.square*` or its whole short name."""
    whole = short(name)
    without = whole.partition("[")[0]
    names = (without.partition(".")[0], without, whole)
    return not globs or any(glob in names or any(fnmatchcase(one, glob) for one in names) for glob in globs)


def runs_in(least: Tuple[str, str], profile: str, compiled: bool) -> bool:
    """Whether a profile runs a case with this least profile."""
    return PROFILES.index(least[compiled]) <= PROFILES.index(profile)


def chosen(cases: Cases, profile: str, compiled: bool, globs: Sequence[str]) -> List[str]:
    """The cases that a run has."""
    return [name for name, least in cases.items() if runs_in(least, profile, compiled) and fits(name, globs)]


def listing(cases: Cases, profile: str, globs: Sequence[str]) -> str:
    """A line for each case that a profile runs at all: its short name, and from which profile on."""
    there = [name for name in cases if runs_in(cases[name], profile, False) and fits(name, globs)]
    width = max((len(short(name)) for name in there), default=4)
    lines = [f"{'case':<{width}}  runs from  compiled from"]
    lines += [f"{short(name):<{width}}  {cases[name][0]:<9}  {cases[name][1]}" for name in there]
    return "\n".join(lines)


def lost(expected: Sequence[str], reported: Sequence[str]) -> List[str]:
    """Expected cases of which nothing is reported, but those of a file that is reported as a whole: it says why."""
    known = set(reported)
    return [name for name in expected if name not in known and name.partition("::")[0] not in known]
