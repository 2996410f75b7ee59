"""What a fuzzing target is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from orchestrator.errors import TorchmatrixError

DATA = Path(__file__).resolve().parent.parent / "data"

Check = Callable[[bytes], bool]


class Target(Struct, frozen=True):
    """One parser: `check` is given each input, in a process that may write to the folder that `make` was given."""

    name: str
    seeds: tuple[bytes, ...]
    check: Check


def ours(parse: Callable[[], Any]) -> bool:
    """Whether it was taken; refused with an error of ours is the other answer, and there is no third."""
    try:
        parse()
    except TorchmatrixError as error:
        told = str(error)
    else:
        return True
    assert told, "a refusal that says nothing"
    return False
