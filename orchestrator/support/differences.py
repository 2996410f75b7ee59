"""What was learned beside what was believed: the rows that already speak of the same, and whether they say the same."""

import fnmatch
from collections.abc import Iterator, Sequence

from orchestrator.model import Difference
from orchestrator.support import conditions, spans
from orchestrator.support.axes import is_version
from orchestrator.support.check import Support
from orchestrator.support.facts import Facts
from orchestrator.support.learned import Learned
from orchestrator.support.rows import Condition
from orchestrator.support.table import Table


def differences(learned: Sequence[Learned], facts: Facts) -> tuple[Difference, ...]:
    """Each row that was learned beside those of its rule that a question with the same axes would meet."""
    support = Support(facts)
    return tuple(difference for one in learned for difference in _differences(one, facts, support))


def _differences(one: Learned, facts: Facts, support: Support) -> Iterator[Difference]:
    question = support.question(one.example)
    rows = [row for table in facts.tables if _is_of(table, one) for row in table.possible(question)]
    for axis, need in one.needs.items():
        believed = [(row, row.need[axis]) for row in rows if row.need and axis in row.need]
        same = [each for each in believed if _agree(axis, need, each[1], one_of=one.one_of)]
        shown = (same or believed)[:1]
        yield Difference(
            axis=axis,
            rule=one.rule,
            state="same" if same else "differs" if believed else "new",
            learned=told(need),
            believed="; ".join(told(condition) for _, condition in shown),
            source="; ".join(facts.source(row)[0] for row, _ in shown),
        )


def _is_of(table: Table, one: Learned) -> bool:
    return (table.rule.name, table.rule.kind, table.rule.mode) == (one.rule, one.kind, one.mode)


def _agree(axis: str, learned: Condition, believed: Condition, *, one_of: bool) -> bool:
    """Whether the two say the same; of one that is one of many, that it is among them."""
    return _covers(axis, believed, learned) and (one_of or _covers(axis, learned, believed))


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
