"""The parser of lock files: what it takes, whoever works with locks can work with."""

from pathlib import Path

from law import Target, ours
from msgspec.structs import replace

from orchestrator.errors import InputErrors
from orchestrator.images.bases import find_base
from orchestrator.images.failure import StageFailed
from orchestrator.images.lock import asked_of, companions
from orchestrator.images.locked import identified, other_base, unfit
from orchestrator.images.locks import LockFile, held_in, parse, place_of_lock, read_lock, render
from orchestrator.images.recipe import checked
from orchestrator.images.settle import _order

WRITTEN: list[LockFile] = []
LOCKS = Path(__file__).resolve().parents[2] / "images" / "locks"


def lock_file(folder: Path) -> Target:
    """Locks of the project, cut to what fits a seed, and one that is nested as TOML may be."""
    whole = [path.read_bytes() for path in sorted(LOCKS.glob("torch2*.lock.toml"))]
    seeds = tuple(_short(data) for data in (whole[0], whole[1], whole[-1]))
    least = b"schema = 1\nimage = 'x'\n[axes]\n[base]\nname = 'debian12'\n[wheels]\n"
    inline = least.replace(
        b"[wheels]", b"[wheels]\ntorch = [{name = 'torch', version = '2.6.0', file = 'a-1.whl', sha256 = '"
    )
    WRITTEN.extend(parse(seed) for seed in seeds)
    image = next(iter(held_in(LOCKS).locks))
    place = place_of_lock(folder, image)

    def check(data: bytes) -> bool:
        place.write_bytes(data)

        def parse_and_use() -> None:
            found = read_lock(folder, image)
            assert found is not None
            proper = replace(found, digest=found.proper_digest)
            assert parse(render(found).encode()) == proper, "it is written as another lock than was read"
            assert max([0, *map(len, found.versions)]) <= 201
            sorted(found.versions.values(), key=_order)
            companions(found.axes)
            try:
                full = checked(found.axes)
            except InputErrors:
                return
            asked_of(full)
            told = unfit(found, found.image, full)
            assert all(told), "a contradiction that says nothing"
            assert told or found in WRITTEN, "another lock than was written fits"
            told = unfit(proper, found.image, full)
            try:
                base = find_base(full, {})
            except StageFailed:
                return
            other_base(found.base, base)
            other_base(identified(base), base)
            if not told and full["torch_from"] == "wheel":
                assert {"torch", "pytest"} <= found.versions.keys(), "a gutted lock fits"

        return ours(parse_and_use)

    return Target("lock file", (*seeds, *seeds, least, inline), check)


def _short(data: bytes) -> bytes:
    """A lock with few distribution packages and few wheels, still a lock."""
    lock = parse(data)
    wheels = lock.wheels
    held = {layer: getattr(wheels, layer)[-3:] for layer in ("torch", "companions", "tools")}
    asked = [entry for entry in lock.base.packages if entry.split("=")[0] in lock.base.include]
    return render(
        replace(lock, wheels=replace(wheels, **held), base=replace(lock.base, packages=tuple(asked)))
    ).encode()
