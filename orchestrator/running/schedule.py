"""In which order cells run, and on which devices of this machine.

Cells run one after another. A cell that measures on the CPU must be alone on the machine anyway; what a cell on
devices takes is named here, so that cells on different devices can be given to it side by side.
"""

from collections.abc import Sequence

from msgspec import Struct

from orchestrator.model import Host, PlannedCell
from orchestrator.vocabulary import Tier


class Turn(Struct, frozen=True, kw_only=True):
    """One cell's turn, with the indexes of the devices that it takes; none for a cell on the CPU."""

    cell: PlannedCell
    devices: tuple[str, ...]


def schedule(cells: Sequence[PlannedCell], host: Host) -> tuple[Turn, ...]:
    """The placed cells in running order: production before edge, else as planned. Each has its own turn."""
    placed = (cell for cell in cells if cell.placement.placed)
    order = sorted(placed, key=lambda cell: cell.tier is not Tier.PRODUCTION)
    return tuple(Turn(cell=cell, devices=devices(cell, host)) for cell in order)


def devices(cell: PlannedCell, host: Host) -> tuple[str, ...]:
    """The first `gpus` devices of the host, by index; none for a cell that asks for none or a host without any.

    A cell that asks for more than there are gets what there is: the suite then reports the missing device.
    """
    wanted, there = (int(axes.get("gpus", "0")) for axes in (cell.axes, host.axes))
    return tuple(str(index) for index in range(min(wanted, there)))
