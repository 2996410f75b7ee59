"""What was learned beside what was believed: the rows that already speak of the same, and whether they say the same."""

import fnmatch
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from orchestrator.support import conditions, spans
from orchestrator.support.axes import is_version
from orchestrator.support.check import Support
from orchestrator.support.facts import Facts
from orchestrator.support.learned import Learned
from orchestrator.support.rows import Condition
from orchestrator.support.table import Table


class Difference(Struct, frozen=True, kw_only=True):
    """One thing that was learned. `believed` and `source` are empty where nothing was."""

    axis: str
    rule: str
    state: Literal["same", "new", "differs"]
    learned: str
    believed: str
    source: str


def differences(learned: Sequence[Learned], facts: Facts) -> tuple[Difference, ...]:
    """Each row that was learned beside those of its rule that a question with the same axes would meet."""
    support = Support(facts)
    return tuple(_difference(one, facts, support) for one in learned)


def _difference(one: Learned, facts: Facts, support: Support) -> Difference:
    question = support.question(one.example)
    rows = [row for table in facts.tables if _is_of(table, one) for row in table.possible(question)]
    believed = [(row, row.need[one.axis]) for row in rows if row.need and one.axis in row.need]
    assert one.row.need is not None
    need = one.row.need[one.axis]
    same = [each for each in believed if _agree(one, need, each[1])]
    shown = (same or believed)[:1]
    return Difference(
        axis=one.axis,
        rule=one.rule,
        state="same" if same else "differs" if believed else "new",
        learned=told(need),
        believed="; ".join(told(condition) for _, condition in shown),
        source="; ".join(facts.source(row)[0] for row, _ in shown),
    )


def _is_of(table: Table, one: Learned) -> bool:
    return (table.rule.name, table.rule.kind, table.rule.mode) == (one.rule, one.kind, one.mode)


def _agree(one: Learned, learned: Condition, believed: Condition) -> bool:
    """Whether the two say the same; of one that is one of many, that it is among them."""
    return _covers(one.axis, believed, learned) and (one.one_of or _covers(one.axis, learned, believed))


def _covers(axis: str, outer: Condition, inner: Condition) -> bool:
    """Whether every value that fits the inner condition fits the outer one."""
    if not is_version(axis):
        globs = conditions.alternatives(outer)
        return all(any(fnmatch.fnmatchcase(word, glob) for glob in globs) for word in conditions.alternatives(inner))
    wanted, allowed = conditions.read(axis, inner).spans, conditions.read(axis, outer).spans
    return all(spans.within(each, allowed.get(tag, ())) for tag, each in wanted.items() if each)


def told(condition: Condition) -> str:
    """A condition as a reader sees it."""
    return " ".join(conditions.alternatives(condition))
