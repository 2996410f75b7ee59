"""`images`: those that torchmatrix made, and removing what is not needed."""

import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator import text
from orchestrator.cli.inputs import site_in_force
from orchestrator.cli.options import json_option, runs_option
from orchestrator.cli.output import say, show, show_json
from orchestrator.cli.quantities import bytes_of, quantity, shown
from orchestrator.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.images.gc import Kept
    from orchestrator.images.listing import ListedImage


@click.group()
def images() -> None:
    """The images that torchmatrix made; no other is ever looked at."""


@images.command()
@json_option
def ls(as_json: bool) -> None:
    """List them, least recently used first."""
    from contextlib import closing

    from msgspec import convert, to_builtins

    from orchestrator.engines.docker import connection
    from orchestrator.images.listing import ImageFacts, disk_use, list_images

    with closing(connection.client(os.environ)) as client:
        found = list_images(client, site_in_force().cache)
    if as_json:
        show_json(to_builtins(convert(to_builtins(found), tuple[ImageFacts, ...])))
        return
    for line in _lines(found):
        show(line)
    take = text.counting(len(found), "image takes", "images take")
    say(f"{take} {shown(disk_use(found))}: what they share is counted once")


@images.command()
@click.option(
    "--max-bytes", "most", required=True, metavar="SIZE", callback=quantity(bytes_of), help="20GB, 512MiB, 0."
)
@click.option("--dry-run", is_flag=True, help="Say what would go, remove nothing.")
@runs_option
@json_option
def gc(most: int, dry_run: bool, runs: Path, as_json: bool) -> None:
    """Remove the least recently used until all of ours take at most SIZE.

    An image stays while a container is made of it, while a run under --runs that can be resumed needs it, or when
    somebody gave it a name of his own: each such one is told, and so is what ours take beyond SIZE. What it shares with
    another image goes with the last of them.
    """
    from contextlib import closing

    from msgspec import convert, to_builtins

    from orchestrator.engines.docker import connection
    from orchestrator.images.gc import ClearingAnswer, choose, clear
    from orchestrator.images.listing import list_images
    from orchestrator.running.runs import list_runs

    needed = {image: f"run {run.id} needs it to be finished" for run in list_runs(runs) for image in run.images}
    with closing(connection.client(os.environ)) as client:
        found = list_images(client, site_in_force().cache)
        done = choose(found, most, needed)
        if not dry_run:
            done = clear(client, found, done)
    if as_json:
        show_json(to_builtins(convert({**to_builtins(done), "dry_run": dry_run}, ClearingAnswer)))
    else:
        for line in _lines(done.removed):
            show(f"{'would remove' if dry_run else 'removed'}  {line}")
        for kept in done.kept:
            show(f"kept  {_name(kept.image)}: {text.one_line(kept.why)}")
    verb = "would take" if dry_run else "take"
    say(f"{shown(done.before)} before, they {verb} {shown(done.after)}; the build cache of the engine is its own")
    if done.after > most:
        whys = "; ".join(f"{count} because {why}" for why, count in _whys(done.kept).items())
        say(f"warning: that is {shown(done.after - most)} more than {shown(most)}: {len(done.kept)} stay, {whys}")
    if any(kept.failed for kept in done.kept):
        sys.exit(ExitCode.INFRASTRUCTURE)


def _lines(found: "Iterable[ListedImage]") -> list[str]:
    return [
        f"{image.used[:19]}Z  {shown(image.size):>9}  {'base ' if not image.recipe else ''}{_name(image)}"
        + (f"  in use by {text.one_line(image.containers[0], 100)}" if image.containers else "")
        for image in found
    ]


def _whys(kept: "Iterable[Kept]") -> "dict[str, int]":
    return dict(Counter(text.one_line(each.why, 150) for each in kept))


def _name(image: "ListedImage") -> str:
    return text.one_line(image.names[0] if image.names else image.id, 150)
