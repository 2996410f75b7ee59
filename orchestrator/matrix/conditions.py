"""Conditions on axes: axis -> glob, alternatives with `|`, or version range."""

import re

from orchestrator import axes, text
from orchestrator.matrix.forms import TEXT_SCHEMA, Form, mapping, scalar
from orchestrator.matrix.problems import Problems
from orchestrator.matrix.tree import Node
from orchestrator.model import Axes

_PATTERN = re.compile(r"[A-Za-z0-9.*?\[\]|<>=!~, _+:/@-]{1,200}", re.ASCII)
_RANGE_STARTS = "<>=!~"


def cell_axis(name: str) -> str:
    """The name of an axis that cells set; ValueError otherwise."""
    if name not in axes.AXES:
        near = axes.suggestion(name, axes.AXES)
        raise ValueError(f"no axis is named `{text.shown(name)}`" + (f", {near}" if near else ""))
    if axes.AXES[name].where is axes.Where.ASKED:
        raise ValueError(f"`{name}` is an axis that no cell sets: only `torchmatrix check` reads it")
    return name


def _pattern(written: str) -> str:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    if not _PATTERN.fullmatch(written):
        raise ValueError("it takes a glob such as cu*, alternatives with |, or a version range such as >=2.14")
    for part in written.split("|"):
        if part.strip()[:1] in _RANGE_STARTS:
            try:
                SpecifierSet(part.strip())
            except InvalidSpecifier:
                raise ValueError(f"`{part.strip()}` is not a version range such as >=2.14,<3") from None
    return written


_ENTRIES = mapping(cell_axis, scalar(_pattern, TEXT_SCHEMA))


def _read(node: Node, name: str, problems: Problems) -> Axes | None:
    before = len(problems)
    entries = _ENTRIES.read(node, name, problems)
    if entries is None or len(problems) > before:
        return None
    if not entries:
        problems.add(node.place, f"`{name}` is empty: it would hold for every cell")
        return None
    return {key.value: pattern for key, pattern in entries}


CONDITION: Form[Axes] = Form(
    read=_read,
    schema={
        "type": "object",
        "properties": {
            name: {**TEXT_SCHEMA, "description": f"glob or version range of `{name}`"}
            for name, axis in axes.AXES.items()
            if axis.where is not axes.Where.ASKED
        },
        "additionalProperties": False,
        "minProperties": 1,
    },
)
