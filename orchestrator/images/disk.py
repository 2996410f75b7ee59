"""Room on disks, asked before anything is begun: what is needed on one disk is added up."""

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from orchestrator.errors import InfrastructureError


class Need(Struct, frozen=True, kw_only=True):
    """Bytes that will be written below a place, which need not be there yet; `what` they are."""

    place: Path
    bytes: int
    what: str


def admit(needs: Sequence[Need]) -> None:
    """InfrastructureError, with place, need and free bytes, for the first disk that has less room than is needed."""
    by_disk: dict[int, list[Need]] = {}
    for need in needs:
        if need.bytes > 0:
            by_disk.setdefault(os.stat(_there(need.place)).st_dev, []).append(need)  # noqa: PTH116 - one field
    for together in by_disk.values():
        wanted = sum(need.bytes for need in together)
        free = free_bytes(together[0].place)
        if free < wanted:
            listed = ", ".join(f"{need.bytes} for {need.what}" for need in together)
            raise InfrastructureError(
                f"{free} bytes are free, about {wanted} are needed",
                place=str(together[0].place),
                cause=listed,
                hint="make room: `torchmatrix images gc --max-bytes`, `torchmatrix runs gc --keep`; or fewer cells",
            )


def free_bytes(place: Path) -> int:
    """Bytes that an ordinary user may still write on the disk of a place, or of the folder that it will be in."""
    disk = os.statvfs(_there(place))
    return disk.f_bavail * disk.f_frsize


def _there(place: Path) -> Path:
    return next(parent for parent in (place.absolute(), *place.absolute().parents) if parent.exists())
