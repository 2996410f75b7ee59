"""A ready image: not ours, not built, only asked what it contains and how the suite can run in it.

Nothing that the image says about running it (ENTRYPOINT, USER, WORKDIR, VOLUME, ENV, HEALTHCHECK, STOPSIGNAL) steers
the run. What it gets beyond our own profile, and what of its own is left aside, becomes a line in each attempt.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from orchestrator import text
from orchestrator.engines.docker.profile import OURS, OWN_MOUNTS, PYTHON
from orchestrator.images import contents, finder, steering
from orchestrator.images.command import Commands, Finished
from orchestrator.images.docker import Docker, Found
from orchestrator.images.failure import Stage, StageFailed
from orchestrator.images.observe import DEADLINE_S, PACKAGES, axes_in, container_name, once, read_found, script
from orchestrator.images.tools import TOOLS, tools_for
from orchestrator.model import Axes, Image, Ready
from orchestrator.settings import Site
from orchestrator.vocabulary import Cause

ROOT = "0:0"
# What the finder is begun with; it looks for the one that has torch by itself.
PYTHONS = (
    "python3",
    "python",
    PYTHON,
    "/opt/conda/bin/python",
    "/usr/local/bin/python3",
    "/usr/bin/python3",
)
# By our own templates: what stands there besides came with the base.
_SET_BY_US = frozenset({"PYTHONDONTWRITEBYTECODE", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES"})
_USER = re.compile(r"\d{1,9}:\d{1,9}", re.ASCII)
_NOT_FOUND = (126, 127)  # how `docker run` says that the program is not there, or is no program


def ready_image(
    key: str, axes: Axes, found: Found, site: Site, docker: Docker, commands: Commands, say: Callable[[str], None]
) -> Image:
    """The image of an `image` axis, observed, with how a cell runs in it; StageFailed when the suite cannot."""
    seen = look(found, site, docker)
    tools = tools_for(seen, site, commands, say)
    ready = Ready(
        python=seen["interpreter"],
        user=seen["user"],
        unset=steering.left_out(found.env),
        volumes=volumes_of(found),
        tools=str(tools.folder) if tools else "",
        notes=(*_notes(found, seen), *((tools.told,) if tools else ())),
    )
    return Image(id=key, name=axes["image"], ref=found.id, axes=axes, observed=axes_in(seen), ready=ready)


def of_its_base(image: Found) -> Ready | None:
    """How a cell runs in an image of ours where the base that a site named for it says more than ours would."""
    unset = tuple(name for name in steering.left_out(image.env) if name not in _SET_BY_US)
    volumes = volumes_of(image)
    if not unset and not volumes:
        return None
    notes = (f"variables of the base that are left out: {steering.names(unset)}",) if unset else ()
    return Ready(python=PYTHON, user=OURS, unset=unset, volumes=volumes, notes=(*notes, *_of_volumes(volumes)))


def look(image: Found, site: Site, docker: Docker) -> Mapping[str, str]:
    """What the image contains: axes, packages, its Python with torch, and the user as whom torch can be imported.

    Ours where that works; the image's own only where it does not.
    """

    def ask() -> Mapping[str, str]:
        users = tuple(dict.fromkeys((OURS, image.user or ROOT)))
        for user in users[:-1]:
            try:
                return _asked(image, user, docker)
            except StageFailed as failure:
                if failure.why is Cause.ENGINE:
                    raise
        return _asked(image, users[-1], docker)

    return once([image.id, "ready", Path(finder.__file__).read_text(encoding="utf-8")], site, ask)


def _asked(image: Found, user: str, docker: Docker) -> Mapping[str, str]:
    code = Path(finder.__file__).read_text(encoding="utf-8")
    packages = (*(package for package in PACKAGES if package != "torch"), *TOOLS)
    done: Finished | None = None
    for python in PYTHONS:
        done = docker.ask(
            image.id,
            (python, "-c", code, script(), *packages),
            container_name(image.id),
            DEADLINE_S,
            user=user,
            unset=steering.left_out(image.env),
            volumes=volumes_of(image),
        )
        if done.code not in _NOT_FOUND or contents.MARK in done.out:
            found = read_found(done)
            return _believed(found, user)
    raise StageFailed(
        Stage.OBSERVE,
        f"the image has no Python that user {text.one_line(user, 60)} can start",
        log=done.log if done else "",
    )


def _believed(found: Mapping[str, str], user: str) -> Mapping[str, str]:
    """The answer, where what decides how the image is run is in a form that can be; nobody becomes root by a word."""
    told = OURS if user == OURS else found.get("user", "")
    if _USER.fullmatch(told) is None or not found.get("interpreter", "").startswith("/"):
        raise StageFailed(Stage.OBSERVE, "the image's answer cannot be read", log=str(found)[:2000])
    return {**found, "user": told}


def volumes_of(image: Found) -> tuple[str, ...]:
    """The paths of the image's VOLUMEs that are not ours already."""
    return tuple(path for path in image.volumes if path.rstrip("/") not in OWN_MOUNTS)


def _notes(image: Found, seen: Mapping[str, str]) -> tuple[str, ...]:
    lines = ["a ready image: not built here"]
    if seen["user"] != OURS:
        own = text.one_line(image.user or "root", 60)
        lines.append(f"runs as the image's own user {own} ({seen['user']}): torch cannot be imported as {OURS}")
    if image.entrypoint:
        lines.append(f"the image's ENTRYPOINT is not run: {text.one_line(' '.join(image.entrypoint), 120)}")
    return (*lines, *_of_volumes(volumes_of(image)), *steering.told(image.env))


def _of_volumes(volumes: Sequence[str]) -> tuple[str, ...]:
    listed = text.one_line(", ".join(volumes), 200)
    return (f"the image's VOLUMEs are empty and in memory: {listed}",) if volumes else ()
