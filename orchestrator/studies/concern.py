"""Which production rows a change concerns, and why not the others."""

from orchestrator import axes
from orchestrator.axes import AXES, Where
from orchestrator.model import Axes, Matrix
from orchestrator.planning.place import takes_gpu
from orchestrator.studies.ladder import WITH_THE_DISTRIBUTION
from orchestrator.support.axes import vendor_of_build
from orchestrator.support.facts import Facts


def applied(change: Axes, cell: Axes, matrix: Matrix, facts: Facts) -> tuple[Axes, str]:
    """What of a change a cell takes, and, where that is nothing, why; `cell` holds the defaults too."""
    reasons = {name: _foreign(name, value, cell, matrix, facts) for name, value in change.items()}
    taken = {name: change[name] for name, reason in reasons.items() if not reason}
    return taken, "" if taken else "; ".join(dict.fromkeys(reasons.values()))


def _foreign(name: str, value: str, cell: Axes, matrix: Matrix, facts: Facts) -> str:
    """Why a new value of an axis is nothing to a cell; an empty text when it is."""
    if name not in cell:
        return _missing(name, cell)
    if axes.matches(name, value, cell[name]):
        return f"has {name} {cell[name]} already"
    if cell.get("torch_from") == "distribution" and name in WITH_THE_DISTRIBUTION:
        return f"its {name} comes with its distribution, {cell['base']}"
    if name == "torch_build" and axes.platform({name: value}) != axes.platform(cell):
        return f"runs the build {cell[name]}: {value} is of another platform"
    if AXES[name].where is Where.HOST and not _is_for(name, value, cell, matrix, facts):
        return f"runs with {name} {cell[name]}: {value} is for other cards"
    return ""


def _missing(name: str, cell: Axes) -> str:
    if AXES[name].where is Where.HOST and not takes_gpu(cell):
        return f"has no {name}: it runs without a GPU"
    if AXES[name].where is Where.IMAGE and "image" in cell:
        return f"is a ready image: its {name} is not chosen here"
    return f"has no {name}"


def _is_for(name: str, value: str, cell: Axes, matrix: Matrix, facts: Facts) -> bool:
    """Whether a value of a host axis may be this cell's: the matrix tells where it lists the value, else the facts."""
    entries = [entry for entry in matrix.axes if entry.axis == name]
    if listing := [entry for entry in entries if value in entry.values]:
        return any(axes.selects(entry.when, cell) for entry in listing)
    vendors, own = _vendors(name, value, facts), _own_vendor(cell, facts)
    return not vendors or not own or own in vendors


def _own_vendor(cell: Axes, facts: Facts) -> str:
    device = facts.devices.find(cell.get("gpu", ""))
    return vendor_of_build(cell.get("torch_build", "")) or (device.vendor if device else "")


def _vendors(name: str, value: str, facts: Facts) -> frozenset[str]:
    """Whose cards a value of a host axis is for, as far as is known; a driver's by its number."""
    if name == "gpu":
        device = facts.devices.find(value)
        return frozenset({device.vendor} if device else ())
    if name == "partition":
        return frozenset(device.vendor for device in facts.file.devices if value in device.partitions)
    if name == "driver":
        series = value.partition(".")[0]
        known = {"nvidia": facts.values("driver"), "amd": facts.values("amdgpu_driver")}
        return frozenset(
            vendor for vendor, drivers in known.items() if any(text.partition(".")[0] == series for text in drivers)
        )
    return frozenset()
