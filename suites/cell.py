"""The cell: the one combination that a run stands for, read from cell.json or made from what is observed."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Dict, Mapping

from suites.request import DEVICES, PROFILES, Request, UsageError

if TYPE_CHECKING:
    from pathlib import Path

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,126}")
PRECISIONS = ("highest", "high", "medium")
_LIMIT = 1 << 20  # bytes: a cell is a few hundred


class CellError(UsageError):
    """cell.json cannot be used; the text says why."""


@dataclass(frozen=True)
class Cell:
    """What is asked for. `axes` are the requested values by axis name; `id` is empty until it is known."""

    id: str
    axes: Mapping[str, str]
    device: str
    profile: str
    seed: int

    @property
    def backend(self) -> str:
        """The compile backend that the loads go through."""
        return self.axes.get("backend", "eager")

    def document(self) -> Dict[str, Any]:
        """The content of cell.json."""
        return {
            "schema_version": 1,
            "id": self.id,
            "axes": dict(self.axes),
            "device": self.device,
            "profile": self.profile,
            "seed": self.seed,
        }


def requested(request: Request) -> Cell:
    """The cell of the request: its file, else an unnamed one; what the command line says wins. Raises CellError."""
    cell = read(request.cell) if request.cell else Cell(id="", axes={}, device="auto", profile="smoke", seed=0)
    if request.backend:
        cell = replace(cell, axes={**cell.axes, "backend": request.backend})
    return replace(
        cell,
        device=request.device or cell.device,
        profile=request.profile or cell.profile,
        seed=cell.seed if request.seed is None else request.seed,
    )


def read(path: Path) -> Cell:
    """The cell in a file; CellError names the file and the key that is wrong."""
    try:
        with path.open("rb") as file:
            data = json.loads(file.read(_LIMIT).decode("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise CellError(f"{path}: not a cell: {error}") from None
    if not isinstance(data, dict):
        raise CellError(f"{path}: not a cell: an object is needed")
    axes = data.get("axes")
    if not isinstance(axes, dict) or not all(isinstance(value, str) for value in axes.values()):
        raise CellError(f"{path}: `axes` must map names to texts")
    gpus, precision = axes.get("gpus", "1"), axes.get("matmul_precision", "highest")
    _checked(path, "gpus", gpus, gpus.isdecimal() and int(gpus) > 0)
    _checked(path, "matmul_precision", precision, precision in PRECISIONS)
    return Cell(
        id=_checked(path, "id", data.get("id"), isinstance(data.get("id"), str) and bool(_ID.fullmatch(data["id"]))),
        axes=axes,
        device=_checked(path, "device", data.get("device", "auto"), data.get("device", "auto") in DEVICES),
        profile=_checked(path, "profile", data.get("profile", "smoke"), data.get("profile", "smoke") in PROFILES),
        seed=_checked(path, "seed", data.get("seed", 0), type(data.get("seed", 0)) is int and data.get("seed", 0) >= 0),
    )


def _checked(path: Path, key: str, value: Any, good: bool) -> Any:
    if not good:
        raise CellError(f"{path}: `{key}` cannot be {value!r}")
    return value


_NAMED = ("torch", "torch_build", "torch_from", "python", "base", "host_arch", "driver", "gpu", "gpus", "backend")


def named_by(cell: Cell, observed: Mapping[str, str]) -> Cell:
    """The cell with an id and axes made from what is observed, where it has none of its own."""
    if cell.id:
        return cell
    axes = {name: observed[name] for name in _NAMED if observed.get(name)}
    axes["torch"] = re.split(r"[+]", axes.get("torch", "0"))[0]
    axes["python"] = ".".join(axes["python"].split(".")[:2])
    axes.update(cell.axes)
    digest = hashlib.sha256(json.dumps(axes, sort_keys=True).encode()).hexdigest()[:8]
    parts = (f"torch{axes['torch']}", axes.get("torch_build", "none"), f"py{axes['python']}", axes["backend"], digest)
    return replace(cell, id="-".join(re.sub(r"[^A-Za-z0-9.]+", "-", part) for part in parts), axes=axes)
