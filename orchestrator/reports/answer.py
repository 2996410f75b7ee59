"""The answer of `check` as plain text: the verdict, the reasons behind it, what else works, what was not known."""

from collections.abc import Iterable, Mapping, Sequence

from orchestrator import text
from orchestrator.axes import AXES, suggestion
from orchestrator.model import Alternative, Answer, Axes, Observation, Reason
from orchestrator.reports.columns import Column, Line, painted, table, wrap
from orchestrator.reports.columns import page as stacked
from orchestrator.reports.overview import in_column
from orchestrator.vocabulary import Verdict

COLOURS: Mapping[Verdict, str] = {
    Verdict.SUPPORTED: "32",
    Verdict.DEGRADED: "33",
    Verdict.UNSUPPORTED: "1;31",
    Verdict.UNKNOWN: "33",
}


def page(answer: Answer, asked: Axes, *, today: str, width: int, colour: bool) -> str:
    """What is known of the combination `asked`: the verdict and what is nearest first, then a table of the reasons.

    `today` (YYYY-MM-DD) tells an end of life that is past from one to come.
    """
    verdict = f"{answer.verdict.value}: {_pairs(asked)}"
    until = answer.supported_until
    ended = answer.verdict is Verdict.SUPPORTED and until is not None and until < today
    past = f"past its end of life since {text.one_line(until or '', 40)}: --on {today} counts it" if ended else ""
    return stacked(
        [
            *(painted(line, COLOURS[answer.verdict] if colour else "") for line in wrap(verdict, width)),
            *wrap(past, width),
            *(line for name in answer.ignored for line in wrap(_unread(name), width)),
        ],
        _nearest(answer.nearest, width, colour=colour),
        _reasons(answer.reasons, width, colour=colour),
        _facts(answer, today, width),
        _observed(answer.observed, width),
    )


def _reasons(reasons: Sequence[Reason], width: int, *, colour: bool) -> list[str]:
    columns = [Column(name=name) for name in ("verdict", "kind", "rule", "because", "source")]
    rows = [
        Line(
            values=(
                reason.verdict.value,
                reason.kind.value,
                text.one_line(reason.rule, 60),
                text.one_line(reason.because),
                text.one_line(f"{reason.source} ({reason.as_of})" if reason.as_of else reason.source, 200),
            ),
            colour=COLOURS[reason.verdict] if colour else "",
        )
        for reason in reasons
    ]
    return table(columns, rows, width)


def _nearest(nearest: Sequence[Alternative], width: int, *, colour: bool) -> list[str]:
    rows = [
        Line(values=(one.verdict.value, _pairs(one.change)), colour=COLOURS[one.verdict] if colour else "")
        for one in nearest
    ]
    return table([Column(name="nearest"), Column(name="change")], rows, width)


def _facts(answer: Answer, today: str, width: int) -> list[str]:
    told = (
        ("supported until", in_column(answer.supported_until, today)),
        ("not given, and could change the answer", _names(answer.missing)),
    )
    return [line for name, value in told if value for line in wrap(f"{name}: {value}", width)]


def _unread(name: str) -> str:
    near = suggestion(name, AXES) if name not in AXES else "its value says nothing that is known"
    return f"not read: {text.one_line(name, 80)}" + (f", {near}" if near else "")


def _pairs(axes: Axes) -> str:
    """`text.pairs`, of names that we did not make either."""
    return text.pairs({text.one_line(name, 60): value for name, value in axes.items()})


def _names(names: Iterable[str]) -> str:
    return ", ".join(text.one_line(name, 80) for name in names)


def _observed(observed: Sequence[Observation], width: int) -> list[str]:
    columns = [Column(name="our runs saw"), Column(name="run"), Column(name="cell")]
    rows = [
        Line(values=(one.status.value, text.one_line(one.run, 60), text.one_line(one.cell, 127))) for one in observed
    ]
    return table(columns, rows, width)
