"""Facts as YAML: what is written is read again."""

import datetime as dt
from pathlib import Path
from types import SimpleNamespace

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.support.facts import load_facts
from orchestrator.support.facts_files import read_file
from orchestrator.support.learn import from_wheel
from orchestrator.support.learned import overlay
from orchestrator.support.overlay import written
from orchestrator.support.rows import FactsFile, Row, Rule, Source
from orchestrator.support.wheel import read
from orchestrator.vocabulary import Evidence, RuleKind

TEXT = st.text(min_size=1, max_size=40).filter(str.isprintable) | st.sampled_from(
    ["no", "2.10", "null", "a: b", "'", "~"]
)


def again(file: FactsFile, folder: Path) -> FactsFile:
    path = folder / "facts.yaml"
    path.write_text(written(file, "a\ncomment"), encoding="utf-8")
    return read_file(path)


def test_what_was_learned_is_read_again(make: SimpleNamespace, tmp_path: Path) -> None:
    facts = load_facts()
    name = "it's: a #wheel"
    made = overlay(from_wheel(read(make.torch_wheel(tmp_path))), facts, name, dt.date(2026, 11, 29))
    assert again(made, tmp_path) == made
    load_facts([tmp_path / "facts.yaml"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXT, TEXT, TEXT, st.booleans())
def test_any_text_is_read_again(tmp_path: Path, one: str, other: str, third: str, partial: bool) -> None:
    row = Row(when={"distro": one}, need={"channel": (other, third)}, partial=partial, because=third, source="s")
    rule = Rule(name="x", kind=RuleKind.PIN, rank=3, yes=other, no=one, rows=(row,))
    file = FactsFile(sources={"s": Source(text=one, evidence=Evidence.MEASURED, as_of="2026-01-01")}, rules=(rule,))
    assert again(file, tmp_path) == file


def test_nothing_is_a_file_too(tmp_path: Path) -> None:
    assert msgspec.to_builtins(again(FactsFile(), tmp_path)) == {}
