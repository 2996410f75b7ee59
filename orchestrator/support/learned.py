"""A row of facts that was learned, and a file of such rows: the same form as the shipped ones, to be laid over them."""

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from orchestrator import text
from orchestrator.support.facts import Facts
from orchestrator.support.rows import Condition, Conditions, FactsFile, Row, Rule, Source
from orchestrator.vocabulary import Evidence, RuleKind, Verdict

MEASURED = "measured"
METADATA = "metadata"

Mode = Literal["all", "table"]


class Learned(Struct, frozen=True, kw_only=True):
    """A row for the rule of that name and kind.

    `example` are the axes of a question that it answers. What is `one_of` many is no whole list.
    """

    rule: str
    kind: RuleKind
    mode: Mode
    row: Row
    example: Mapping[str, str]
    one_of: bool

    @property
    def needs(self) -> Mapping[str, Condition]:
        """What the row needs, by axis."""
        return self.row.need or {}


def learned(
    rule: str,
    kind: RuleKind,
    mode: Mode,
    example: Mapping[str, str],
    need: Conditions,
    source: str,
    *,
    because: str = "",
    one_of: bool = False,
) -> Learned:
    """A row for a rule: where the example holds, the need does. `one_of`: what is needed is one of many that serve."""
    partial = one_of and mode == "table"
    row = Row(when=_written(example), need=need, partial=partial, because=because, source=source)
    return Learned(rule=rule, kind=kind, mode=mode, row=row, example=example, one_of=one_of)


def _written(example: Mapping[str, str]) -> dict[str, str | tuple[str, ...]]:
    """The condition that an example stands for: a wheel for Linux serves WSL 2 too."""
    return {axis: ("linux", "wsl2") if (axis, value) == ("os", "linux") else value for axis, value in example.items()}


def in_order(architectures: Iterator[str] | Sequence[str]) -> tuple[str, ...]:
    """Machine code before PTX, each by its number; compute_120 is PTX as torch prints it."""
    names = {name.replace("compute_", "ptx_") for name in architectures}
    return tuple(sorted(names, key=lambda name: (name.startswith("ptx"), len(name), name)))


def compiled(build: Mapping[str, str], machine: str, architectures: Sequence[str]) -> Iterator[Learned]:
    """The whole lists of the architectures that a build holds code for, a list a vendor."""
    kind = RuleKind.BINARY_COMPATIBILITY
    if cuda := [name for name in architectures if not name.startswith("gfx")]:
        when = {**build, "host_arch": machine, "gpu_vendor": "nvidia"}
        yield learned("arch-binary", kind, "table", when, {"gpu_arch": tuple(cuda)}, MEASURED)
    if hip := [name for name in architectures if name.startswith("gfx")]:
        yield learned("rocm", kind, "table", build, {"gfx_as": tuple(hip)}, MEASURED)


def pin(axis: str, version: str) -> tuple[str, Verdict] | None:
    """What a pin comes to for somebody who has another version of the package, and the verdict when it is not met."""
    found = re.match(r"(\d+)\.(\d+)", version)
    if found is None:
        return None
    major, minor = int(found[1]), int(found[2])
    if axis == "triton":
        return f"{major}.{minor}", Verdict.DEGRADED
    return f">={major}.{minor},<{major + 1}", Verdict.UNKNOWN


def pinned(build: Mapping[str, str], axis: str, needed: str, otherwise: Verdict) -> Learned:
    """That a build asks for a version of a package, and what it is when another is there."""
    because = f"torch {{torch}} {{torch_build}} asks for {axis} {{allowed}}, here is {{{axis}}}"
    when = {**_written(build), axis: ">=0"}  # a package that is not there is no matter
    return Learned(
        rule="companion-pin",
        kind=RuleKind.PIN,
        mode="all",
        row=Row(when=when, need={axis: needed}, otherwise=otherwise, because=because, source=METADATA),
        example={**build, axis: re.sub(r"[<>=]|,.*", "", needed)},
        one_of=True,
    )


def overlay(learned: Sequence[Learned], facts: Facts, name: str, day: dt.date) -> FactsFile:
    """The rows as a file that can be laid over the facts; `name` is what was looked at."""
    headers = {(rule.name, rule.kind, rule.mode): rule for rule in reversed(facts.file.rules)}
    rules: dict[tuple[str, RuleKind, Mode], list[Row]] = {}
    for one in learned:
        if (one.rule, one.kind, one.mode) in headers:
            rules.setdefault((one.rule, one.kind, one.mode), []).append(one.row)
    used = {row.source for rows in rules.values() for row in rows}
    evidence = {MEASURED: Evidence.MEASURED, METADATA: Evidence.METADATA}
    return FactsFile(
        sources={
            key: Source(text=f"{key}: {text.one_line(name, 160)}", evidence=each, as_of=day.isoformat())
            for key, each in evidence.items()
            if key in used
        },
        rules=tuple(_rule(headers[key], rows) for key, rows in rules.items()),
    )


def _rule(header: Rule, rows: Sequence[Row]) -> Rule:
    return Rule(
        name=header.name,
        kind=header.kind,
        rank=header.rank,
        mode=header.mode,
        yes=header.yes,
        no=header.no,
        rows=tuple(rows),
    )
