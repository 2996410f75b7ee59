"""The command line: what the caller asks for."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, Optional, Sequence, Tuple

from suites import devices

DEVICES = ("auto", *devices.NAMES)
PROFILES = ("smoke", "standard", "deep")
DEFAULTS: Dict[str, Tuple[int, int]] = {"smoke": (256, 8), "standard": (2048, 50), "deep": (4096, 100)}
"""Size and timed steps of each profile."""


class UsageError(ValueError):
    """What was asked for cannot be, or makes no sense; the text says why."""


@dataclass(frozen=True)
class Request:
    """The options as they were given; None where the cell or the profile decides."""

    device: Optional[str]
    size: Optional[int]
    steps: Optional[int]
    backend: Optional[str]
    profile: Optional[str]
    cell: Optional[Path]
    out: Optional[Path]
    seed: Optional[int]
    loads: Tuple[str, ...] = ()
    listing: bool = False
    checkpoint: Optional[Path] = None
    save_checkpoint: Optional[Path] = None


def parse(argv: Sequence[str]) -> Request:
    """The request; SystemExit(2) with a line on stderr when the options make no sense."""
    parser = argparse.ArgumentParser(
        prog="python -m suites", description="Run the PyTorch smoke suite on this machine."
    )
    parser.add_argument("--device", choices=DEVICES, help="where to run (default: the best device that is there)")
    parser.add_argument("--size", type=_count(16), metavar="N", help="edge length of the problems")
    parser.add_argument(
        "--steps", type=_count(1), metavar="N", help="timed repetitions of each load, fewer of a slow one"
    )
    parser.add_argument("--compile", action="store_true", help="run the loads through torch.compile")
    parser.add_argument(
        "--backend", type=_name, metavar="NAME", help="eager, inductor, openvino, ... (implies --compile)"
    )
    parser.add_argument("--profile", choices=PROFILES, help="how much to run (default: smoke)")
    parser.add_argument("--cell", type=Path, metavar="FILE", help="cell.json: the combination this run stands for")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where the bundle goes, made if missing")
    parser.add_argument("--seed", type=_count(0), metavar="N", help="seed of all random inputs")
    parser.add_argument("--load", action="append", default=[], metavar="GLOB", help="only these: matmul, *.square")
    parser.add_argument("--list", action="store_true", help="print the cases of the profile, and run nothing")
    parser.add_argument("--checkpoint", type=Path, metavar="FILE", help="what another cell saved, loaded here too")
    parser.add_argument("--save-checkpoint", type=Path, metavar="FILE", help="where to leave this cell's own")
    given = parser.parse_args(argv)
    if given.compile and given.backend == "eager":
        parser.error("--compile and --backend eager contradict each other")
    return Request(
        device=given.device,
        size=given.size,
        steps=given.steps,
        backend=given.backend or ("inductor" if given.compile else None),
        profile=given.profile,
        cell=given.cell,
        out=given.out,
        seed=given.seed,
        loads=tuple(given.load),
        listing=given.list,
        checkpoint=given.checkpoint,
        save_checkpoint=given.save_checkpoint,
    )


def _count(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"`{text}` is not a whole number") from None
        if value < least:
            raise argparse.ArgumentTypeError(f"{value} is below {least}")
        return value

    return number


def _name(text: str) -> str:
    if not text.replace("_", "").replace("-", "").isalnum():
        raise argparse.ArgumentTypeError(f"`{text}` is not the name of a backend")
    return text
