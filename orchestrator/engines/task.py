"""A task: one attempt at one cell, as an engine is asked to make it."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from orchestrator.engines.compile_cache import CompileCache
from orchestrator.masking import NOTHING, Masker
from orchestrator.model import Image, PlannedCell

# Where the inputs lie and the results go differs from engine to engine: an argument names them by these words.
INPUTS = "{inputs}"
RESULTS = "{results}"


class Task(Struct, frozen=True, kw_only=True):
    """What to run and where its results go.

    `argv` is what follows the interpreter; `INPUTS` and `RESULTS` in it become the folders of the engine. `suites` is
    the host folder that holds the package `suites`. `inputs` are files by plain name, readable and not writable for
    the cell. `env` is added to the few variables that the engine sets; nothing else is passed on. `out` is the host
    folder that receives the bundle's files and `log.txt`; what an interrupted try left there is removed first.
    `devices` are ids as the vendor's runtime names them (`0`, `GPU-…`, `nvidia.com/gpu=0`, `/dev/dri/renderD128`).
    `secrets` are files of this host by the secret's name: the cell may read them, `NAME_FILE` says where. `masker`
    keeps what is in them out of everything that is taken from the cell. `cache` is what compilers left in earlier cells
    that were the same in all that matters to them; what this one leaves is taken when it ends with 0.
    """

    run_id: str
    cell: PlannedCell
    number: int
    image: Image
    argv: tuple[str, ...]
    suites: Path
    inputs: Mapping[str, bytes]
    env: Mapping[str, str]
    out: Path
    deadline_s: float
    devices: tuple[str, ...]
    secrets: Mapping[str, Path] = {}
    masker: Masker = NOTHING
    cache: CompileCache | None = None


def arguments(task: Task, *, inputs: str, results: str) -> list[str]:
    """The task's arguments with the engine's own folders in place of `INPUTS` and `RESULTS`."""
    return [part.replace(INPUTS, inputs).replace(RESULTS, results) for part in task.argv]
