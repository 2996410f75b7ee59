"""One thing that a rule says of a question, before it is told as a Reason."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from orchestrator.model import Reason, Rule
from orchestrator.support.conditions import alternatives
from orchestrator.support.rows import Conditions
from orchestrator.vocabulary import WORST_FIRST, RuleKind, Verdict


class Said(Struct, frozen=True, kw_only=True, gc=False):
    """A verdict with what it rests on. `because` empty: only the `missing` axes are to be told.

    `need` makes `because` a template: it is filled only for an answer that is told.
    """

    kind: RuleKind
    rule: str
    rank: int
    verdict: Verdict
    axes: tuple[str, ...] = ()
    because: str = ""
    need: Conditions | None = None
    aside: str = ""
    source: str = ""
    as_of: str = ""
    missing: tuple[str, ...] = ()
    until: str = ""
    scope: tuple[str, ...] = ()
    proves: bool = True

    def reason(self, shown: Mapping[str, str]) -> Reason:
        """The same for an answer; `shown` is what was said of each axis."""
        because = self.because if self.need is None else filled(self.because, shown, _allowed(self.need))
        return Reason(
            kind=self.kind,
            rule=self.rule,
            axes=self.axes,
            verdict=self.verdict,
            because=because + (f" ({self.aside})" if self.aside else ""),
            source=self.source,
            as_of=self.as_of,
        )


def of_site_rule(rule: Rule) -> Said:
    """What a site's own rule says of what it forbids: the first thing to be told."""
    return Said(
        kind=RuleKind.SITE_RULE,
        rule=RuleKind.SITE_RULE,
        rank=0,
        verdict=Verdict.UNSUPPORTED,
        axes=tuple(rule.forbid),
        because=rule.because,
        source=", ".join(filter(None, (rule.source, f"{rule.place.file}:{rule.place.line}"))),
    )


def worst(said: Iterable[Said]) -> Verdict | None:
    """The verdict of all together: a refusal outweighs a doubt, a doubt a restriction; None when nothing was said."""
    found = {each.verdict for each in said if each.because}
    return next((verdict for verdict in WORST_FIRST if verdict in found), None)


def in_order(said: Iterable[Said], verdict: Verdict) -> list[Said]:
    """The deciding ones first, then the graver, each by the rank of its rule."""
    told = [each for each in said if each.because]
    return sorted(told, key=lambda each: (each.verdict is not verdict, WORST_FIRST.index(each.verdict), each.rank))


def filled(template: str, shown: Mapping[str, str], allowed: str = "") -> str:
    """A sentence with `{axis}` in it replaced by what was said of the axis; text that is data is never a template."""
    parts = template.split("{")
    out = [parts[0]]
    for part in parts[1:]:
        name, closed, rest = part.partition("}")
        if closed:
            out.append(allowed if name == "allowed" else shown.get(name, "any"))
            out.append(rest)
        else:
            out.append("{" + part)
    return "".join(out)


def _allowed(need: Conditions) -> str:
    return "; ".join(", ".join(alternatives(condition)) for condition in need.values())
