"""Makes a base: mmdebstrap from the site's mirror, in memory when there is room, then into the engine as an image."""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from orchestrator.images.bases import OPTIONS, Base
from orchestrator.images.command import Commands, locked
from orchestrator.images.docker import Docker
from orchestrator.images.failure import Stage, StageFailed, at, stale
from orchestrator.images.pull import pull
from orchestrator.images.roots import moved, read_root
from orchestrator.settings import Site
from orchestrator.vocabulary import Cause

_DEADLINE_S = 1800.0
_SHOWN = 3
_UNKNOWN_PACKAGE = re.compile(r"Unable to locate package (\S+)")
_ROOM = 6 << 30  # bytes that a base with a distribution's torch needs while it is made: packages, root and archive
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
_INSTALL = ("apt-get", "install", "-y", "--no-install-recommends", "mmdebstrap", "debian-archive-keyring")


def provide(base: Base, site: Site, docker: Docker, commands: Commands, say: Callable[[str], None]) -> None:
    """Has the base in the engine: there already, pulled by digest, or bootstrapped; StageFailed otherwise."""
    if docker.inspect(base.ref) is not None:
        return
    if base.image:
        if docker.inspect(base.image) is None:
            say(f"base {base.name}: pulling {base.image}")
            pull(base.image, site, docker)
        docker.tag(base.image, base.ref)
        return
    with at(Stage.BASE), locked(site.cache / "bases" / f"{base.key[:12]}.lock"):
        # Another process may have made it while we waited. The tag is given last, so what has it is whole.
        if docker.inspect(base.ref) is None:
            _bootstrap(base, site, docker, commands, say)


def _bootstrap(base: Base, site: Site, docker: Docker, commands: Commands, say: Callable[[str], None]) -> None:
    with made_root(base, site, commands, say) as archive:
        if base.locked:
            _holds(base, read_root(archive).packages)
        keep_root(base, archive, docker)


def keep_root(base: Base, archive: Path, docker: Docker) -> None:
    """Has a root in the engine as that base."""
    docker.import_root(archive, base.ref, {"org.torchmatrix.base": base.key, "org.torchmatrix.base-name": base.name})


@contextmanager
def made_root(base: Base, site: Site, commands: Commands, say: Callable[[str], None]) -> Iterator[Path]:
    """The base's root as a tar file, for as long as the block takes; StageFailed (base) when it cannot be made."""
    _have_mmdebstrap(site, commands, say)
    mirror = site.apt_mirror or "Debian's own mirror"
    say(f"base {base.name}: bootstrapping {base.suite} with {', '.join(base.packages)} from {mirror}")
    with tempfile.TemporaryDirectory(prefix="torchmatrix-base-", dir=_workplace(site)) as folder:
        archive = Path(folder) / "root.tar"
        done = commands.run(
            mmdebstrap_line(base, site.apt_mirror, archive),
            deadline_s=_DEADLINE_S,
            env={**os.environ, "TMPDIR": folder, **{f"{scheme}_proxy": url for scheme, url in site.proxies.items()}},
        )
        if done.code != 0 and base.locked and (gone := _UNKNOWN_PACKAGE.search(done.log)):
            raise stale(Stage.BASE, f"the mirror has no package {gone[1]} any more", log=done.log, alone=base.name)
        if done.code != 0:
            raise StageFailed(
                Stage.BASE,
                f"mmdebstrap {'took too long' if done.timed_out else f'ended with {done.code}'} making `{base.name}`",
                log=done.log,
                hint=f"does this host reach {mirror}? apt_mirror sets another",
            )
        yield archive


def _holds(base: Base, packages: Sequence[str]) -> None:
    """That a root holds the packages that were locked: a mirror gives what it has today, and asks nobody."""
    if differences := moved(base.locked, packages):
        raise stale(
            Stage.BASE,
            f"the mirror of {base.suite} has not the packages that are locked: {', '.join(differences[:_SHOWN])}"
            + (f" and {len(differences) - _SHOWN} more" if len(differences) > _SHOWN else ""),
            log="\n".join(differences),
            alone=base.name,
        )


def mmdebstrap_line(base: Base, mirror: str, archive: Path) -> list[str]:
    """The command that writes the base's root as a tar file."""
    return [
        "mmdebstrap",
        *OPTIONS,
        f"--architectures={base.architecture}",
        f"--include={','.join(base.packages)}",
        "--format=tar",
        base.suite,
        str(archive),
        # Without one mmdebstrap takes Debian's own: a host whose apt knows only another distribution has none.
        *((f"deb {mirror} {base.suite} main",) if mirror else ()),
    ]


def _workplace(site: Site) -> Path:
    """Memory when it has room for the root and its archive (three times as fast), else the cache's disk."""
    if _SHARED_MEMORY.is_dir() and os.access(_SHARED_MEMORY, os.W_OK):
        view = os.statvfs(_SHARED_MEMORY)
        usable = min(view.f_bavail * view.f_frsize, _available_memory() // 2)
        if usable >= _ROOM and not view.f_flag & os.ST_NOEXEC:
            return _SHARED_MEMORY
    folder = site.cache / "bases"
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free
    if free < _ROOM:
        raise StageFailed(
            Stage.BASE,
            f"{folder} has {free >> 20} MiB free, a base needs {_ROOM >> 20} MiB while it is made",
            cause=Cause.OUT_OF_DISK,
        )
    return folder


def _available_memory() -> int:
    import psutil

    return int(psutil.virtual_memory().available)


def _have_mmdebstrap(site: Site, commands: Commands, say: Callable[[str], None]) -> None:
    if shutil.which("mmdebstrap"):
        return
    line = " ".join(_INSTALL)
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise StageFailed(Stage.BASE, "mmdebstrap is not installed", cause=Cause.BUILD, hint=f"sudo {line}")
    with locked(site.cache / "bases" / "mmdebstrap.lock"):  # apt-get fails where another apt-get is at work
        if not shutil.which("mmdebstrap"):
            say(f"base: mmdebstrap is not installed: {line}")
            _install(commands, line)


def _install(commands: Commands, line: str) -> None:
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for argv in (("apt-get", "update", "-q"), (*_INSTALL, "--option=DPkg::Lock::Timeout=300")):
        done = commands.run(argv, deadline_s=600.0, env=env)
        if done.code != 0:
            raise StageFailed(Stage.BASE, f"`{' '.join(argv)}` ended with {done.code}", log=done.log, hint=line)
