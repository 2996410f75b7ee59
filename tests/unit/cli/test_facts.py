"""`facts`: what is known and how old it is."""

import datetime as dt
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.cli.facts import OLD_DAYS, age_of, rule_ages
from orchestrator.errors import ExitCode
from orchestrator.support.facts import Known
from orchestrator.support.rows import Row, Rule, Source
from orchestrator.vocabulary import Evidence, RuleKind

Run = Callable[..., subprocess.CompletedProcess[str]]
TODAY = dt.date(2026, 11, 29)


def known(rule: str, *, source_day: str = "", row_day: str = "") -> Known:
    row = Row(need={}, source="s", as_of=row_day)
    made = Rule(name=rule, kind=RuleKind.PIN, rank=1, yes="y", no="n", rows=(row,))
    return Known(made, row, Source(text="t", evidence=Evidence.ISSUE, as_of=source_day))


def test_a_rule_is_as_old_as_its_oldest_row() -> None:
    rows = [
        known("a", source_day="2026-11-01"),
        known("a", source_day="2020-01-01", row_day="2026-10-30"),
        known("b", source_day="2026-08-31"),
        known("c"),
        known("d", source_day="2026-09-01"),
    ]
    ages = rule_ages(rows, TODAY)
    assert [(age.rule, age.rows, age.age, age.old) for age in ages] == [
        ("b", 1, OLD_DAYS, True),
        ("d", 1, OLD_DAYS - 1, False),
        ("a", 2, 30, False),
        ("c", 1, None, False),
    ]


@pytest.mark.parametrize("day", ["", "soon", "2026-13-01"])
def test_a_day_that_is_none_is_no_age(day: str) -> None:
    assert age_of(day, TODAY) is None


def test_every_rule_is_listed_with_its_rows(torchmatrix: Run) -> None:
    done = torchmatrix("facts")
    every = json.loads(torchmatrix("facts", "--json").stdout)
    assert done.returncode == 0
    rows, rules = len(every), len({(row["rule"], row["kind"]) for row in every})
    assert done.stdout.startswith(f"{rows} rows in {rules} rules\n")
    assert all(row["rule"] in done.stdout for row in every)
    assert {"rule", "kind", "source", "evidence", "as_of", "age_days"} <= every[0].keys()


def test_old_facts_are_told_where_nobody_parses(torchmatrix: Run, tmp_path: Path) -> None:
    overlay = (
        "sources: {s: {text: mine, evidence: issue, as_of: '2001-01-01'}}\n"
        "rules: [{name: ancient, kind: pin, rank: 1, yes: y, no: n, rows: [{when: {torch: '0.1'}, source: s}]}]\n"
    )
    (tmp_path / "own.yaml").write_text(overlay)
    done = torchmatrix("facts", "--facts", "own.yaml", "--rule", "ancient")
    assert done.stderr.startswith(f"note: facts that are {OLD_DAYS} days old or more: ancient; ")
    assert done.stdout.startswith("1 row\n")
    assert "issue, 2001-01-01: mine" in done.stdout
    assert "torch=0.1  unsupported" in done.stdout


def test_rows_are_chosen_by_rule_and_by_source(torchmatrix: Run) -> None:
    every = json.loads(torchmatrix("facts", "--json").stdout)
    arch = json.loads(torchmatrix("facts", "--rule", "arch-*", "--json").stdout)
    assert arch == [row for row in every if row["rule"].startswith("arch-")]
    measured = json.loads(torchmatrix("facts", "--source", "MEASURED", "--json").stdout)
    assert 0 < len(measured) < len(every)
    assert all("measured" in row["source"].casefold() for row in measured)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--rule", "nothing"), ExitCode.NOTHING_SELECTED, "no fact matches"),
        (("--facts", "absent.yaml"), ExitCode.BAD_INPUT, "absent.yaml"),
        (("unlearn",), ExitCode.BAD_INPUT, "unlearn"),
    ],
)
def test_bad_usage_is_one_clear_error(torchmatrix: Run, arguments: tuple[str, ...], code: int, says: str) -> None:
    done = torchmatrix("facts", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr
