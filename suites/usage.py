"""Usage: what the command line says and no case would heed, or no case could, is an error before anything runs."""

from __future__ import annotations

import difflib
import os
import tempfile
from typing import TYPE_CHECKING, Optional, Sequence

from suites import cases
from suites.request import PROFILES, Request, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from suites.cell import Cell

LOADING, SAVING = "checkpoint.of_another_cell", "checkpoint.round_trip"
"""The cases that heed --checkpoint and --save-checkpoint."""


def hold_loads(there: cases.Cases, profile: str, compiled: bool, globs: Sequence[str]) -> None:
    """UsageError where a load is named that is none, or of which a profile runs nothing."""
    for glob in globs:
        named = [least for name, least in there.items() if cases.fits(name, [glob])]
        if not named:
            loads = sorted({cases.short(name).partition(".")[0] for name in there})
            names = [*loads, *{cases.short(name).partition("[")[0] for name in there}]
            raise UsageError(
                f"no load is named {glob}{_meant(glob, names)}: there are {', '.join(loads)}; --list prints each case"
            )
        if not any(cases.runs_in(least, profile, compiled) for least in named):
            least = min((pair[compiled] for pair in named), key=PROFILES.index)
            raise UsageError(f"--load {glob} chooses nothing in {_runs(profile, compiled)}: add --profile {least}")


def hold_checkpoints(there: cases.Cases, cell: Cell, request: Request) -> None:
    """UsageError where a checkpoint is asked for that no chosen case would load or save, or that none could."""
    for option, path, case in (
        ("--checkpoint", request.checkpoint, LOADING),
        ("--save-checkpoint", request.save_checkpoint, SAVING),
    ):
        if path is not None:
            _hold_chosen(there, cell, request, option, case)
    if request.checkpoint is not None and not (request.checkpoint.is_file() and os.access(request.checkpoint, os.R_OK)):
        raise UsageError(f"--checkpoint {request.checkpoint}: no file that can be read")
    if request.save_checkpoint is not None:
        _hold_place(request.save_checkpoint)
        if request.checkpoint is not None and request.checkpoint.resolve() == request.save_checkpoint.resolve():
            raise UsageError(
                f"--checkpoint and --save-checkpoint both name {request.checkpoint}: it would be written over before it"
                " is loaded; save to another file"
            )


def hold_backend(name: Optional[str]) -> None:
    """UsageError where the name of a backend is nearly that of one that torch or the suite knows.

    A name that resembles none may be a vendor's backend that is not installed, which cannot be told from a wrong name:
    the run itself says what this torch knows. So it does of a torch that is missing, or broken.
    """
    if name is None or name == "eager":
        return
    try:
        from suites import backends

        known = backends.known()
    except Exception:  # noqa: BLE001 - a broken installation raises anything
        return
    if name and name not in known and _meant(name, known):
        raise UsageError(
            f"--backend {name}: there is no such backend{_meant(name, known)}: known are {', '.join(known)}"
        )


def _hold_chosen(there: cases.Cases, cell: Cell, request: Request, option: str, case: str) -> None:
    least = next((pair for name, pair in there.items() if cases.short(name) == case), None)
    if least is None:
        return
    compiled = cell.backend != "eager"
    if not cases.runs_in(least, cell.profile, compiled):
        raise UsageError(
            f"{option} would be ignored, {_runs(cell.profile, compiled)} has no {case}: add --profile {least[compiled]}"
        )
    if not any(cases.short(name) == case for name in cases.chosen(there, cell.profile, compiled, request.loads)):
        loads = " ".join(f"--load {glob}" for glob in request.loads)
        raise UsageError(f"{option} would be ignored, {loads} leaves out {case}: add --load checkpoint")


def _hold_place(path: Path) -> None:
    if not path.parent.is_dir():
        raise UsageError(f"--save-checkpoint {path}: there is no folder {path.parent}")
    if path.exists() and not path.is_file():
        raise UsageError(f"--save-checkpoint {path}: it is no file")
    try:
        with tempfile.TemporaryFile(dir=path.parent):  # rights alone tell root nothing, nor of a full disk
            pass
    except OSError as error:
        raise UsageError(f"--save-checkpoint {path}: nothing can be written to {path.parent}: {error}") from None


def _runs(profile: str, compiled: bool) -> str:
    return f"profile {profile}" + (" through a compile backend" if compiled else "")


def _meant(name: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, names, cutoff=0.8)
    return f" (did you mean {' or '.join(near)}?)" if near else ""
