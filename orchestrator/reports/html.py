"""A run as one page of HTML to keep: it opens offline, years later, and nothing in it can act.

Each value passes the text gate on its way into the page, then autoescape. The page has no script, and the policy that
it carries allows none.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from orchestrator import text
from orchestrator.formats import MetricRow
from orchestrator.model import Run
from orchestrator.reports import entries, overview
from orchestrator.vocabulary import Status, Tier

if TYPE_CHECKING:
    from jinja2 import Environment


def report(run: Run, metrics: Sequence[MetricRow] = (), resume: str = "", asked: Sequence[str] = ()) -> str:
    """The whole page; `metrics` are shown with the cells that they belong to, `resume` is the line that finishes it.

    `asked` are the options with which a cell is run again as it was.
    """
    every = entries.entries(run, metrics, asked)
    by_id = {entry.result.id: entry for entry in every}
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            run=run,
            last_day=overview.last_day(run),
            resume=resume,
            headline=overview.headline(run.results),
            verdict=overview.verdict(run),
            totals=overview.totals(run.results),
            known=overview.totals(result for result in run.results if result.known_issue),
            kinds=_KINDS,
            tiers={tier: sum(cell.tier is tier for cell in run.plan.cells) for tier in Tier},
            time=overview.span(sum(map(overview.seconds, run.results))),
            problems=[by_id[result.id] for result in overview.problems(run)],
            unfinished=entries.by_reason(run, overview.UNFINISHED),
            not_here=entries.by_reason(run, overview.NOT_HERE),
            left_out=entries.left_out(run),
            groups=entries.groups(every),
            issues=entries.issues(every),
            metrics_shown=entries.METRICS_SHOWN,
        )
    )


# How a status looks; the word itself always stands beside it.
_KINDS: dict[Status, str] = (
    dict.fromkeys(overview.PROBLEMS, "bad")
    | {Status.PASSED: "good", Status.FELL_BACK: "warn", Status.ERROR: "infra"}
    | dict.fromkeys(overview.UNFINISHED, "warn")
    | dict.fromkeys(overview.NOT_HERE, "away")
)


def is_link(address: str) -> bool:
    """Whether an address from outside may become a link: http or https, and nothing that hides where it goes."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc) and address == text.one_line(address, 2000)


def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("orchestrator.reports"),
        autoescape=True,  # always: a choice by the file's ending would not escape in a `.j2`
        undefined=StrictUndefined,
        finalize=_gated,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        line=text.one_line,
        block=_block,
        pairs=text.pairs,
        span=overview.span,
        size=overview.size,
        counting=text.counting,
        lasts=overview.lasts,
        cases=overview.cases,
        caused=overview.caused,
        seconds=overview.seconds,
    )
    environment.tests["link"] = is_link
    return environment


def _block(output: str) -> str:
    """What a cell printed: its colours and cursor movements taken out, its lines kept."""
    return text.terminal_lines(output, prefix="")


def _gated(value: object) -> object:
    """What an expression of the template gives, with nothing in it that hides or reorders what a reader sees."""
    if value is None:
        return ""
    return text.visible(str(value)) if isinstance(value, str) and not hasattr(value, "__html__") else value
