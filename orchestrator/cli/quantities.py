"""Quantities as options take them: `20GB`, `30d`."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import click

_BYTES = {"": 1, "B": 1} | {
    prefix + unit: base ** (power + 1)
    for base, unit in ((1000, "B"), (1024, "iB"))
    for power, prefix in enumerate("KMGT")
}
_NO_UNIT = 1 << 20  # the fewest bytes that a plain number may ask for, beside 0
_SECONDS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def bytes_of(written: str) -> int:
    """Bytes of `20GB`, `512MiB` or a plain number; ValueError for anything else.

    A small number without a unit is refused: who forgets the unit would have nearly everything removed.
    """
    number, unit = _split(written)
    if not unit and 0 < number < _NO_UNIT:
        raise ValueError(f"{written} bytes hold nothing: give a unit, such as 20GB or 512MiB")
    if unit not in _BYTES:
        raise ValueError("it takes bytes, such as 20GB or 512MiB")
    return int(number * _BYTES[unit])


def age_of(written: str) -> timedelta:
    """The time of `30d`, `2w` or `12h`; ValueError for anything else."""
    number, unit = _split(written)
    if unit not in _SECONDS or number * _SECONDS[unit] > timedelta.max.total_seconds() / 2:
        raise ValueError("it takes a time, such as 30d or 12h")
    return timedelta(seconds=number * _SECONDS[unit])


def quantity(parse: Callable[[str], Any]) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    """A callback of click that turns an option's text into its value."""

    def read(_: click.Context, __: click.Parameter, written: str | None) -> Any:
        try:
            return None if written is None else parse(written)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return read


def shown(amount: int) -> str:
    """Bytes as people read them."""
    for unit, one in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if amount >= one:
            return f"{amount / one:.1f} {unit}"
    return f"{amount} B"


def _split(written: str) -> tuple[float, str]:
    found = re.fullmatch(r"(\d{1,12}(?:\.\d{1,3})?) ?([A-Za-z]*)", written, re.ASCII)
    return (float(found[1]), found[2]) if found else (0.0, "?")
