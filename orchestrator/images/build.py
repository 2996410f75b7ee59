"""Recipe -> image in the engine: a context of hard links, one BuildKit build without network, or nothing at all."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from orchestrator import text
from orchestrator.images.bootstrap import provide
from orchestrator.images.command import Commands
from orchestrator.images.docker import LABEL, Docker, Found
from orchestrator.images.failure import Stage, StageFailed, at
from orchestrator.images.packages import AXES_WITH_PACKAGES
from orchestrator.images.recipe import Recipe
from orchestrator.images.resolve import uv
from orchestrator.images.wheelhouse import lay_out, link, place_of
from orchestrator.settings import Site
from orchestrator.vocabulary import Cause

CONTAINERFILE = "Containerfile"
_DEADLINE_S = 3600.0
_UNPACKED = 4  # bytes on disk for each byte of wheel: unpacked, byte-compiled, and once more while it is exported
_ALWAYS = 512 << 20


def have(recipe: Recipe, docker: Docker) -> Found | None:
    """The image of a recipe when the engine has it, by its name and by the whole digest that it is labelled with."""
    found = docker.inspect(recipe.name)
    return found if found is not None and found.labels.get(f"{LABEL}recipe") == recipe.digest else None


def build(
    recipe: Recipe,
    site: Site,
    docker: Docker,
    commands: Commands,
    say: Callable[[str], None],
    secrets: Mapping[str, Path] = {},
) -> Found:
    """Builds a recipe that the engine does not have; StageFailed when base, disk or build fail."""
    provide(recipe.base, site, docker, commands, say)
    _have_room(recipe, site, docker)
    say(f"image {recipe.id}: building {recipe.name}")
    contexts = site.cache / "contexts"
    with at(Stage.BUILD), ExitStack() as stack:
        contexts.mkdir(parents=True, exist_ok=True)
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix=f"{recipe.digest[:12]}-", dir=contexts))
        context = Path(name)
        _lay_out(recipe, context, site)
        docker.build(context, CONTAINERFILE, recipe.name, labels(recipe), _DEADLINE_S, secrets)
    found = docker.inspect(recipe.name)
    if found is None:
        raise StageFailed(Stage.BUILD, f"the engine does not have `{recipe.name}` that it said it built")
    return found


def labels(recipe: Recipe) -> Mapping[str, str]:
    """What an image says about itself."""
    return {
        f"{LABEL}recipe": recipe.digest,
        f"{LABEL}image-id": recipe.id,
        f"{LABEL}axes": text.canonical_json(dict(recipe.axes)).decode(),
        f"{LABEL}platform": recipe.platform,
        f"{LABEL}base": recipe.base.key,
        f"{LABEL}base-name": recipe.base.name,
    }


def _lay_out(recipe: Recipe, context: Path, site: Site) -> None:
    """Fills a build context: the Containerfile, uv, a folder of wheels for each layer, of packages for each axis."""
    (context / CONTAINERFILE).write_text(recipe.containerfile)
    (context / "tools").mkdir()
    link(Path(uv()), context / "tools" / "uv")
    for layer, wheels in recipe.lock.layers.items():
        lay_out(wheels, context / "wheels" / layer, site)
    for axis in AXES_WITH_PACKAGES:
        (context / "packages" / axis).mkdir(parents=True)
    for package in recipe.packages:
        link(Path(package.path), context / "packages" / package.axis / package.file)


def _have_room(recipe: Recipe, site: Site, docker: Docker) -> None:
    """Refuses a build that the disk has no room for, before it has eaten the rest."""
    needed = _ALWAYS + _UNPACKED * sum(place_of(wheel, site).stat().st_size for wheel in recipe.wheels)
    folder = docker.root_dir() or site.cache
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise StageFailed(
            Stage.BUILD,
            f"{folder} has {free >> 20} MiB free, this image needs about {needed >> 20} MiB",
            cause=Cause.OUT_OF_DISK,
            hint="free some, or move the engine's data root",
        )
