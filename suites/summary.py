"""The table at the end of a run: each case, what it did, its key figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Sequence

if TYPE_CHECKING:
    from suites.junit import Case


def table(cases: Sequence[Case], figures: Dict[str, List[str]]) -> str:
    """Lines of plain text. `figures` are by case name."""
    width = max((len(case.name) for case in cases), default=4)
    lines = ["", f"{'case':<{width}}  outcome  figures"]
    for case in cases:
        told = case.message or ", ".join(figures.get(case.name, ()))
        lines.append(f"{case.name:<{width}}  {case.outcome:<7}  {told}".rstrip())
    kinds = ("passed", "failed", "error", "skipped")
    count = {kind: sum(case.outcome == kind for case in cases) for kind in kinds}
    lines.append(", ".join(f"{number} {kind}" for kind, number in count.items() if number) or "no case ran")
    return "\n".join(lines)
