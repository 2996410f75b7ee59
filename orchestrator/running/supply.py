"""What cells run in: an image for docker, a venv for the process engine, the interpreter that is there for `here`."""

import sys
from collections.abc import Callable, Mapping
from functools import partial

import msgspec

from orchestrator.images.failure import BuildFailure, Stage
from orchestrator.images.given import NO_MORE, Given
from orchestrator.model import Axes, Image
from orchestrator.settings import Site
from orchestrator.vocabulary import Cause

# A second try can only help where the first may have met a network or an engine in trouble.
TRIED_TWICE = frozenset({Cause.BUILD, Cause.ENGINE})

Supply = Mapping[str, Image | BuildFailure]


def supply(
    engine: str,
    wanted: Mapping[str, Axes],
    site: Site,
    *,
    jobs: int,
    say: Callable[[str], None],
    given: Given = NO_MORE,
) -> Supply:
    """An image, or why there is none, for each image id that is wanted; what failed is tried once more, visibly."""
    prepare = partial(_prepare, engine, site=site, jobs=jobs, say=say, given=given)
    made = dict(prepare(wanted))
    again = {
        name: wanted[name]
        for name, made_one in made.items()
        if isinstance(made_one, BuildFailure) and _retried(made_one)
    }
    if not again:
        return made
    for name in again:
        say(f"{name} could not be prepared, trying once more")
    second = prepare(again)
    return made | {name: _second(outcome) for name, outcome in second.items()}


def _prepare(
    engine: str, wanted: Mapping[str, Axes], *, site: Site, jobs: int, say: Callable[[str], None], given: Given
) -> Supply:
    if not wanted:
        return {}
    if engine == "docker":
        from orchestrator.images.prepare import prepare_images

        return prepare_images(wanted, site, jobs=jobs, say=say, given=given)
    if engine == "process":
        from orchestrator.images.prepare import prepare_venvs

        return prepare_venvs(wanted, site, say=say, given=given)
    return {
        name: Image(id=name, name="here", ref=sys.executable, axes=axes, observed={}) for name, axes in wanted.items()
    }


def _retried(failure: BuildFailure) -> bool:
    # What is asked for wrongly is so the second time too.
    return failure.cause in TRIED_TWICE and failure.stage is not Stage.RECIPE


def _second(outcome: Image | BuildFailure) -> Image | BuildFailure:
    if isinstance(outcome, BuildFailure):
        return msgspec.structs.replace(outcome, reason=f"{outcome.reason} (tried twice)")
    return outcome
