"""The store of compile caches: one folder a key, lent to one attempt at a time, written only from cells that passed.

    compile/KEY/manifest.json   the key's parts, and of each file its size and digest
    compile/KEY/files/…         what the compilers left
    compile/KEY.lock            held while an attempt has it
    compile/KEY.work/, .new/    of the attempt that has it; what a dead one left goes at the next

A folder that is not exactly what its manifest says is dropped, never used.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from orchestrator import disk, text
from orchestrator.engines.compile_cache import CompileCache, files, remove
from orchestrator.running.compile_key import key

MOST_BYTES = 5 << 30  # of all caches together
_MANIFEST = "manifest.json"
_MANIFEST_BYTES = 64 << 20
_FILES = "files"
_KEY = re.compile(r"[0-9a-f]{32}", re.ASCII)


class Manifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a kept cache is of, and what is in it: path -> `SIZE SHA256`."""

    parts: Mapping[str, str]
    files: Mapping[str, str]


class Lent:
    """A cache that one attempt has; `keep` puts what was taken from it into the store."""

    def __init__(self, store: "CompileStore", parts: Mapping[str, str], cache: CompileCache) -> None:
        self._store = store
        self._parts = parts
        self.cache = cache

    def keep(self) -> None:
        """Only when the cell passed: what a failed or killed one left may be half, or wrong."""
        self._store.keep(self._parts, self.cache.taken)


class CompileStore:
    """The caches below a folder, made when the first is kept; they take at most about `most` bytes."""

    def __init__(self, root: Path, say: Callable[[str], None], *, most: int = MOST_BYTES) -> None:
        self._root = root
        self._say = say
        self._most = most

    @contextmanager
    def lent(self, parts: Mapping[str, str]) -> Iterator[Lent | None]:
        """The cache of these parts, empty at first; None where none is to be had: a cell can do without."""
        with self._locked(key(parts)) as is_ours:
            lent = self._lend(parts) if is_ours else None
            try:
                yield lent
            finally:
                for folder in (lent.cache.taken, lent.cache.work) if lent else ():
                    with suppress(OSError):
                        remove(folder)

    def place(self) -> Path:
        """Below which cells without a container have their copies."""
        return self._root

    def keep(self, parts: Mapping[str, str], taken: Path) -> None:
        """The files in `taken` become the cache of these parts, whole or not at all; then the least used go."""
        folder, coming, going = (self._root / f"{key(parts)}{end}" for end in ("", ".coming", ".going"))
        try:
            found = _digests(taken)
            kept = _manifest(folder)
            if not found or (kept is not None and kept.files == found):
                return
            remove(coming)
            coming.mkdir()
            taken.rename(coming / _FILES)
            (coming / _MANIFEST).write_bytes(msgspec.json.encode(Manifest(parts=parts, files=found)))
            remove(going)
            if folder.exists():
                folder.rename(going)
            coming.rename(folder)
            remove(going)
            self._evict(but=folder.name)
        except OSError as error:
            self._say(f"the compile cache was not kept: {text.one_line(str(error))}")

    def _lend(self, parts: Mapping[str, str]) -> Lent | None:
        folder = self._root / key(parts)
        cache = CompileCache(
            kept=folder / _FILES if self._is_sound(folder, parts) else None,
            taken=folder.with_name(f"{folder.name}.new"),
            work=folder.with_name(f"{folder.name}.work"),
        )
        try:
            for left in (cache.taken, cache.work):
                remove(left)
            cache.taken.mkdir()
        except OSError as error:
            self._say(f"no compile cache: {text.one_line(str(error))}")
            return None
        return Lent(self, parts, cache)

    def _is_sound(self, folder: Path, parts: Mapping[str, str]) -> bool:
        """Whether the folder is there and exactly as its manifest says; else it is removed."""
        if not folder.exists():
            return False
        with suppress(OSError):
            manifest = _manifest(folder)
            if manifest is not None and manifest.parts == parts and manifest.files == _digests(folder / _FILES):
                os.utime(folder / _MANIFEST)  # the time of its last use
                return True
        self._say("a compile cache is not as it was kept: dropped")
        with suppress(OSError):
            remove(folder)
        return False

    @contextmanager
    def _locked(self, name: str) -> Iterator[bool]:
        """Whether nobody else has the cache of that name: another run does without it."""
        try:
            self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(self._root / f"{name}.lock", flags, 0o600)
        except OSError as error:
            self._say(f"no compile cache: {text.one_line(str(error))}")
            yield False
            return
        try:
            yield _is_ours(descriptor)
        finally:
            os.close(descriptor)

    def _evict(self, but: str) -> None:
        """Remove the least recently used caches until the rest is within the bound; none that somebody has."""
        known = [path for path in self._root.iterdir() if _KEY.fullmatch(path.name) and not path.is_symlink()]
        sizes = {path: sum(file.lstat().st_size for _, file in files(path)) for path in known}
        for path in sorted(known, key=_last_used):
            if sum(sizes.values()) <= self._most:
                return
            if path.name != but:
                with self._locked(path.name) as is_ours:
                    if is_ours:
                        remove(path)
                        del sizes[path]


def _is_ours(descriptor: int) -> bool:
    """Where there are no locks, nobody has it alone."""
    try:
        return disk.take(descriptor)
    except OSError:
        return False


def _last_used(folder: Path) -> float:
    try:
        return (folder / _MANIFEST).stat().st_mtime
    except OSError:
        return 0.0


def _manifest(folder: Path) -> Manifest | None:
    try:
        return text.read_json(disk.read_bounded(folder / _MANIFEST, _MANIFEST_BYTES), Manifest)
    except (OSError, ValueError):
        return None


def _digests(folder: Path) -> dict[str, str]:
    """Size and digest of each file below; what is no plain file is told as one that no manifest has."""
    found = {}
    for place, folders, names in os.walk(folder):
        for name in (*names, *(name for name in folders if Path(place, name).is_symlink())):
            path = Path(place, name)
            plain = path.is_file() and not path.is_symlink()
            found[path.relative_to(folder).as_posix()] = _told(path) if plain else "not plain"
    return found


def _told(path: Path) -> str:
    with path.open("rb") as file:
        return f"{path.stat().st_size} {hashlib.file_digest(file, 'sha256').hexdigest()}"
