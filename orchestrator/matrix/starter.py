"""A first matrix as text, for somebody to go on from: commented, in the order in which it is read. Pure."""

import json
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from orchestrator import axes, text
from orchestrator.model import Axes

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._+-]*|\d+(?:\.\d+){2,}", re.ASCII)  # what no reader of YAML takes for a number
_WORDS = frozenset({"yes", "no", "on", "off", "true", "false", "null", "y", "n"})


class StartRow(Struct, frozen=True, kw_only=True):
    """A row of the first matrix."""

    name: str
    axes: Axes


class Start(Struct, frozen=True, kw_only=True):
    """What a first matrix is made of: what was found here, the rows, other releases to list, and this machine."""

    found: tuple[str, ...]
    rows: tuple[StartRow, ...]
    torch: tuple[str, ...]
    runner: Axes


class Started(Struct, frozen=True, kw_only=True):
    """What `torchmatrix init --json` prints: the file that was written, what was found here, the names of the rows."""

    file: str
    found: tuple[str, ...]
    rows: tuple[str, ...]


def starter(start: Start) -> str:
    """The text of the file."""
    lines = [
        "# What production runs, and how far around it to look. `torchmatrix init` wrote it for this machine:",
        *(f"#   {text.one_line(line, 110)}" for line in start.found),
        "#",
        "#   torchmatrix plan        what would run where, why, and what it costs",
        "#   torchmatrix run --here  run what this machine can run",
        "#",
        "# Every value is text exactly as written: 3.10 stays 3.10. A typo is an error with its line.",
        "version: 1",
        "",
        "# The values that rows may have. Add a release here, or let `torchmatrix bump torch VERSION` do it.",
        "axes:",
        *(f"  {name}: {_listed(values)}" for name, values in _values(start).items()),
        "",
        "# Each row is one combination that production runs today: one cell that is tested. Put yours in their place;",
        "# an `owner` is told when it breaks, `env` sets variables, a ready image is a row with `image: name@sha256:…`",
        "production:",
        *(f"  - {_mapping({'name': row.name, **row.axes})}" for row in start.rows),
        "",
        "# What to test beside production: one axis moved to its next or previous value around each row.",
        "# `torchmatrix plan --tier all` shows them.",
        "edge:",
        "  neighbours: [previous, next]",
        "  budget: {cells: 8}",
        "",
        "# Combinations that are never planned. What vendors say is known already: write down only your own.",
        "# rules:",
        '#   - {forbid: {torch: ">=2.99"}, because: our internal wheels are not built for it}',
        "",
        "# Secrets: where they are, never what they are. A row with `secrets: [HF_TOKEN]` gets a file, and its path in",
        "# HF_TOKEN_FILE; its image is built with `RUN --mount=type=secret,id=HF_TOKEN`.",
        "# secrets: {HF_TOKEN: {env: HF_TOKEN}}",
        "",
        "# Classes of machines. A cell is placed on the first that has what it needs; one without a GPU runs anywhere.",
        "runners:",
        f"  - {_mapping({'name': _name(start), **start.runner})}",
        "",
        "limits: {timeout: 20m, memory: 8GiB, shm: 1GiB, pids: 4096} # of one cell; a row may give its own timeout",
        "",
    ]
    return "\n".join(lines)


def _name(start: Start) -> str:
    gpu = start.runner.get("gpu", "")
    return text.slug(f"{gpu}-{start.runner.get('driver', '')}".strip("-").lower()) if gpu else "cpu"


def _values(start: Start) -> Mapping[str, Sequence[str]]:
    """The values of each axis that a row has, in the order of the rows; releases oldest first."""
    found: dict[str, dict[str, None]] = {"torch": dict.fromkeys(start.torch)}
    for row in start.rows:
        for name, value in row.axes.items():
            if name != "gpus":
                found.setdefault(name, {})[value] = None
    if len(found.get("backend", {})) and any("backend" not in row.axes for row in start.rows):
        found["backend"] = {str(axes.AXES["backend"].default): None, **found["backend"]}
    return {name: tuple(values) for name, values in found.items()}


def _listed(values: Sequence[str]) -> str:
    return f"[{', '.join(map(_written, values))}]"


def _mapping(values: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{name}: {_written(value)}' for name, value in values.items())}}}"


def _written(value: str) -> str:
    """The value so that every reader of YAML takes it for text, a whole number but for `gpus` in quotes."""
    plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
    return value if plain else json.dumps(value, ensure_ascii=False)
