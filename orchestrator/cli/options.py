"""The options that several verbs share."""

from collections.abc import Callable, Mapping
from pathlib import Path

import click

from orchestrator.vocabulary import Tier

TIERS: Mapping[str, frozenset[Tier]] = {
    "production": frozenset({Tier.PRODUCTION}),
    "edge": frozenset({Tier.EDGE}),
    "all": frozenset(Tier),
}
_Command = Callable[..., None]


def options(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """One decorator for several options, shown in the order given."""

    def apply(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return apply


file_option = click.option(
    "--matrix",
    "file",
    type=click.Path(path_type=Path),
    default=Path("matrix.yaml"),
    help="The matrix.",
    show_default=True,
)
select_option = click.option(
    "--select", multiple=True, metavar="GLOB", help="Only cells whose id or name matches; repeatable."
)
tier_option = click.option("--tier", type=click.Choice(sorted(TIERS)), default="production", show_default=True)
engine_option = click.option(
    "--engine", type=click.Choice(["docker", "process", "here"]), help="Default: docker, else process."
)
json_option = click.option("--json", "as_json", is_flag=True, help="For machines.")
jobs_option = click.option(
    "--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Images built at once."
)
facts_option = click.option(
    "--facts",
    "overlays",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Facts of your own over those shipped; repeatable.",
)
on_option = click.option("--on", metavar="DATE", help="The day that is asked about, YYYY-MM-DD.")
runs_option = click.option(
    "--runs", type=click.Path(path_type=Path), default=Path("runs"), show_default=True, help="Runs to look through."
)
