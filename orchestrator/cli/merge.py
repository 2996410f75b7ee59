"""`merge`: the bundles of many jobs as one run."""

import sys
from pathlib import Path

import click

from orchestrator.cli.inputs import read_plan
from orchestrator.cli.options import json_option
from orchestrator.cli.report import report
from orchestrator.errors import InputError


@click.command()
@click.argument("bundles", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--plan", "plan_file", type=click.Path(path_type=Path), required=True, help="The plan they belong to.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder of the merged run.")
@click.option("--here", is_flag=True, help="An unplaced production row is no failure.")
@json_option
def merge(bundles: tuple[Path, ...], plan_file: Path, out: Path, here: bool, as_json: bool) -> None:
    """Merge bundles of many jobs into one run: in any order, any number of times, to the same bytes.

    A run that is being written takes no merge: its own would be lost, or this one.
    """
    from msgspec import to_builtins

    from orchestrator.results.merge import merge as merge_bundles
    from orchestrator.results.merge import write
    from orchestrator.results.outcome import exit_code
    from orchestrator.running import lock
    from orchestrator.text import digest

    for bundle in bundles:
        if not bundle.exists():
            raise InputError("no such bundle", place=str(bundle))
    # The page says which plan was merged, not where: the same bundles give the same bytes in every folder.
    plan = read_plan(plan_file)
    out.mkdir(parents=True, exist_ok=True)
    try:
        with lock.held(out):
            merged = merge_bundles(plan, bundles, run_id=f"merged-{digest(to_builtins(plan), 12)}")
            write(merged, bundles, out)
            report(merged, out, as_json=as_json)
    except lock.Taken as taken:
        raise InputError(taken.fact, place=str(out), hint="give `--out` another folder, or wait for it") from taken
    sys.exit(exit_code(merged, here=here))
