"""`history`: did this series change?"""

import sys
from typing import TYPE_CHECKING

import click

from orchestrator import text
from orchestrator.cli.measured import measured_in
from orchestrator.cli.options import json_option
from orchestrator.cli.output import colour, show, show_value, width
from orchestrator.errors import ExitCode, InputError

if TYPE_CHECKING:
    from orchestrator.model import Trend
    from orchestrator.results.measurements import Series


@click.command()
@click.option("--series", "series_file", metavar="FILE", help="CSV with the header time,value; `-` is stdin.")
@json_option
def history(series_file: str | None, as_json: bool) -> None:
    """Say where a series of measurements changed its level, for better or for worse.

    \b
    torchmatrix history --series nightly.csv
    torchmatrix history --series nightly.csv --json

    A time is a number or ISO 8601, the oldest first; any unit will do for the values. A change is told from 33 points
    on. A step of 5 % at 1 % noise is flagged by its third point; outliers, points that follow their neighbours, and
    machines of two speeds that come in turn are not. A flag asks for `torchmatrix compare`; it is no verdict.

    Exits 0 when nothing changed, 5 when something did, 2 on bad input.
    """  # noqa: D301 - click reads \b as the character that it is
    from orchestrator.model import Trend

    try:
        told, series = _told(series_file)
    except InputError as error:
        if as_json:
            show_value(Trend(flags=None, points=0, why=text.visible(str(error))))
        raise
    if as_json:
        show_value(told)
    else:
        from orchestrator.reports.measured import trend_page

        show(trend_page(told, series.values, width=width(), colour=colour()))
    sys.exit(ExitCode.REGRESSION if told.flags else ExitCode.GOOD)


def _told(series_file: str | None) -> "tuple[Trend, Series]":
    from orchestrator.results.measurements import read_series
    from orchestrator.results.trend import trend

    series = read_series(*measured_in(series_file, "--series"))
    return trend(series.values, series.times), series
