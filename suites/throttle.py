"""Why a device's clock is not the highest, in words of ours, and which of these reasons spoil a figure.

A power cap is what a device under load runs at: its figures are those that everyone gets. What hardware does to save
itself (heat, a power brake) comes and goes, and a figure taken meanwhile is of that moment only.
"""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence

POWER_CAP = "software power cap"
HARMLESS = frozenset(
    {
        POWER_CAP,
        "application clocks",
        "sync boost",
        "display clocks",
        "package power limit",
        "power limit PL1",
        "power limit PL2",
        "power limit PL4",
    }
)
"""Everything else is harmful, also a reason that is not known here."""


def harmful(reasons: Optional[Sequence[str]]) -> List[str]:
    """Those that spoil a figure."""
    return [reason for reason in reasons or () if reason not in HARMLESS]


def grown(seen: Sequence[Mapping[str, Any]]) -> Optional[List[str]]:
    """Reasons whose counter grew over these conditions, also where no reading fell into it; None: none is counted."""
    counts = [one["throttled"] for one in seen if one.get("throttled") is not None]
    if not counts:
        return None
    first, last = counts[0], counts[-1]
    return sorted(reason for reason, count in last.items() if count > first.get(reason, count))
