"""From the name of an accelerator, as people or torch print it, to what it is."""

import re
from collections.abc import Sequence

from orchestrator.support.rows import Device

_COUNT = re.compile(r"^\s*(\d{1,3})\s*(?:x|\N{MULTIPLICATION SIGN}|\*)\s*", re.IGNORECASE)
_SLICE = re.compile(r"\s+MIG\s+(\S+)\s*$", re.IGNORECASE)
_LONGEST = 120


class Devices:
    """The known accelerators; `find` takes the first whose pattern is in the name."""

    def __init__(self, devices: Sequence[Device]) -> None:
        self._devices = devices
        self._patterns: list[tuple[re.Pattern[str], Device]] = []
        self._found: dict[str, Device | None] = {}

    def find(self, name: str) -> Device | None:
        """The device of a name without count and slice, or None."""
        plain = " ".join(name.split())[:_LONGEST]
        if plain not in self._found:
            if len(self._found) > 4096:  # noqa: PLR2004 - names come from outside
                self._found.clear()
            self._found[plain] = self._search(plain)
        return self._found[plain]

    def _search(self, name: str) -> Device | None:
        if not self._patterns:
            self._patterns = [
                (re.compile(pattern, re.IGNORECASE), device) for device in self._devices for pattern in device.patterns
            ]
        return next((device for pattern, device in self._patterns if pattern.search(name)), None)


def count_in(name: str) -> tuple[str, str]:
    """`8x H100` as (`8`, `H100`); the count is empty when none is written."""
    found = _COUNT.match(name)
    return (found[1], name[found.end() :]) if found else ("", name)


def slice_in(name: str) -> tuple[str, str]:
    """`NVIDIA H100 80GB HBM3 MIG 1g.10gb` as the parent's name and the profile, which may be empty."""
    found = _SLICE.search(name)
    return (name[: found.start()], found[1]) if found else (name, "")
