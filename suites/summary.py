"""The table at the end: what needs a look first, then each case with its key figures, out of the rows of metrics."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Sequence, Tuple

from suites.cases import short

if TYPE_CHECKING:
    from suites.junit import Case

WIDTH = 120  # characters
REMARKS = {
    "data error": "with a data error",
    "unmeasurable": "with an unmeasurable figure",
    "not deterministic": "not deterministic",
    "graph break": "with a graph break",
    "backend refused": "with something refused",
    "slow rank: ": "with a slow rank",
    "slow link: ": "with a slow link",
}
"""What a note may say that needs a look though the case passed -> how the cases of which it is said are counted."""
COLUMNS = {
    "ms": "of a step",
    "rate": "of its operations, or of the bytes that it moves",
    "roof": "share of the attainable rate",
    "MFU": "share of the peak",
    "MiB": "allocated at most",
    "compile": "with an empty cache, or as said",
    "breaks": "of the graph",
    "error": "against fp64, in units of plain PyTorch's, or of rounding",
}
_OUTCOME = 7  # characters
_ORDER = ("error", "failed", "remark", "passed", "skipped")


Line = Tuple[str, str, str]
"""Load, shapes and precision."""


@dataclass
class Figures:
    """What is said of a case: notes, and by line the text of each column and why others are empty."""

    notes: List[str] = field(default_factory=list)
    lines: Dict[Line, Dict[str, str]] = field(default_factory=dict)
    remarks: Dict[Line, List[str]] = field(default_factory=dict)

    def add(self, row: Mapping[str, Any]) -> None:
        """Take in a metric row, where it is one of those that are shown. Two figures of one column: the first stays."""
        key = (row["load"], row["shapes"], row["precision"])
        if any(remark in row["why"] for remark in REMARKS):
            self.lines.setdefault(key, {})
            said = self.remarks.setdefault(key, [])
            if not any(row["why"] in remark for remark in said):
                said.append(f"{row['metric']} {row['why']}")
        if row["metric"] not in _SHOWN or row["scope"]:  # an operator's error is not the load's
            return
        column, text = _SHOWN[row["metric"]]
        if row["value"] is not None:
            self.lines.setdefault(key, {}).setdefault(column, text(row["value"], row["unit"]))

    def told(self) -> List[str]:
        """All notes and remarks."""
        return [*self.notes, *(one for said in self.remarks.values() for one in said)]


def table(cases: Sequence[Case], figures: Mapping[str, Figures]) -> str:
    """Lines of plain text. `figures` are by case name; those of the empty name are of the whole process."""
    rows = [
        row
        for case in sorted(cases, key=lambda case: _ORDER.index(_rank(case, figures)))
        for row in _rows(case, figures)
    ]
    columns = [name for name in COLUMNS if any(name in cells for _, _, cells, _ in rows)]
    widths = {name: max(len(name), *(len(cells.get(name, "")) for _, _, cells, _ in rows)) for name in columns}
    wide = max((len(name) for name, _, _, _ in rows), default=4)
    head = [f"{'case':<{wide}}", f"{'outcome':<{_OUTCOME}}", *(f"{name:>{widths[name]}}" for name in columns)]
    lines = ["", "  ".join(head).rstrip()]
    before = ""
    for name, outcome, cells, told in rows:
        text, before = ("as above" if told and told == before else told), told
        begin = f"{name:<{wide}}  {outcome:<{_OUTCOME}}"
        numbers = [f"{cells.get(column, ''):>{widths[column]}}" for column in columns] if cells else []
        lines += _wrapped("  ".join([begin, *numbers]).rstrip(), text, len(begin) + 2, on_its_own=bool(cells))
    legend = "; ".join(f"{name}: {COLUMNS[name]}" for name in columns)
    lines += textwrap.wrap(legend, WIDTH)
    return "\n".join([*lines, _total(cases, figures)])


def _rows(case: Case, figures: Mapping[str, Figures]) -> List[Tuple[str, str, Dict[str, str], str]]:
    """Name, outcome, columns and text of each line of a case: one more for each size, where there are several."""
    found = figures.get(case.name, Figures())
    if case.message:
        return [(short(case.name), case.outcome, {}, case.message)]
    if len(found.lines) < 2:
        return [(short(case.name), case.outcome, next(iter(found.lines.values()), {}), ", ".join(found.told()))]
    sizes = [(f"  {key[1]}", "", cells, ", ".join(found.remarks.get(key, ()))) for key, cells in found.lines.items()]
    return [(short(case.name), case.outcome, {}, ", ".join(found.notes)), *sizes]


def _wrapped(line: str, text: str, at: int, *, on_its_own: bool) -> List[str]:
    """The line and its text, beside it where there is room, else under it from a column on."""
    if len(line) + 2 + len(text) <= WIDTH or not text:
        return [f"{line:<{at - 2}}  {text}".rstrip()]
    parts = [f"{'':<{at}}{part}" for part in textwrap.wrap(text, max(20, WIDTH - at))]
    return [line, *parts] if on_its_own else [f"{line:<{at}}{parts[0].strip()}", *parts[1:]]


def _total(cases: Sequence[Case], figures: Mapping[str, Figures]) -> str:
    kinds = ("passed", "failed", "error", "skipped")
    count = {kind: sum(case.outcome == kind for case in cases) for kind in kinds}
    total = ", ".join(f"{number} {kind}" for kind, number in count.items() if number) or "no case ran"
    looked = {
        told: sum(any(text in note for note in figures.get(case.name, Figures()).told()) for case in cases)
        for text, told in REMARKS.items()
    }
    remarks = ", ".join(f"{number} {told}" for told, number in looked.items() if number)
    memory = [cells["MiB"] for cells in figures.get("", Figures()).lines.values() if "MiB" in cells]
    return "; ".join(filter(None, [total, remarks, *(f"the process held {one} MiB at most" for one in memory)]))


def _rank(case: Case, figures: Mapping[str, Figures]) -> str:
    if case.outcome != "passed":
        return case.outcome
    told = figures.get(case.name, Figures()).told()
    return "remark" if any(text in note for note in told for text in REMARKS) else "passed"


def _three(value: float) -> str:
    """Three digits at the least, and no exponent for what is large."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


_SHOWN: Dict[str, Tuple[str, Callable[[float, str], str]]] = {
    "latency": ("ms", lambda value, _: _three(value)),
    "tflops": ("rate", lambda value, unit: f"{_three(value)} {unit}"),
    "gbps": ("rate", lambda value, unit: f"{_three(value)} {unit}"),
    "busbw": ("rate", lambda value, unit: f"{_three(value)} {unit} bus"),
    "roofline": ("roof", lambda value, _: f"{_three(100 * value)}%"),
    "mfu": ("MFU", lambda value, _: f"{_three(100 * value)}%"),
    "memory_peak": ("MiB", lambda value, _: _three(value / 2**20)),
    "compile_cold": ("compile", lambda value, unit: f"{_three(value)} {unit}"),
    "compile_cached": ("compile", lambda value, unit: f"{_three(value)} {unit}, cached"),
    "graph_breaks": ("breaks", lambda value, _: _three(value)),
    "error_ratio": ("error", lambda value, _: _three(value)),
}
"""Metric -> its column, and its text there."""
