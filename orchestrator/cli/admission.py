"""Whether this machine's disks have room for what is about to be built and run."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.images.disk import Need
    from orchestrator.model import Axes, PlannedCell
    from orchestrator.settings import Site

_RUN_BYTES = 64 << 20  # journal, tables and reports of a run
_CELL_BYTES = 4 << 20  # a bundle and a log; a cell may leave more, and each is asked for once more before it starts
_WHEELS = 0.4  # of an image: wheels are packed


def admit(cells: "Sequence[PlannedCell]", engine: str, site: "Site", runs: Path | None) -> None:
    """InfrastructureError where the images of the cells, their wheels and, with `runs`, their results have no room."""
    from orchestrator.images import disk
    from orchestrator.planning.cost import image_bytes

    needs: list[Need] = []
    if runs is not None:
        results = _RUN_BYTES + _CELL_BYTES * len(cells)
        needs.append(disk.Need(place=runs, bytes=results, what=f"the results of {text.counting(len(cells), 'cell')}"))
    wanted = {cell.image: cell.axes for cell in cells}
    missing, place = _missing(wanted, engine, site)
    if missing:
        images = image_bytes(missing.values())
        wheels = int(images * _WHEELS)
        needs.append(
            disk.Need(place=site.cache, bytes=wheels, what=f"the wheels of {text.counting(len(missing), 'image')}")
        )
        if place is not None:
            needs.append(disk.Need(place=place, bytes=images, what=text.counting(len(missing), "image")))
    disk.admit(needs)


def _missing(wanted: "Mapping[str, Axes]", engine: str, site: "Site") -> "tuple[dict[str, Axes], Path | None]":
    """The images that are still to be made, and where; nowhere when that is another machine's disk."""
    if engine == "docker":
        from contextlib import closing

        from orchestrator.engines.docker import connection
        from orchestrator.images.listing import made_images

        with closing(connection.client(os.environ)) as client:
            made, root = made_images(client)
        missing = {image: axes for image, axes in wanted.items() if image not in made and "image" not in axes}
        return missing, root if root.is_dir() else None
    if engine == "process":
        venvs = site.cache / "venvs"
        made_venvs = sum(1 for _ in venvs.glob("*/torchmatrix.done"))
        return dict(list(wanted.items())[made_venvs:]), venvs
    return {}, None
