"""What the suite needs and a ready image lacks: pytest and its own needs, brought read-only from outside.

Only what is missing is brought: nothing that the image has is hidden by another version of it.
"""

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from orchestrator import text
from orchestrator.images.cache_folder import whole_folder
from orchestrator.images.command import Commands
from orchestrator.images.failure import Stage, StageFailed, at
from orchestrator.images.resolve import Question, Wheel, platform_tag, resolve
from orchestrator.images.wheelhouse import fetch, place_of
from orchestrator.settings import Site

# Asked of the image by name; what pytest needs beyond these, if anything, counts as missing.
TOOLS = ("pytest", "pluggy", "iniconfig", "packaging", "pygments", "exceptiongroup", "tomli", "typing-extensions")
_GLIBC = "2.28"  # where the image does not say: all of these are of pure Python


class Tools(Struct, frozen=True, kw_only=True):
    """A folder of packages on this host, and the line that says what is in it."""

    folder: Path
    told: str


def tools_for(seen: Mapping[str, str], site: Site, commands: Commands, say: Callable[[str], None]) -> Tools | None:
    """What an image needs that said of itself what is in `seen`; None when it has pytest.

    StageFailed (wheels) when it has none and none can be had.
    """
    if "package pytest" in seen:
        return None
    python = ".".join(seen.get("python", "").split(".")[:2])
    question = Question(
        requirements=("pytest",),
        constraints=tuple(f"{name}=={seen[f'package {name}']}" for name in TOOLS if f"package {name}" in seen),
        python=python,
        platform=platform_tag(seen.get("host_arch", "x86_64"), seen.get("glibc") or _GLIBC),
        build="",
    )
    try:
        missing = [wheel for wheel in resolve(question, site, commands) if f"package {wheel.name}" not in seen]
        fetch(missing, site, commands, say)
    except StageFailed as failure:
        raise StageFailed(
            Stage.WHEELS, f"the image has no pytest, and none could be had for it: {failure.fact}", log=failure.log
        ) from failure
    with at(Stage.WHEELS):
        folder = _unpacked(missing, site)
    listed = ", ".join(f"{wheel.name} {wheel.version}" for wheel in missing)
    return Tools(folder=folder, told=f"brought beside the image: {text.one_line(listed, 200)}")


def _unpacked(wheels: list[Wheel], site: Site) -> Path:
    """The folder with these wheels in it, which is there whole or not at all."""
    folder = site.cache / "tools" / text.digest([wheel.identity for wheel in wheels], 32)
    if folder.is_dir():
        return folder
    with whole_folder(folder) as half:
        for wheel in wheels:
            try:
                with zipfile.ZipFile(place_of(wheel, site)) as archive:
                    archive.extractall(half)  # its hash was checked, and zipfile keeps names inside the folder
            except zipfile.BadZipFile as problem:
                raise StageFailed(Stage.WHEELS, f"{wheel.file} is no wheel", log=str(problem)) from problem
        for place in (half, *half.rglob("*")):  # the cell's user is nobody here, whatever our umask is
            place.chmod(0o755 if place.is_dir() else 0o644)
    return folder
