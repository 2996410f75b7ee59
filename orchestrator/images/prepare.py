"""Image axes -> images: lock, fetch, base, build, observe, in parallel; one image's failure never stops the others."""

import os
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from orchestrator import text
from orchestrator.axes import image_axes, image_id, platform
from orchestrator.engines.docker.profile import PYTHON
from orchestrator.errors import InfrastructureError, InputError
from orchestrator.images import containerfile
from orchestrator.images.bases import find_base
from orchestrator.images.build import build, have
from orchestrator.images.command import Commands
from orchestrator.images.docker import Docker
from orchestrator.images.failure import BuildFailure, Stage, StageFailed, at
from orchestrator.images.given import NO_MORE, Given
from orchestrator.images.listing import note_use
from orchestrator.images.locked import base_of, lock_of, wheels_of
from orchestrator.images.observe import observe_image
from orchestrator.images.packages import find_packages
from orchestrator.images.pull import pull
from orchestrator.images.ready import of_its_base, ready_image
from orchestrator.images.recipe import Recipe, checked, write
from orchestrator.images.venvs import make_venv
from orchestrator.images.wheelhouse import check_torch, fetch
from orchestrator.model import Axes, Image
from orchestrator.settings import Site
from orchestrator.vocabulary import Cause

__all__ = ["BuildFailure", "make_recipe", "prepare_images", "prepare_venvs"]

Say = Callable[[str], None]


def prepare_images(
    wanted: Mapping[str, Axes], site: Site, *, jobs: int, say: Say, given: Given = NO_MORE
) -> Mapping[str, Image | BuildFailure]:
    """Each wanted image (image id -> axes), built or why not, at most `jobs` at a time.

    InfrastructureError when no engine answers. What is in the engine already is not built, what was observed is not
    asked again. On the way out by an exception every tool that still runs is ended.
    """
    commands = Commands()
    docker = Docker(commands, os.environ)
    docker.answers()
    making = _Making(site, docker, commands, given.masked(say), given)
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        try:
            tasks = {key: pool.submit(making.image, key, axes) for key, axes in _spread(wanted)}
            made = {key: task.result() for key, task in tasks.items()}
        except BaseException:
            commands.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return {key: made[key] for key in wanted}


def prepare_venvs(
    wanted: Mapping[str, Axes], site: Site, *, say: Say, given: Given = NO_MORE
) -> Mapping[str, Image | BuildFailure]:
    """Each wanted environment (image id -> axes) as a venv on this machine, or why not, one after the other."""
    commands, say = Commands(), given.masked(say)
    try:
        made = {
            key: attempt(key, partial(make_venv, key, axes, site, commands, say), say) for key, axes in wanted.items()
        }
    except BaseException:
        commands.stop()
        raise
    return {key: given.unspoken(one) if isinstance(one, BuildFailure) else one for key, one in made.items()}


def attempt(key: str, make: Callable[[], Image], say: Say) -> Image | BuildFailure:
    """What was made, or its failure; only our bugs and interruptions come out as exceptions."""
    try:
        return make()
    except StageFailed as failure:
        failed = failure.of(key)
    except InputError as problem:
        failed = _failure(key, Stage.RECIPE, problem, Cause.BUILD)
    except InfrastructureError as problem:
        failed = _failure(key, Stage.BUILD, problem, Cause.ENGINE)
    say(f"image {key}: {failed.reason}")
    return failed


def make_recipe(axes: Axes, site: Site, commands: Commands, say: Say) -> Recipe:
    """The recipe of a combination, with its wheels on this host; StageFailed or InputErrors."""
    full = checked(axes)
    held = lock_of(full, site, say)
    base = base_of(held, find_base(full, site.bases))
    locked = wheels_of(held, full, site, commands)
    fetch(locked.wheels, site, commands, say)
    check_torch(locked.torch, full["torch_build"], site)
    with at(Stage.BASE):
        packages = find_packages(full, site)
    return Recipe(
        id=image_id(full),
        platform=platform(full),
        axes=full,
        base=base,
        containerfile=write(full, base),
        templates=containerfile.fingerprint(f"{platform(full)}.Containerfile.j2"),
        lock=locked,
        packages=packages,
    )


def _spread(wanted: Mapping[str, Axes]) -> Sequence[tuple[str, Axes]]:
    """The images in an order in which those that share a layer do not wait for each other while others could begin."""
    rank: dict[str, int] = defaultdict(int)
    ranked = []
    for key, axes in wanted.items():
        group = text.digest(
            {name: axes.get(name, "") for name in ("torch", "torch_build", "torch_from", "base", "python")}
        )
        ranked.append((rank[group], key, axes))
        rank[group] += 1
    return [(key, axes) for _, key, axes in sorted(ranked, key=lambda entry: entry[0])]


class _Making:
    """What the makers of one call share."""

    def __init__(self, site: Site, docker: Docker, commands: Commands, say: Say, given: Given) -> None:
        self._site, self._docker, self._commands, self._say = site, docker, commands, say
        self._given = given
        self._gates: dict[str, threading.Lock] = defaultdict(threading.Lock)

    def image(self, key: str, axes: Axes) -> Image | BuildFailure:
        """One image, or its failure."""
        make = self._ready if "image" in axes else self._built
        made = attempt(key, partial(make, key, axes), self._say)
        if isinstance(made, Image):
            note_use(self._site.cache, made.ref, built="image" not in axes)
        return self._given.unspoken(made) if isinstance(made, BuildFailure) else made

    def _built(self, key: str, axes: Axes) -> Image:
        recipe = make_recipe(axes, self._site, self._commands, self._say)
        found = have(recipe, self._docker)
        if found is None:
            # Two builds of the same torch layer at once would each make it: the second waits and shares it.
            with self._gates[text.digest([recipe.base.key, [wheel.identity for wheel in recipe.lock.torch]])]:
                secrets = self._given.secrets.get(key, {})
                found = build(recipe, self._site, self._docker, self._commands, self._say, secrets)
        observed = observe_image(found.id, PYTHON, self._site, self._docker)
        return Image(
            id=key, name=recipe.name, ref=found.id, axes=recipe.axes, observed=observed, ready=of_its_base(found)
        )

    def _ready(self, key: str, axes: Axes) -> Image:
        ref = axes["image"]
        found = self._docker.inspect(ref)
        if found is None:
            if ref.startswith("sha256:"):
                raise StageFailed(
                    Stage.READY,
                    f"this engine has no image of the id {ref[:19]}…",
                    hint="a local id cannot be pulled: name it repo@sha256:… to run it on any machine",
                )
            self._say(f"image {key}: pulling {ref}")
            try:
                pull(ref, self._site, self._docker)
            except StageFailed as failure:
                failure.stage = Stage.READY  # what is pulled otherwise is a base
                raise
            found = self._docker.inspect(ref)
        if found is None:
            raise StageFailed(Stage.READY, f"the engine does not have `{ref}` that it pulled")
        return ready_image(key, image_axes(axes), found, self._site, self._docker, self._commands, self._say)


def _failure(key: str, stage: Stage, problem: Exception, cause: Cause) -> BuildFailure:
    return BuildFailure(id=key, stage=stage, reason=text.one_line(f"{stage}: {problem}", 600), log_tail="", cause=cause)
