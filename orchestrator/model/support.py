"""What vendors say of a combination."""

from typing import Literal

from msgspec import Struct

from orchestrator.model.ground import Axes
from orchestrator.vocabulary import RuleKind, Status, Verdict


class Reason(Struct, frozen=True, kw_only=True):
    """One thing that a vendor says of a combination: `rule` is its topic, `axes` are those that it spoke of."""

    kind: RuleKind
    rule: str
    axes: tuple[str, ...]
    verdict: Verdict
    because: str
    source: str
    as_of: str


class Alternative(Struct, frozen=True, kw_only=True):
    """A combination near the one that was asked: what to change, and the verdict that the change gives."""

    change: Axes
    verdict: Verdict


class Observation(Struct, frozen=True, kw_only=True):
    """What a run of ours saw of a combination."""

    run: str
    cell: str
    status: Status
    axes: Axes


class Answer(Struct, frozen=True, kw_only=True):
    """What vendors say of a combination, the deciding reasons first.

    `missing` are axes that were not given and could change the verdict; `ignored` are those that could not be read.
    """

    verdict: Verdict
    reasons: tuple[Reason, ...]
    supported_until: str | None
    nearest: tuple[Alternative, ...] = ()
    missing: tuple[str, ...] = ()
    observed: tuple[Observation, ...] = ()
    ignored: tuple[str, ...] = ()


class Difference(Struct, frozen=True, kw_only=True):
    """One thing that was learned of a wheel or an image, beside what was believed.

    `believed` and `source` are empty where nothing was.
    """

    axis: str
    rule: str
    state: Literal["same", "new", "differs"]
    learned: str
    believed: str
    source: str
