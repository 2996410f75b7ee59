"""`build`: the images of cells, and what is really in them."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli.admission import admit
from orchestrator.cli.inputs import plan_of, site_of, usable
from orchestrator.cli.options import (
    engine_option,
    file_option,
    jobs_option,
    json_option,
    options,
    select_option,
    tier_option,
)
from orchestrator.cli.output import keep_out, say, show, show_json
from orchestrator.errors import ExitCode
from orchestrator.vocabulary import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from orchestrator.model import Axes, Image, PlannedCell


@click.command()
@options(file_option, select_option, tier_option, engine_option, jobs_option, json_option)
def build(file: Path, select: tuple[str, ...], tier: str, engine: str | None, jobs: int, as_json: bool) -> None:
    """Build the images of the cells that this machine can run, or of those selected."""
    from orchestrator.engines.registry import ENGINES
    from orchestrator.images.failure import BuildFailure
    from orchestrator.images.given import Given
    from orchestrator.running.secret_files import laid_out
    from orchestrator.running.supply import supply

    planned, host = plan_of(file, select, tier, engine)
    possible = (cell for cell in planned.cells if cell.support.verdict is not Verdict.UNSUPPORTED)
    cells = [cell for cell in possible if select or cell.placement.placed]
    site = site_of(file)
    admit(cells, usable(host), site, None)
    ENGINES[host.engine]().sweep("build")  # of no run: what asks images for a build that was killed
    with laid_out(cells, os.environ, site.passwords) as secrets:
        keep_out(secrets.masker)
        given = Given(secrets=secrets.of(cells), masker=secrets.masker)
        made = supply(usable(host), _wanted(cells), site, jobs=jobs, say=say, given=given)
    failures = [image for image in made.values() if isinstance(image, BuildFailure)]
    if as_json:
        import msgspec

        show_json([msgspec.to_builtins(image) for image in made.values()])
    else:
        for name, image in made.items():
            show(f"{name}  " + (f"error: {image.reason}" if isinstance(image, BuildFailure) else _built(image)))
    if failures:
        sys.exit(ExitCode.INFRASTRUCTURE)
    others = [image for image in made.values() if not isinstance(image, BuildFailure) and _differences(image)]
    sys.exit(ExitCode.NOT_PASSED if others else ExitCode.GOOD)


def _wanted(cells: "Iterable[PlannedCell]") -> "dict[str, Axes]":
    from orchestrator.axes import image_axes

    return {cell.image: image_axes(cell.axes) for cell in cells}


def _differences(image: "Image") -> "Mapping[str, tuple[str, str]]":
    from orchestrator.axes import differences

    return differences(image.axes, image.observed)


def _built(image: "Image") -> str:
    """The image's name, and what is in it that was not asked for."""
    other = (f"{name}: requested {want}, observed {have}" for name, (want, have) in _differences(image).items())
    return "  ".join((image.name, *other))
