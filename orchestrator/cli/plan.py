"""`plan` and `render`: what would run, and in which image."""

from pathlib import Path

import click

from orchestrator.cli.asked import today
from orchestrator.cli.inputs import matrix, plan_of
from orchestrator.cli.options import TIERS, engine_option, file_option, json_option, options, select_option, tier_option
from orchestrator.cli.output import colour, show, show_json, width
from orchestrator.cli.vendors import support_of


@click.command()
@options(file_option, select_option, tier_option, engine_option, json_option)
def plan(file: Path, select: tuple[str, ...], tier: str, engine: str | None, as_json: bool) -> None:
    """Show the cells of the matrix: why each is in, where it runs, what the whole will cost."""
    from orchestrator.planning.plan import plan_json

    planned, _ = plan_of(file, select, tier, engine)
    if as_json:
        show(plan_json(planned).decode().rstrip("\n"))
    else:
        from orchestrator.reports.plan_table import plan_table

        show(plan_table(planned, width=width(), colour=colour(), today=today()))


@click.command()
@options(file_option, json_option)
@click.option("--cell", metavar="ID", required=True, help="A cell's id or name.")
def render(file: Path, cell: str, as_json: bool) -> None:
    """Print the Containerfile of a cell's image."""
    from orchestrator.images.recipe import render as render_recipe
    from orchestrator.planning.plan import make_plan

    read = matrix(file)
    chosen = make_plan(read, None, tiers=TIERS["all"], select=(cell,), support=support_of(read, file.parent)).cells[0]
    rendered = render_recipe(chosen.axes)
    show_json({"cell": chosen.id, "image": chosen.image, "containerfile": rendered}) if as_json else show(rendered)
