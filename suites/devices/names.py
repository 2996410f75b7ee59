"""Marketing names of devices -> the one word that the axis `gpu` takes."""

from __future__ import annotations

import re

_PREFIXED = ("RTX", "GTX", "Max", "Flex", "Quadro", "Titan")


def short(name: str) -> str:
    """`NVIDIA H100 80GB HBM3` -> `H100`, `NVIDIA GeForce RTX 4090` -> `RTX4090`; the whole name where no word fits."""
    words = [word for word in re.split(r"[\s_-]+", re.sub(r"\((R|TM|C)\)", "", name)) if word]
    for before, word in zip(["", *words], words):  # noqa: B905 - the last word has no successor
        if not any(char.isdigit() for char in word) or re.fullmatch(r"\d+GB", word):
            continue
        return before + word if before in _PREFIXED else word
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "unknown"


def partition(name: str) -> str:
    """The MIG profile in a device's name, else `whole`."""
    found = re.search(r"MIG (\d+g\.\d+gb)", name)
    return found.group(1) if found else "whole"
