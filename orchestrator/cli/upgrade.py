"""`upgrade`: in which order to change what."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator import text
from orchestrator.cli.changes import day_of, pairs_of
from orchestrator.cli.options import facts_option, file_option, json_option, on_option, options
from orchestrator.cli.output import colour, show, show_value, width
from orchestrator.cli.vendors import support_of
from orchestrator.errors import ExitCode, InputError

if TYPE_CHECKING:
    import datetime as dt

    from orchestrator.model import Axes
    from orchestrator.support.check import Support


@click.command()
@click.option("--from", "starts", multiple=True, metavar="KEY=VALUE", help="What is there; repeatable, or with commas.")
@click.option("--row", metavar="NAME", help="What is there is this production row, instead of --from.")
@click.option("--to", "goals", multiple=True, required=True, metavar="KEY=VALUE", help="What is to be there instead.")
@click.option("--allow-degraded", is_flag=True, help="A state that works in part, or outside vendor support, will do.")
@options(file_option, on_option, facts_option, json_option)
def upgrade(
    starts: tuple[str, ...],
    row: str | None,
    goals: tuple[str, ...],
    allow_degraded: bool,
    file: Path,
    on: str | None,
    overlays: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Find the order of an upgrade: one component a step, every state supported, host steps apart from image steps.

    \b
    torchmatrix upgrade --row train-h100 --to torch=2.15.0 --to torch_build=cu132
    torchmatrix upgrade --from torch=2.6.0,torch_build=cu124,driver=535,gpu=H100 --to torch_build=cu126,driver=580

    What --to does not name stays. No step goes back, values between may be passed through, and `none` takes an axis
    away. Where axes of the image cannot change one by one (torch and the torchvision that pins it), one step changes
    them together and says which rule ties them. Without a way, the rule against it is named, and the nearest goal that
    can be reached.

    Exits 0 when there is a way, 1 when there is none, 2 on bad input.
    """  # noqa: D301 - click reads \b as the character that it is
    if bool(starts) == bool(row):
        raise click.UsageError("give `--from KEY=VALUE` or `--row NAME`, and not both")
    from orchestrator.studies.answers import Answers
    from orchestrator.studies.upgrade import upgrade as find

    today = day_of(on)
    change = pairs_of(goals)
    start, support = _of_row(row, file, today, overlays) if row else _given(starts, today, overlays)
    found = find(
        Answers(support), support.facts.values, start, change, on=today.isoformat(), allow_degraded=allow_degraded
    )
    if as_json:
        show_value(found)
    else:
        from orchestrator.reports.upgrade_table import page

        show(page(found, width=width(), colour=colour()))
    sys.exit(ExitCode.GOOD if found.found else ExitCode.NOT_PASSED)


def _given(starts: tuple[str, ...], today: "dt.date", overlays: tuple[Path, ...]) -> "tuple[Axes, Support]":
    from orchestrator.support.check import Support
    from orchestrator.support.facts import load_facts

    return pairs_of(starts), Support(load_facts(overlays), on=today)


def _of_row(row: str, file: Path, today: "dt.date", overlays: tuple[Path, ...]) -> "tuple[Axes, Support]":
    """The cell of a production row, and what its matrix says beside the vendors."""
    from orchestrator import axes
    from orchestrator.cli.inputs import matrix

    read = matrix(file)
    cells = {each.name: axes.complete(each.axes) for each in read.production}
    if row not in cells:
        hint = axes.suggestion(row, cells)
        raise InputError(f"no production row is named `{text.shown(row)}`", place=read.file, hint=hint)
    return cells[row], support_of(read, file.parent, today, overlays)
