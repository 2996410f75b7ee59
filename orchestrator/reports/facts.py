"""The facts as plain text: the rules with their age, single rows, and what was learned beside what was believed."""

from collections.abc import Sequence

from msgspec import Struct

from orchestrator import text
from orchestrator.model import Difference
from orchestrator.reports.columns import Column, Line, table, wrap

_COLOURS = {"same": "2", "new": "32", "differs": "1;33"}


class RuleAge(Struct, frozen=True, kw_only=True):
    """A rule: how many rows it has, the oldest day that one is as of, and how many days ago that is."""

    rule: str
    kind: str
    rows: int
    oldest: str
    age: int | None
    old: bool


class Fact(Struct, frozen=True, kw_only=True):
    """One row of a rule: where it holds, what it says there, and how it is known."""

    rule: str
    when: str
    says: str
    source: str
    evidence: str
    as_of: str


def rules(ages: Sequence[RuleAge], *, width: int, colour: bool) -> str:
    """A line a rule, the oldest first."""
    columns = [Column(name=name) for name in ("age", "rows", "rule", "kind", "oldest as of")]
    lines = [
        Line(
            values=(
                _days(age.age, old=age.old),
                str(age.rows),
                text.one_line(age.rule, 60),
                age.kind,
                text.one_line(age.oldest, 20) or "not said",
            ),
            colour="33" if colour and age.old else "",
        )
        for age in ages
    ]
    total = f"{text.counting(sum(age.rows for age in ages), 'row')} in {text.counting(len(ages), 'rule')}"
    return "\n".join([total, "", *table(columns, lines, width)] if lines else [total])


def _days(age: int | None, *, old: bool = False) -> str:
    return "unknown" if age is None else text.counting(age, "day") + (", old" if old else "")


def facts(rows: Sequence[Fact], *, width: int) -> str:
    """A line a row, with its source below it."""
    columns = [Column(name=name) for name in ("rule", "when", "says")]
    lines = [
        Line(
            values=(text.one_line(row.rule, 60), text.one_line(row.when) or "always", text.one_line(row.says)),
            below=(f"{row.evidence}, {text.one_line(row.as_of, 20) or 'no day'}: {text.one_line(row.source)}",),
        )
        for row in rows
    ]
    return "\n".join([text.counting(len(rows), "row"), "", *table(columns, lines, width)] if lines else ["0 rows"])


def compared(name: str, found: Sequence[Difference], *, width: int, colour: bool) -> str:
    """What was learned of a wheel or an image: how much of it is news, then a line an axis."""
    counts = {state: sum(1 for one in found if one.state == state) for state in _COLOURS}
    told = ", ".join(f"{count} {state}" for state, count in counts.items() if count) or "nothing was learned"
    columns = [Column(name=name) for name in ("beside", "axis", "learned", "believed", "rule")]
    lines = [
        Line(
            values=(
                one.state,
                text.one_line(one.axis, 40),
                text.one_line(one.learned, 120),
                text.one_line(one.believed, 120) or "nothing",
                text.one_line(one.rule, 60),
            ),
            below=(f"believed from: {text.one_line(one.source)}",) if one.state == "differs" else (),
            colour=_COLOURS[one.state] if colour else "",
        )
        for one in found
    ]
    head = wrap(f"learned of {text.one_line(name, 160)}: {told}", width)
    return "\n".join([*head, "", *table(columns, lines, width)] if lines else head)
