"""The order of an upgrade: single steps, each state supported, host apart from image; or why there is none."""

from collections.abc import Sequence
from itertools import islice

from orchestrator.axes import AXES, Where
from orchestrator.model import Axes, NearestGoal, Reason, Upgrade, UpgradeStep
from orchestrator.studies.answers import BEARABLE, GOOD, Answers
from orchestrator.studies.ladder import Known, between, movable
from orchestrator.studies.repair import repairs
from orchestrator.studies.route import Route, route
from orchestrator.vocabulary import Verdict

_OF_THE_HOST = frozenset({"driver_cuda", "amdgpu_driver", "gpu_arch", "gpu_class", "gpu_vendor", "kernel_modules"})
_GOALS_TRIED = 8
_FEW = 3  # axes in which another goal may differ


def upgrade(
    answers: Answers, known: Known, start: Axes, change: Axes, *, on: str, allow_degraded: bool = False
) -> Upgrade:
    """The steps that lead from `start` to it with `change`; the same arguments give the same steps.

    Every state after a step is supported, or degraded too with `allow_degraded`; the start is what it is. Values
    between the two ends are passed through where that helps. Without a way, the rule against it is named, and the
    nearest goal that can be reached.
    """
    wanted = BEARABLE if allow_degraded else GOOD
    goal = {**start, **change}
    found = _route(answers, known, start, goal, wanted)
    return Upgrade(
        on=on,
        allow_degraded=allow_degraded,
        start=answers.state(start),
        goal=answers.state(goal),
        found=found.steps is not None,
        steps=_told(answers, start, found.steps or ()),
        blocked=None if found.steps is not None else _against(answers, found, goal, wanted),
        nearest=None if found.steps is not None else _nearest(answers, known, start, goal, change, wanted),
        asked=answers.asked,
        bounded=found.bounded,
    )


def is_of_host(name: str) -> bool:
    """Whether an axis belongs to a machine and not to what is installed in an image."""
    return AXES[name].where is Where.HOST or name in _OF_THE_HOST


def _route(answers: Answers, known: Known, start: Axes, goal: Axes, wanted: frozenset[Verdict]) -> Route:
    differing = [name for name in AXES if start.get(name, "") != goal.get(name, "")]
    if answers.verdict(goal) not in wanted and differing:
        return Route(steps=None, nearest=start, bounded=False)  # no way leads to what is refused itself
    return route(
        {name: value for name, value in start.items() if name not in differing},
        {name: between(name, start, goal, known) for name in differing},
        frozenset(filter(is_of_host, differing)),
        lambda state: answers.verdict(state) in wanted,
    )


def _told(answers: Answers, start: Axes, steps: Sequence[Axes]) -> tuple[UpgradeStep, ...]:
    told = []
    before = dict(start)
    for number, change in enumerate(steps, start=1):
        alone = [answers.against({**before, name: value}) for name, value in change.items()] if len(change) > 1 else []
        before |= change
        told.append(
            UpgradeStep(
                number=number,
                where="host" if is_of_host(next(iter(change))) else "image",
                change=change,
                coupled=tuple(dict.fromkeys(reason for reason in alone if reason is not None)),
                state=answers.state(before),
            )
        )
    return tuple(told)


def _against(answers: Answers, found: Route, goal: Axes, wanted: frozenset[Verdict]) -> Reason | None:
    """The rule in the way: of the goal itself, else of the next change that was left where the search came furthest."""
    if answers.verdict(goal) not in wanted:
        return answers.against(goal)
    left = [name for name in goal if found.nearest.get(name) != goal[name]]
    return next(filter(None, (answers.against({**found.nearest, name: goal[name]}) for name in left)), None)


def _nearest(
    answers: Answers, known: Known, start: Axes, goal: Axes, change: Axes, wanted: frozenset[Verdict]
) -> NearestGoal | None:
    """The smallest other goal that can be reached; what was asked for gives way last."""
    ladders = movable(goal, known)
    others = repairs(
        answers, goal, ladders, lambda other: answers.verdict(other) in wanted, dear=frozenset(change), most=_FEW
    )
    for other in islice(others, _GOALS_TRIED):
        instead = {**goal, **other.change}
        found = _route(answers, known, start, instead, wanted)
        if found.steps:
            return NearestGoal(
                change=other.change, state=answers.state(instead), steps=_told(answers, start, found.steps)
            )
    return None
