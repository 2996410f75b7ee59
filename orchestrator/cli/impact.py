"""`impact`: what a change, or the time, does to production."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator import text
from orchestrator.cli.changes import day_of, of_cells, pairs_of
from orchestrator.cli.inputs import host_of, matrix, observed_in
from orchestrator.cli.options import file_option, json_option, on_option, options, runs_option
from orchestrator.cli.output import colour, show, show_value, width
from orchestrator.cli.vendors import support_of
from orchestrator.errors import ExitCode, InputError

if TYPE_CHECKING:
    import datetime as dt

    from orchestrator.model import Impact, Plan


@click.command()
@click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="What changes; repeatable, or with commas.")
@click.option("--horizon", metavar="SPAN", help="What ends within 90d, 12m or 2y, instead of a change.")
@click.option("--rows", multiple=True, metavar="GLOB", help="Only rows whose name or cell id matches; repeatable.")
@click.option(
    "--plan-out",
    type=click.Path(path_type=Path),
    default=Path("impact-plan.json"),
    show_default=True,
    help="Where the plan of the cells to test goes.",
)
@options(file_option, on_option, runs_option, json_option)
def impact(
    sets: tuple[str, ...],
    horizon: str | None,
    rows: tuple[str, ...],
    plan_out: Path,
    file: Path,
    on: str | None,
    runs: Path,
    as_json: bool,
) -> None:
    """Say what a change does to each production row, what must move with it, and what testing it costs.

    \b
    torchmatrix impact --set driver=580
    torchmatrix impact --set torch=2.15.0,torch_build=cu132 --rows 'train-*'
    torchmatrix impact --horizon 12m

    A row takes what it can: `driver` is nothing to a row without a GPU, a CUDA build nothing to one on AMD. What moves
    with it is the smallest further change with which vendors support the row. The plan file has each row as it would
    be, where vendors say that it can run: `torchmatrix run --plan FILE` tests it. `--horizon` asks what is past its end
    of life on the later day, what ends first coming first.

    Exits 0 when every row that is concerned is supported as it would be, or no less than before, 1 when one is not, 2
    on bad input.
    """  # noqa: D301 - click reads \b as the character that it is
    if bool(sets) == bool(horizon):
        raise click.UsageError("give `--set KEY=VALUE` or `--horizon SPAN`, and not both")
    _refuse_what_is_no_plan(plan_out)
    change = of_cells(pairs_of(sets))
    told, plan = _asked(change, horizon, rows, plan_out, file, day_of(on), runs)
    _write(plan, plan_out)
    if as_json:
        show_value(told)
    else:
        from orchestrator.reports.impact_table import page

        show(page(told, width=width(), colour=colour()))
    sys.exit(ExitCode.NOT_PASSED if any(row.moves or row.blocked for row in told.rows) else ExitCode.GOOD)


def _asked(
    change: dict[str, str],
    horizon: str | None,
    rows: tuple[str, ...],
    plan_out: Path,
    file: Path,
    today: "dt.date",
    runs: Path,
) -> "tuple[Impact, Plan]":
    from orchestrator.model import Impact
    from orchestrator.planning.asking import Asking
    from orchestrator.planning.expand import Expansion
    from orchestrator.studies.answers import Answers
    from orchestrator.studies.horizon import day_after
    from orchestrator.studies.impact import Production, of_change, of_time
    from orchestrator.studies.trial import trial, untested

    later = day_after(today, horizon) if horizon else None
    read = matrix(file)
    now = support_of(read, file.parent, today)
    then = support_of(read, file.parent, later) if later else now
    production = Production(matrix=read, facts=now.facts, seen=observed_in(runs).of, rows=rows)
    answers = Answers(now)
    found = of_time(production, answers, Answers(then), later) if later else of_change(production, change, answers)
    pythons = frozenset(row.final.axes.get("python", "") for row in found)
    plan = trial(found, Expansion(matrix=read, host=host_of(None, pythons), asking=Asking(then, read.rules)))
    told = Impact(
        matrix=read.file,
        on=today.isoformat(),
        change=change,
        later=later.isoformat() if later else None,
        rows=found,
        cost=untested(plan, found, read.runners),
        plan=str(plan_out),
    )
    return told, plan


def _refuse_what_is_no_plan(file: Path) -> None:
    """A slip in `--plan-out` must not cost a matrix: an earlier plan is replaced, anything else is left alone."""
    from orchestrator.results.merge import read_plan

    if not file.exists():
        return
    try:
        read_plan(file)
    except InputError as error:
        raise InputError(
            "there is a file that is no plan", place=text.shown(str(file)), hint="name another with `--plan-out`"
        ) from error


def _write(plan: "Plan", file: Path) -> None:
    """The plan file, whole or as it was."""
    from orchestrator.planning.plan import plan_json
    from orchestrator.results.files import replacing

    with replacing(file) as half:
        half.write_bytes(plan_json(plan))
