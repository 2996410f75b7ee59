"""The table at the end of a run: what needs a look first, then each case with its key figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Sequence

from suites.cases import short

if TYPE_CHECKING:
    from suites.junit import Case

REMARKS = {
    "unmeasurable": "a figure unmeasurable",
    "not deterministic": "not deterministic",
    " slowly: ": "a slow rank",
}
"""What a figure's text may say that needs a look though the case passed -> how it is counted."""
_ORDER = ("error", "failed", "remark", "passed", "skipped")


def table(cases: Sequence[Case], figures: Dict[str, List[str]]) -> str:
    """Lines of plain text. `figures` are by case name."""
    width = max((len(short(case.name)) for case in cases), default=4)
    lines = ["", f"{'case':<{width}}  outcome  figures"]
    for case in sorted(cases, key=lambda case: _ORDER.index(_rank(case, figures))):
        told = case.message or ", ".join(figures.get(case.name, ()))
        lines.append(f"{short(case.name):<{width}}  {case.outcome:<7}  {told}".rstrip())
    kinds = ("passed", "failed", "error", "skipped")
    count = {kind: sum(case.outcome == kind for case in cases) for kind in kinds}
    total = [f"{number} {kind}" for kind, number in count.items() if number]
    for text, told in REMARKS.items():
        number = sum(any(text in figure for figure in figures.get(case.name, ())) for case in cases)
        total += [f"{number} {told}"] if number else []
    lines.append(", ".join(total) or "no case ran")
    return "\n".join(lines)


def _rank(case: Case, figures: Dict[str, List[str]]) -> str:
    if case.outcome != "passed":
        return case.outcome
    told = figures.get(case.name, ())
    return "remark" if any(text in figure for figure in told for text in REMARKS) else "passed"
