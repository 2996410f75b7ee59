"""Whether an observed version is the one that was asked for."""

from __future__ import annotations

import re


def agrees(wanted: str, observed: str) -> bool:
    """Whether the wanted release is a prefix of the observed one, component by component: 2.6 is 2.6.0+debian.

    Pre-release and local parts count only when they were asked for; other texts agree when they are equal.
    """
    if wanted.lower() == observed.lower():
        return True
    asked = re.fullmatch(r"\d+(?:\.\d+)*", wanted)
    there = re.match(r"\d+(?:\.\d+)*", observed)
    if not asked or not there:
        return False
    short, long = (found.group().split(".") for found in (asked, there))
    return long[: len(short)] == short
