"""`facts`: what is known of vendors, and how old it is."""

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli.learn import learn
from orchestrator.cli.options import facts_option, json_option, options
from orchestrator.cli.output import colour, say, show, show_json, width
from orchestrator.errors import NothingSelected

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.reports.facts import Fact, RuleAge
    from orchestrator.support.facts import Known

OLD_DAYS = 90


@click.group(invoke_without_command=True)
@options(facts_option, json_option)
@click.option("--rule", metavar="GLOB", help="Only rows of these rules, one by one.")
@click.option("--source", metavar="TEXT", help="Only rows whose source has this in it, one by one.")
@click.pass_context
def facts(
    context: click.Context, overlays: tuple[Path, ...], as_json: bool, rule: str | None, source: str | None
) -> None:
    """Show what is known of vendors: rules, rows, and the age of the oldest; what is 90 days old is told.

    \b
    torchmatrix facts --rule 'driver-*'
    torchmatrix facts learn torch-2.6.0-cp311-cp311-manylinux1_x86_64.whl
    """  # noqa: D301 - click reads \b as the character that it is
    if context.invoked_subcommand is not None:
        return
    from orchestrator.support.facts import load_facts

    today = dt.datetime.now(tz=dt.UTC).date()
    known = [one for one in load_facts(overlays).rows() if _is_meant(one, rule, source)]
    if not known:
        raise NothingSelected("no fact matches", hint="`torchmatrix facts` lists the rules")
    ages = rule_ages(known, today)
    _warn(ages)
    if as_json:
        show_json([_told(one, today) for one in known])
    elif rule is None and source is None:
        from orchestrator.reports.facts import rules

        show(rules(ages, width=width(), colour=colour()))
    else:
        from orchestrator.reports.facts import facts as page

        show(page([_shown(one) for one in known], width=width()))


def _is_meant(known: "Known", rule: str | None, source: str | None) -> bool:
    import fnmatch

    if rule is not None and not fnmatch.fnmatchcase(known.rule.name, rule):
        return False
    return source is None or source.casefold() in f"{known.row.source} {known.source.text}".casefold()


def rule_ages(known: "Sequence[Known]", today: dt.date) -> "list[RuleAge]":
    """Each rule with the age of its oldest row, the oldest first, those of no known age last."""
    from orchestrator.reports.facts import RuleAge

    by_rule: dict[tuple[str, str], list[Known]] = {}
    for one in known:
        by_rule.setdefault((one.rule.name, one.rule.kind.value), []).append(one)
    made = []
    for (name, kind), rows in by_rule.items():
        oldest = min((day for one in rows if (day := one.as_of)), default="")
        age = age_of(oldest, today)
        made.append(
            RuleAge(
                rule=name, kind=kind, rows=len(rows), oldest=oldest, age=age, old=age is not None and age >= OLD_DAYS
            )
        )
    return sorted(made, key=lambda each: (each.age is None, -(each.age or 0), each.rule))


def age_of(day: str, today: dt.date) -> int | None:
    """How many days ago a day is, None for one that cannot be read."""
    try:
        return (today - dt.date.fromisoformat(day)).days
    except ValueError:
        return None


def _warn(ages: "Sequence[RuleAge]") -> None:
    if old := [age.rule for age in ages if age.old]:
        named = ", ".join(dict.fromkeys(old))
        say(f"note: facts that are {OLD_DAYS} days old or more: {named}; `torchmatrix facts learn` reads newer ones")


def _shown(known: "Known") -> "Fact":
    from orchestrator.reports.facts import Fact

    row = known.row
    needs = [_conditions(need) for need in ((row.need,) if row.need else row.need_any)]
    says = " or ".join(needs) or ("" if row.until else row.otherwise.value)
    return Fact(
        rule=known.rule.name,
        when=_conditions(row.when),
        says="; ".join(each for each in (says, f"ends {row.until}" if row.until else "") if each),
        source=known.source.text,
        evidence=known.evidence.value,
        as_of=known.as_of,
    )


def _conditions(conditions: "Mapping[str, str | tuple[str, ...]]") -> str:
    return " ".join(f"{axis}={each if isinstance(each, str) else '|'.join(each)}" for axis, each in conditions.items())


def _told(known: "Known", today: dt.date) -> "dict[str, object]":
    from msgspec import to_builtins

    row: dict[str, object] = to_builtins(known.row)
    told = {"rule": known.rule.name, "kind": known.rule.kind.value, **row}
    source = {"source": known.source.text, "evidence": known.evidence.value, "as_of": known.as_of}
    return {**told, **source, "age_days": age_of(known.as_of, today)}


facts.add_command(learn)
