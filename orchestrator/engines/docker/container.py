"""The calls of one container's life: create, start, end, remove. Each ends within the connection's deadline."""

import io
import os
import tarfile
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from orchestrator.engines.compile_cache import CompileCache, files
from orchestrator.engines.docker.answers import FoundVolume, Volumes, asked
from orchestrator.engines.docker.calls import Conflict, Gone, calling
from orchestrator.engines.docker.profile import CACHE, INPUTS, RESULTS, VOLUME, Profile

if TYPE_CHECKING:
    from docker import APIClient


def create(
    client: "APIClient", name: str, profile: Profile, inputs: Mapping[str, bytes], cache: CompileCache | None = None
) -> None:
    """Make the container, its inputs, its compile cache, and the results folder that its user may write to."""
    with calling("creating the container"):
        client.create_container_from_config(dict(profile.config), name)  # type: ignore[no-untyped-call]
    with calling("putting the inputs in"):
        client.put_archive(name, VOLUME, _folders(inputs, profile.config["User"]))
    if cache:
        with calling("putting the compile cache in"), tempfile.TemporaryFile() as archive:
            _write_cache(cache, profile.config["User"], archive)
            archive.seek(0)
            client.put_archive(name, VOLUME, archive)


def start(client: "APIClient", name: str) -> None:
    """Start the container."""
    with calling("starting the container"):
        client.start(name)


def remove(client: "APIClient", name: str, made_by: Mapping[str, str] | None = None) -> None:
    """Remove the container, running or not, with its volume; one that is not there is no error.

    `made_by`: the labels of a volume that is still to go when somebody else removed the container without it.
    """
    give_up = time.monotonic() + client.timeout
    while True:
        try:
            with calling("removing the container"):
                client.remove_container(name, v=True, force=True)
        except Gone:
            break
        except Conflict:  # somebody else is at it
            if time.monotonic() > give_up:
                raise
            time.sleep(0.1)
        else:
            return
    for volume in volumes(client, made_by) if made_by else ():
        remove_volume(client, volume.name)


def volumes(client: "APIClient", labelled: Mapping[str, str]) -> tuple[FoundVolume, ...]:
    """The volumes that carry all these labels."""
    labels = [f"{label}={value}" for label, value in labelled.items()]
    return asked("listing volumes", Volumes, lambda: client.volumes(filters={"label": labels})).volumes or ()


def remove_volume(client: "APIClient", name: str) -> bool:
    """Whether a volume was there to be removed."""
    try:
        with calling("removing a volume"):
            client.remove_volume(name)
    except Gone:
        return False
    return True


def owning_groups(profile: Mapping[str, Any]) -> tuple[str, ...]:
    """The groups that own the device nodes named in a profile on this host: a user that is not root needs them."""
    found: set[int] = set()
    for device in profile["HostConfig"].get("Devices", ()):
        for path in _nodes(device["PathOnHost"]):
            try:
                found.add(os.stat(path).st_gid)  # noqa: PTH116 - one field of a node
            except OSError:
                continue  # the engine will say that it is not there
    return tuple(str(group) for group in sorted(found - {0}))


def _nodes(path: str) -> Iterable[str]:
    try:
        with os.scandir(path) as entries:
            return [entry.path for entry in entries if not entry.is_dir(follow_symlinks=False)]
    except NotADirectoryError:
        return [path]
    except OSError:
        return []


def _folders(inputs: Mapping[str, bytes], user: str) -> bytes:
    """A tar of `in` (root's, with the inputs) and `out` (the user's, empty); never compressed: CVE-2026-41567."""
    owner_id, _, group_id = user.partition(":")
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path, owner, group in ((INPUTS, 0, 0), (RESULTS, int(owner_id), int(group_id))):
            folder = tarfile.TarInfo(path.removeprefix(f"{VOLUME}/"))
            folder.type, folder.mode, folder.uid, folder.gid = tarfile.DIRTYPE, 0o755, owner, group
            tar.addfile(folder)
        for name, content in inputs.items():
            file = tarfile.TarInfo(f"{INPUTS.removeprefix(f'{VOLUME}/')}/{name}")
            file.mode, file.size = 0o444, len(content)
            tar.addfile(file, io.BytesIO(content))
    return archive.getvalue()


def _write_cache(cache: CompileCache, user: str, archive: IO[bytes]) -> None:
    """A tar of `cache` with the kept files, all of it the user's."""
    owner_id, _, group_id = user.partition(":")
    top = PurePosixPath(CACHE).name
    made: set[str] = set()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:

        def add(entry: tarfile.TarInfo, content: IO[bytes] | None = None) -> None:
            entry.uid, entry.gid = int(owner_id), int(group_id)
            tar.addfile(entry, content)

        def add_folder(path: str) -> None:
            folder = tarfile.TarInfo(path)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            made.add(path)
            add(folder)

        add_folder(top)
        for name, source in files(cache.kept) if cache.kept else ():
            parents = [f"{top}/{parent}" for parent in reversed(PurePosixPath(name).parents) if parent.name]
            for parent in parents:
                if parent not in made:
                    add_folder(parent)
            file = tarfile.TarInfo(f"{top}/{name}")
            file.mode = 0o644
            with source.open("rb") as content:
                file.size = os.fstat(content.fileno()).st_size
                add(file, content)
