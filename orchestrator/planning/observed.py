"""What our own runs saw of a combination: the cells of the newest runs, found by what was there when they ran.

A run speaks of a combination when it saw every axis that was asked for, with the value that was asked for. What a cell
did not see it says nothing of: a run on a CPU is no word on a GPU.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path

from orchestrator import axes, text
from orchestrator.formats import SUMMARY, SummaryFile
from orchestrator.model import Axes, Observation
from orchestrator.results.files import MIB, Refused, read_plain
from orchestrator.support import words
from orchestrator.support.axes import cuda_of_build
from orchestrator.support.selector import indices
from orchestrator.vocabulary import Status

MAX_RUNS = 200
MAX_CELLS = 20_000
MAX_SUMMARY = 64 * MIB
MAX_TOLD = 20

_RAN = frozenset(Status) - {
    Status.ERROR,
    Status.UNPLACED,
    Status.UNSUPPORTED,
    Status.CANCELLED,
    Status.NOT_RUN,
}
_LONGEST = 400  # an image by digest is long, and one that is cut is another


class Observed:
    """The cells that runs left, newest run first, found by any set of axes."""

    def __init__(self, observations: Sequence[Observation]) -> None:
        self._observations = tuple(observations)
        self._seen: dict[str, dict[str, int]] = {}  # axis -> value -> one bit for each observation that saw it
        self._asked: dict[tuple[str, str], int] = {}
        for at, observation in enumerate(self._observations):
            for axis, value in _known(observation.axes).items():
                values = self._seen.setdefault(axis, {})
                values[value] = values.get(value, 0) | 1 << at

    def __len__(self) -> int:
        return len(self._observations)

    def of(self, combo: Mapping[str, object]) -> tuple[Observation, ...]:
        """The observations that saw everything that was asked, newest first and at most `MAX_TOLD`."""
        found = (1 << len(self._observations)) - 1
        for axis, wanted in combo.items():
            if wanted != "any":
                found &= self._that_saw(axis, wanted)
        return tuple(self._observations[at] for at in islice(indices(found), MAX_TOLD))

    def _that_saw(self, axis: str, wanted: object) -> int:
        if isinstance(wanted, list | tuple):
            found = 0
            for one in wanted:
                found |= self._that_saw(axis, one)
            return found
        if not isinstance(wanted, str):
            return 0
        if (axis, wanted) not in self._asked:
            seen = self._seen.get(axis, {})
            bits = (having for value, having in seen.items() if _agrees(axis, wanted, value))
            self._asked[axis, wanted] = sum(bits)  # one value of an axis each: no bit is in two of them
        return self._asked[axis, wanted]


def _agrees(axis: str, wanted: str, seen: str) -> bool:
    if wanted[:1] in "<>=!~" and wanted:
        return axes.matches_any(wanted, seen)
    if axis in axes.AXES:
        return axes.matches(axis, wanted, seen)
    return wanted.lower() == seen.lower()


def _known(seen: Axes) -> dict[str, str]:
    """What a cell saw, and what that says of axes that are only asked for."""
    known = {"os": "linux", "libc": "glibc", **seen}
    if distro := words.distribution(seen.get("base", "")):
        known.setdefault("distro", distro.text)
    if cuda := cuda_of_build(seen.get("torch_build", "")):
        known.setdefault("cuda_runtime", cuda)
    if seen.get("backend") == "inductor":
        known.setdefault("scope", "torch.compile")
    return known


def read(runs: Path) -> tuple[Observed, tuple[str, ...]]:
    """What the newest runs in a folder saw, and a note on each that is there and cannot be read.

    A folder that is not there holds no runs. Anybody may have written what is in it: only plain files under a cap are
    read, and only so many.
    """
    found: list[Observation] = []
    notes: list[str] = []
    try:
        names = sorted((entry.name for entry in runs.iterdir()), reverse=True)  # a run is named by its start
    except OSError:
        names = []
    read_ones = 0
    for name in names:
        if read_ones == MAX_RUNS or len(found) >= MAX_CELLS:
            break
        file = runs / name / SUMMARY
        if not text.is_file_name(name) or not file.parent.is_dir():
            continue
        try:
            cells = _cells(name, file)
        except FileNotFoundError:
            continue
        except (Refused, OSError, ValueError) as error:
            notes.append(f"note: {text.shown(str(file), 200)}: passed over: {text.one_line(str(error))}")
            continue
        read_ones += 1
        found += cells
    return Observed(found[:MAX_CELLS]), tuple(notes)


def _cells(run: str, file: Path) -> Iterable[Observation]:
    summary = text.read_json(read_plain(file, MAX_SUMMARY), SummaryFile)
    return [
        Observation(run=run, cell=cell.id, status=cell.status, axes=seen)
        for cell in summary.cells
        if cell.status in _RAN and (seen := _of_registry({**cell.requested, **cell.observed}))
    ]


def _of_registry(seen: Axes) -> dict[str, str]:
    return {name: text.shown(value, _LONGEST) for name, value in seen.items() if name in axes.AXES}
