"""Which production rows a change concerns, and why not the others."""

from collections.abc import Mapping

from orchestrator import axes
from orchestrator.axes import AXES, Where
from orchestrator.model import Axes, Matrix
from orchestrator.planning.place import takes_gpu

_WITH_THE_DISTRIBUTION = frozenset({"torch", "torch_build", "python", "numpy"})
_PLATFORMS: Mapping[str, str] = {"cpu": "no GPU", "cuda": "NVIDIA", "rocm": "AMD", "xpu": "Intel", "ready": "any GPU"}


def applied(change: Axes, cell: Axes, matrix: Matrix) -> tuple[Axes, str]:
    """What of a change a cell takes, and, where that is nothing, why; `cell` holds the defaults too."""
    reasons = {name: _foreign(name, value, cell, matrix) for name, value in change.items()}
    taken = {name: change[name] for name, reason in reasons.items() if not reason}
    return taken, "" if taken else "; ".join(dict.fromkeys(reasons.values()))


def _foreign(name: str, value: str, cell: Axes, matrix: Matrix) -> str:
    """Why a new value of an axis is nothing to a cell; an empty text when it is."""
    if name not in cell:
        return _missing(name, cell)
    if axes.matches(name, value, cell[name]):
        return f"has {name} {cell[name]} already"
    if AXES[name].where is Where.IMAGE and cell.get("torch_from") == "distribution" and name in _WITH_THE_DISTRIBUTION:
        return f"its {name} comes with its distribution, {cell.get('base', 'which the row does not name')}"
    own = axes.platform(cell)
    if name == "torch_build" and axes.platform({name: value}) != own:
        return f"runs the build {cell[name]}: {value} is for another platform"
    if AXES[name].where is Where.HOST and not _is_for(name, value, cell, matrix):
        return f"runs on {_PLATFORMS[own]}: {name} {value} is for other rows"
    return ""


def _missing(name: str, cell: Axes) -> str:
    if AXES[name].where is Where.HOST and not takes_gpu(cell):
        return f"has no {name}: it runs without a GPU"
    if AXES[name].where is Where.IMAGE and "image" in cell:
        return f"is a ready image: its {name} is not chosen here"
    return f"has no {name}"


def _is_for(name: str, value: str, cell: Axes, matrix: Matrix) -> bool:
    """Whether the value of a host axis may be one of this cell's: the matrix tells, where it lists the value.

    Where it does not, rows of one platform are told from those of another by the values that they have now.
    """
    entries = [entry for entry in matrix.axes if entry.axis == name]
    if listing := [entry for entry in entries if value in entry.values]:
        return any(axes.selects(entry.when, cell) for entry in listing)
    return True
