"""The order of an upgrade: single steps, each state supported, host apart from image; or why there is none."""

from collections.abc import Sequence
from itertools import islice

from orchestrator.axes import AXES, Where
from orchestrator.model import Axes, NearestGoal, Reason, Upgrade, UpgradeStep
from orchestrator.studies.aim import Aim
from orchestrator.studies.answers import Answers
from orchestrator.studies.ladder import Known, between, movable
from orchestrator.studies.repair import repairs
from orchestrator.studies.route import Route, route

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
    aim = Aim(answers=answers, lenient=allow_degraded)
    goal = {**start, **change}
    found = _route(aim, known, start, goal)
    return Upgrade(
        on=on,
        allow_degraded=allow_degraded,
        start=answers.state(start),
        goal=answers.state(goal),
        found=found.steps is not None,
        steps=_told(answers, start, found.steps or ()),
        blocked=None if found.steps is not None else _against(aim, found, goal),
        nearest=None if found.steps is not None else _nearest(aim, known, start, goal, change),
        asked=answers.asked,
        bounded=found.bounded,
    )


def is_of_host(name: str) -> bool:
    """Whether an axis belongs to a machine and not to what is installed in an image."""
    return AXES[name].where is Where.HOST or name in _OF_THE_HOST


def _route(aim: Aim, known: Known, start: Axes, goal: Axes) -> Route:
    differing = [name for name in AXES if start.get(name, "") != goal.get(name, "")]
    if differing and not aim.is_good(goal):
        return Route(steps=None, nearest=start, bounded=False)  # no way leads to what is refused itself
    return route(
        {name: value for name, value in start.items() if name not in differing},
        {name: between(name, start, goal, known) for name in differing},
        frozenset(filter(is_of_host, differing)),
        aim.is_good,
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


def _against(aim: Aim, found: Route, goal: Axes) -> Reason | None:
    """The rule in the way: of the goal itself, else of the next change that was left where the search came furthest."""
    if not aim.is_good(goal):
        return aim.answers.against(goal)
    left = [name for name in goal if found.nearest.get(name) != goal[name]]
    return next(filter(None, (aim.answers.against({**found.nearest, name: goal[name]}) for name in left)), None)


def _nearest(aim: Aim, known: Known, start: Axes, goal: Axes, change: Axes) -> NearestGoal | None:
    """The smallest other goal that can be reached; what was asked for gives way last."""
    others = repairs(aim, goal, movable(goal, known), dear=frozenset(change), most=_FEW)
    for other in islice(others, _GOALS_TRIED):
        instead = {**goal, **other.change}
        found = _route(aim, known, start, instead)
        if found.steps:
            state, steps = aim.answers.state(instead), _told(aim.answers, start, found.steps)
            return NearestGoal(change=other.change, state=state, steps=steps)
    return None
