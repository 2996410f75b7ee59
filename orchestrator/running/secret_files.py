"""The secrets of a run as files that nobody else on this machine can reach, for as long as it needs them.

They lie below a folder that only we may enter. A build reads one as a secret of BuildKit, a cell as a mount.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from orchestrator import disk, text
from orchestrator.engines.owner import is_gone, parse, this_process
from orchestrator.errors import InputError, InputErrors
from orchestrator.masking import NOTHING, Masker
from orchestrator.model import PlannedCell, SecretSource
from orchestrator.running import folder
from orchestrator.settings.sources import value_of

_PREFIX = "torchmatrix-secrets-"
_OWNER = "owner.json"
_OWNER_BYTES = 4096


class Secrets(Struct, frozen=True, kw_only=True):
    """Files by the secret's name, and the masker of what is in them.

    `ours` are for us alone, `readable` for the user of a container too, who cannot be told in advance; `root` is the
    folder of both, where there are any.
    """

    root: Path | None = None
    ours: Mapping[str, Path] = {}
    readable: Mapping[str, Path] = {}
    masker: Masker = NOTHING

    def of(self, cells: Iterable[PlannedCell]) -> dict[str, dict[str, Path]]:
        """For each image, what its build is given: all that its cells name."""
        by_image: dict[str, dict[str, Path]] = {}
        for cell in cells:
            if cell.secrets:
                by_image.setdefault(cell.image, {}).update({one.name: self.ours[one.name] for one in cell.secrets})
        return by_image

    def remove(self) -> None:
        """Takes the files away before the block of `laid_out` ends, which a process that ends at once never sees."""
        if self.root is not None:
            _remove(self.root)


NONE = Secrets()


@contextmanager
def laid_out(
    cells: Iterable[PlannedCell], environ: Mapping[str, str], others: Iterable[bytes] = ()
) -> Iterator[Secrets]:
    """The secrets of these cells, until the end of the block; `others` are values that are masked only.

    InputErrors, before anything is written, where one is not there or is too short to be masked. What a process that
    died left of its own goes first.
    """
    asked = {secret.name: secret for cell in cells for secret in cell.secrets}
    values = _read(asked.values(), environ)
    masker = Masker([*values.values(), *others])
    _sweep()
    if not values:
        yield Secrets(masker=masker)
        return
    with folder.told(Path(tempfile.gettempdir())):
        root = Path(tempfile.mkdtemp(prefix=_PREFIX))  # of mode 0700
    try:
        with folder.told(root):
            (root / _OWNER).write_text(json.dumps({"owner": str(this_process())}), encoding="ascii")
            ours = _written(root / "ours", values, 0o600)
            readable = _written(root / "readable", values, 0o444)
        yield Secrets(root=root, ours=ours, readable=readable, masker=masker)
    finally:
        _remove(root)


def _read(asked: Iterable[SecretSource], environ: Mapping[str, str]) -> dict[str, bytes]:
    values: dict[str, bytes] = {}
    problems: list[InputError] = []
    for secret in asked:
        try:
            values[secret.name] = value_of(secret, environ)
        except InputError as problem:
            problems.append(problem)
    if problems:
        raise InputErrors(problems)
    return values


def _written(place: Path, values: Mapping[str, bytes], mode: int) -> dict[str, Path]:
    place.mkdir()
    files: dict[str, Path] = {}
    for name, value in values.items():
        files[name] = place / name
        descriptor = os.open(files[name], os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
            file.write(value)
        files[name].chmod(mode)
    return files


def _remove(root: Path) -> None:
    """The values before the owner: what could not be removed is found again by that."""
    held = (root / "ours", root / "readable")
    for place in held:
        shutil.rmtree(place, ignore_errors=True)
    if not any(place.exists() for place in held):
        shutil.rmtree(root, ignore_errors=True)


def _sweep() -> None:
    for root in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            if root.is_symlink() or root.stat().st_uid != os.getuid():
                continue
            owner = parse(text.read_json(disk.read_bounded(root / _OWNER, _OWNER_BYTES), dict[str, str])["owner"])
            if owner is not None and is_gone(owner):
                _remove(root)
