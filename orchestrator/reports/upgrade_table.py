"""The way from one combination to another as plain text: one line a step, or the rule in the way."""

from collections.abc import Sequence

from orchestrator import text
from orchestrator.model import Axes, Reason, State, Upgrade, UpgradeStep
from orchestrator.reports.answer import COLOURS
from orchestrator.reports.columns import Column, Line, fenced, painted, table, wrap
from orchestrator.reports.columns import page as stacked
from orchestrator.reports.overview import in_column, lasting
from orchestrator.reports.said import because, deciding
from orchestrator.vocabulary import WORKS, Verdict


def page(upgrade: Upgrade, *, width: int, colour: bool) -> str:
    """The steps, or why there are none and the nearest goal with its own."""
    return stacked(
        [painted(line, _colour_of(upgrade) if colour else "") for line in wrap(_headline(upgrade), width)],
        [
            *_end("from", upgrade.start, upgrade.start.axes, upgrade.on, width),
            *_end("to", upgrade.goal, _new(upgrade), upgrade.on, width, upgrade.blocked),
        ],
        _against(upgrade, width),
        _steps(upgrade.steps, upgrade.on, width, colour=colour),
        _nearest(upgrade, width, colour=colour),
    )


def _headline(upgrade: Upgrade) -> str:
    if not upgrade.found:
        return "There is no way of supported steps" + (", as far as was searched" if upgrade.bounded else "")
    if not upgrade.steps:
        return "There is nothing to do: it is there already"
    on_host = sum(step.where == "host" for step in upgrade.steps)
    steps = text.counting(len(upgrade.steps), "step")
    return f"{steps}, {on_host} on the host, {len(upgrade.steps) - on_host} in the image"


def _colour_of(upgrade: Upgrade) -> str:
    return COLOURS[Verdict.SUPPORTED if upgrade.found else Verdict.UNSUPPORTED]


def _end(name: str, state: State, shown: Axes, on: str, width: int, told_below: Reason | None = None) -> list[str]:
    """One end of the way with its verdict, and why where it is not supported."""
    works = state.verdict in WORKS
    said = lasting(state.verdict.value, state.supported_until if works else None, on)
    lines = wrap(f"{name:5}{said}: {text.pairs(shown)}", width)
    if state.verdict is Verdict.SUPPORTED:
        return lines
    reasons = (reason for reason in deciding(state) if reason != told_below)
    return lines + [line for reason in reasons for line in fenced(because(reason), width)]


def _new(upgrade: Upgrade) -> Axes:
    start = upgrade.start.axes
    return {name: value for name, value in upgrade.goal.axes.items() if start.get(name) != value}


def _against(upgrade: Upgrade, width: int) -> list[str]:
    if upgrade.blocked is None:
        return []
    as_of = f" ({upgrade.blocked.as_of})" if upgrade.blocked.as_of else ""
    source = text.one_line(upgrade.blocked.source + as_of, 200)
    hint = upgrade.goal.verdict is Verdict.DEGRADED and not upgrade.allow_degraded
    return [
        "in the way",
        *fenced(because(upgrade.blocked), width),
        *(fenced(source, width) if source else []),
        *_missing(upgrade.goal, width),
        *(["With --allow-degraded, what works outside vendor support counts too."] if hint else []),
    ]


def _missing(state: State, width: int) -> list[str]:
    """What to say more of, where it is not known whether a combination is supported."""
    if state.verdict is not Verdict.UNKNOWN or not state.missing:
        return []
    return wrap(f"not given, and could change the answer: {', '.join(state.missing)}", width)


def _steps(steps: Sequence[UpgradeStep], on: str, width: int, *, colour: bool) -> list[str]:
    columns = [Column(name=name) for name in ("step", "on the", "change", "then", "supported until")]
    return table(columns, [_line(step, on, colour=colour) for step in steps], width)


def _line(step: UpgradeStep, on: str, *, colour: bool) -> Line:
    return Line(
        values=(
            str(step.number),
            step.where,
            text.pairs(step.change),
            step.state.verdict.value,
            in_column(step.state.supported_until, on),
        ),
        below=tuple(f"together: {because(reason)}" for reason in step.coupled),
        colour=COLOURS[step.state.verdict] if colour else "",
    )


def _nearest(upgrade: Upgrade, width: int, *, colour: bool) -> list[str]:
    if upgrade.nearest is None:
        return [] if upgrade.found else ["Nothing near the goal can be reached either."]
    head = f"The nearest goal that can be reached has {text.pairs(upgrade.nearest.change)}:"
    return [*wrap(head, width), *_steps(upgrade.nearest.steps, upgrade.on, width, colour=colour)]
