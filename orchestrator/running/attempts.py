"""The attempts of one cell: which comes next, what it asks of the engine, and how it is committed."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from orchestrator import disk, text
from orchestrator.axes import platform
from orchestrator.engines.surroundings import platform_in
from orchestrator.engines.task import INPUTS, RESULTS
from orchestrator.errors import InfrastructureError
from orchestrator.formats import ATTEMPT, CELL, CellFile
from orchestrator.model import Attempt, PlannedCell
from orchestrator.results.bundle import MAX_JSON
from orchestrator.running import folder
from orchestrator.running.journal import Line
from orchestrator.vocabulary import Purpose, Step

ARGV = ("-m", "suites", "--cell", f"{INPUTS}/{CELL}", "--out", RESULTS)
_DEVICES: Mapping[str, str] = {"cpu": "cpu", "cuda": "cuda", "rocm": "cuda", "xpu": "xpu"}


def next_attempt(attempts: Sequence[Attempt]) -> tuple[int, Purpose] | None:
    """Number and purpose of the attempt that the cell still needs after these, or None when it is done.

    A failure of the infrastructure is tried once more, except one to prepare the image: that was tried twice already.
    What was cancelled is asked again, as what it was. A test that failed is an answer, and is never tried again.
    """
    if not attempts:
        return 1, Purpose.RUN
    last = attempts[-1]
    if last.exit.cancelled:
        return last.number + 1, last.purpose
    broken = last.exit.problem and last.exit.step is not Step.PREPARE
    return (last.number + 1, Purpose.RETRY) if broken and last.purpose is not Purpose.RETRY else None


def cell_file(cell: PlannedCell) -> bytes:
    """`cell.json`: what the suite is asked to run, on the device of the cell's torch build, or of its GPU.

    A ready image without a GPU says neither: there the suite takes what is there.
    """
    of_gpu = platform_in(cell.axes) if "gpu" in cell.axes else "ready"
    device = _DEVICES.get(of_gpu if platform(cell.axes) == "ready" else platform(cell.axes), "auto")
    asked = CellFile(id=cell.id, axes=cell.axes, device=device, profile="smoke")
    return msgspec.json.format(msgspec.json.encode(asked), indent=1) + b"\n"


def environment(cell: PlannedCell) -> dict[str, str]:
    """The variables of the cell's `env` axis."""
    pairs = (pair.partition("=") for pair in cell.axes.get("env", "").split(" ") if pair)
    return {name: value for name, _, value in pairs}


def committed(run: Path, cell: str) -> tuple[Attempt, ...]:
    """The attempts of the cell that are whole, by number; half ones, which a dead owner left, are not among them."""
    found = (read(place) for _, place in folder.attempt_folders(run, cell))
    return tuple(attempt for attempt in found if attempt is not None)


def committed_folders(run: Path, cell: str) -> tuple[Path, ...]:
    """The folders of the cell's whole attempts, by number."""
    return tuple(place for _, place in folder.attempt_folders(run, cell) if read(place) is not None)


def read(place: Path) -> Attempt | None:
    """The attempt that was committed in this folder, or None: attempt.json is written last, and at once."""
    try:
        return text.read_json(disk.read_bounded(place / ATTEMPT, MAX_JSON), Attempt)
    except (OSError, ValueError):
        return None


def begin(run: Path, cell: str, number: int) -> Path:
    """An empty folder for the attempt; what a dead owner left of the same attempt goes first."""
    import shutil

    place = folder.attempt_folder(run, cell, number)
    with folder.told(place):
        if place.exists():
            shutil.rmtree(place)
        place.mkdir(parents=True)
    return place


def written(attempt: Attempt) -> bytes:
    """The attempt as it stands in attempt.json."""
    return msgspec.json.format(msgspec.json.encode(attempt), indent=1) + b"\n"


def digest(written: bytes) -> str:
    """What the journal says of an attempt.json before it is written."""
    return hashlib.sha256(written).hexdigest()


def commit(place: Path, written: bytes) -> None:
    """Puts the attempt's files on the disk, then attempt.json: from then on the attempt is never done again."""
    with folder.told(place):
        for file in sorted(place.iterdir()):
            if file.is_file() and not file.is_symlink():
                disk.sync(file)
    folder.write(place / ATTEMPT, written)


def verify(run: Path, cells: Iterable[str], lines: Iterable[Line]) -> None:
    """InfrastructureError when a committed attempt is not as the journal says that it was written.

    Such an attempt is damaged and not undone: made anew, it would hide that something was lost.
    """
    begun: dict[tuple[str, int], str] = {}
    ended: set[tuple[str, int]] = set()
    for line in lines:
        if line.step is Step.COMMIT and line.state == "begin":
            begun[line.cell, line.attempt] = line.detail
        elif line.step is Step.COMMIT and line.state == "end":
            ended.add((line.cell, line.attempt))
    there = {(cell, number): place for cell in cells for number, place in folder.attempt_folders(run, cell)}
    for key in ended:
        place = there.get(key, folder.attempt_folder(run, *key))
        if not _is_as_written(place / ATTEMPT, begun.get(key, "")):
            raise _damaged(place / ATTEMPT, "the attempt is not as it was committed")
    for key, place in there.items():
        if key not in begun and read(place) is not None:
            raise _damaged(run / folder.JOURNAL, f"the journal does not know of {place.relative_to(run)}")


def _is_as_written(file: Path, said: str) -> bool:
    try:
        return digest(disk.read_bounded(file, MAX_JSON)) == said
    except OSError:
        return False


def _damaged(place: Path, fact: str) -> InfrastructureError:
    return InfrastructureError(
        fact,
        place=str(place),
        cause="something was damaged, lost or changed since",
        hint="`torchmatrix merge` reads what is left; run the plan anew with `torchmatrix run --plan`",
    )
