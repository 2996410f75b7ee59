"""`compare`: is head worse than base, and could we have told?"""

import re
import sys
from typing import TYPE_CHECKING

import click

from orchestrator import text
from orchestrator.cli.measured import measured_in
from orchestrator.cli.options import json_option
from orchestrator.cli.output import colour, show, show_value, width
from orchestrator.errors import ExitCode, InputError

if TYPE_CHECKING:
    from orchestrator.model import PairedComparison


@click.command()
@click.option("--pairs", "pairs_file", metavar="FILE", help="CSV with the header base,head; `-` is stdin.")
@click.option("--calibration", metavar="FILE", help="The same of pairs in which both sides are the same image.")
@click.option("--margin", default="3%", show_default=True, metavar="SHARE", help="The loss that must not be missed.")
@click.option("--higher-is-better", is_flag=True, help="The numbers are rates, not times.")
@json_option
def compare(
    pairs_file: str | None, calibration: str | None, margin: str, higher_is_better: bool, as_json: bool
) -> None:
    """Say whether head is worse than base, from measured pairs of runs.

    \b
    torchmatrix compare --pairs pairs.csv
    torchmatrix compare --pairs pairs.csv --calibration same-image.csv --margin 2% --json

    A line of the file is one run of base and one of head, taken next to each other in an order that a coin chose; any
    unit will do. FAIL is a loss beyond chance (one of 1,000 comparisons of the same thing is called one) of at least
    half the margin, IMPROVED the same the other way, PASS rules a loss of the margin out. INCONCLUSIVE could not tell,
    and says what it could have; UNMEASURABLE has no noise to hold a change against. With 20 pairs of the same image as
    `--calibration`, 6 pairs at 1 % noise find what takes 10 without.

    Exits 0 unless the verdict is FAIL, which is 5; 2 on bad input.
    """  # noqa: D301 - click reads \b as the character that it is
    from orchestrator.model import PairedComparison
    from orchestrator.vocabulary import ComparisonVerdict

    try:
        promised = _share_of(margin)
        told, differences = _compared(pairs_file, calibration, promised, higher_is_better=higher_is_better)
    except InputError as error:
        if as_json:
            unmeasurable = ComparisonVerdict.UNMEASURABLE
            show_value(
                PairedComparison(
                    verdict=unmeasurable,
                    effect=None,
                    interval=None,
                    smallest_detectable=None,
                    pairs=0,
                    why=text.visible(str(error)),
                )
            )
        raise
    if as_json:
        show_value(told)
    else:
        from orchestrator.reports.measured import comparison_page

        better = "higher" if higher_is_better else "lower"
        show(comparison_page(told, differences, better=better, margin=promised, width=width(), colour=colour()))
    sys.exit(ExitCode.REGRESSION if told.verdict is ComparisonVerdict.FAIL else ExitCode.GOOD)


def _compared(
    pairs_file: str | None, calibration: str | None, margin: float, *, higher_is_better: bool
) -> "tuple[PairedComparison, list[float]]":
    from orchestrator.results.measurements import read_pairs
    from orchestrator.results.statistics import Design, compare, log_ratios

    if pairs_file == calibration == "-":
        raise InputError("stdin is one file, and cannot be both", place="--calibration", hint="name a file")
    pairs = read_pairs(*measured_in(pairs_file, "--pairs"))
    same = read_pairs(*measured_in(calibration, "--calibration")) if calibration is not None else None
    known = list(zip(same.base, same.head, strict=True)) if same else []
    design = Design(margin=margin, higher_is_better=higher_is_better)
    return compare(pairs.base, pairs.head, design, known), log_ratios(pairs.base, pairs.head).tolist()


def _share_of(written: str) -> float:
    """The share of `3%`, `3 %` or `0.03`; InputError unless it lies between nothing and all."""
    found = re.fullmatch(r"\s*(\d{0,6}(?:\.\d{0,9})?)\s*(%?)\s*", written, re.ASCII)
    share = float(found[1]) / (100 if found[2] else 1) if found and found[1].strip(".") else 0.0
    if not 0 < share < 1:
        fact = f"`{text.shown(written)}` is no share between 0 and 100 %"
        raise InputError(fact, place="--margin", hint="write it as 3% or as 0.03")
    return share
