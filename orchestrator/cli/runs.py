"""`runs`: the run folders, and removing those that nobody needs."""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator import text
from orchestrator.cli.options import json_option, runs_option
from orchestrator.cli.output import say, show, show_json
from orchestrator.cli.quantities import age_of, quantity, shown
from orchestrator.errors import ExitCode

if TYPE_CHECKING:
    from orchestrator.running.runs import ListedRun


@click.group()
def runs() -> None:
    """The folders of runs; nothing else is ever removed."""


@runs.command()
@runs_option
@json_option
def ls(runs: Path, as_json: bool) -> None:
    """List them, newest first: live, resumable, done."""
    from msgspec import to_builtins

    from orchestrator.running.runs import list_runs

    found = list_runs(runs)
    if as_json:
        show_json(to_builtins(found))
        return
    for run in found:
        show(_line(run))
    taken = "takes" if len(found) == 1 else "take"
    where = text.one_line(str(runs), 200)
    say(f"{text.counting(len(found), 'run')} in {where} {taken} {shown(sum(run.bytes for run in found))}")


@runs.command()
@click.option("--keep", type=click.IntRange(0), metavar="N", help="Only the N newest stay.")
@click.option("--max-age", metavar="AGE", callback=quantity(age_of), help="Older ones go: 30d, 2w, 12h.")
@click.option("--force", is_flag=True, help="Those that could still be resumed, too. A live run never goes.")
@click.option("--dry-run", is_flag=True, help="Say what would go, remove nothing.")
@runs_option
@json_option
def gc(keep: int | None, max_age: timedelta | None, force: bool, dry_run: bool, runs: Path, as_json: bool) -> None:
    """Remove old runs. With both options a run goes when either says so."""
    from msgspec import to_builtins
    from msgspec.structs import replace

    from orchestrator.running.runs import choose, clear, list_runs

    if keep is None and max_age is None:
        raise click.UsageError("which runs are too many? give `--keep N`, `--max-age 30d`, or both")
    done = choose(list_runs(runs), datetime.now(UTC), keep=keep, max_age=max_age, force=force)
    if not dry_run:
        done = clear(runs, done)
    if as_json:
        show_json(to_builtins(replace(done, dry_run=dry_run)))
    else:
        for run in done.removed:
            show(f"{'would remove' if dry_run else 'removed'}  {_line(run)}")
        for each in done.kept:
            show(f"kept  {each.run.id}: {text.one_line(each.why)}")
    if any(each.failed for each in done.kept):
        sys.exit(ExitCode.INFRASTRUCTURE)
    say(f"{text.counting(len(done.removed), 'run')}, {shown(done.bytes)}{' would be' if dry_run else ''} freed")


def _line(run: "ListedRun") -> str:
    cells = text.counting(run.cells, "cell")
    told = f"{run.id}  {run.state:9}  {run.done}/{cells}  {shown(run.bytes):>9}"
    return f"{told}  {text.one_line(run.damage)}" if run.damage else told
