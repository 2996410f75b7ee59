"""Marketing names of devices -> the one word that the axis `gpu` takes."""

from __future__ import annotations

import re

_KNOWN = (
    (r"RTX PRO (\d{4})", r"RTXPRO\1"),
    (r"RTX (\d{4}) Ada", r"RTX\1Ada"),
    (r"RTX (\d{4}) (Ti|SUPER)\b", r"RTX\1\2"),
    (r"RTX (\d{4})\b", r"RTX\1"),
    (r"RX (\d{4}) (XTX|XT)\b", r"RX\1\2"),
    (r"\bMax (\d{4})\b", r"Max\1"),
    (r"\b(MI\d{3}[AX]?|G[BH]\d{2,3}|[ABHLPTVW]\d{1,4}[GS]?)\b", r"\1"),
)
"""The orchestrator finds a host's GPUs by these: of another word here, a cell of such a GPU would be of another one."""
_PREFIXED = ("GTX", "Flex", "Quadro", "Titan")


def short(name: str) -> str:
    """`NVIDIA H100 80GB HBM3` -> `H100`, `NVIDIA GeForce RTX 4090` -> `RTX4090`; the whole name where no word fits."""
    for pattern, word in _KNOWN:
        known = re.search(pattern, name, re.IGNORECASE | re.ASCII)
        if known:
            return known.expand(word)
    words = [word for word in re.split(r"[\s_-]+", re.sub(r"\((R|TM|C)\)", "", name)) if word]
    for before, word in zip(["", *words], words):  # noqa: B905 - the last word has no successor
        if not any(char.isdigit() for char in word) or re.fullmatch(r"\d+GB", word):
            continue
        return before + word if before in _PREFIXED else word
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "unknown"


def partition(name: str) -> str:
    """The MIG profile in a device's name, with what a compute instance has of it (`1c.4g.48gb`), else `whole`."""
    found = re.search(r"MIG ((?:\d+c\.)?\d+g\.\d+gb)", name)
    return found.group(1) if found else "whole"
