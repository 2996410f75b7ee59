"""`check`: exits, one question, and questions by the line."""

import io
import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from orchestrator import cli, schemas
from orchestrator.cli import check as verb
from orchestrator.errors import ExitCode, InputError
from orchestrator.model import Answer, Reason
from orchestrator.vocabulary import RuleKind, Verdict

Run = Callable[..., subprocess.CompletedProcess[str]]


def ask(combo: Mapping[str, object]) -> Answer:
    """A stand-in that says of a combination what its `torch` says."""
    said = str(combo.get("torch", "unknown"))
    if said == "broken":
        raise InputError("it cannot be asked")
    verdict = Verdict(said)
    reason = Reason(
        kind=RuleKind.MAPPING, rule="r", axes=("torch",), verdict=verdict, because="so", source="s", as_of="2026-01-01"
    )
    return Answer(verdict=verdict, reasons=(reason,), supported_until=None)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def go(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(verb, "_asking", lambda *_, **__: ask)
        monkeypatch.setattr(verb, "_support", lambda *_: None)
        monkeypatch.setattr("sys.argv", ["torchmatrix", "check", *arguments])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        told = capsys.readouterr()
        return int(stop.value.code or 0), told.out, told.err

    return go


@pytest.mark.parametrize(
    ("verdict", "flags", "code"),
    [
        ("supported", (), 0),
        ("degraded", (), 1),
        ("degraded", ("--allow-degraded",), 0),
        ("unsupported", (), 1),
        ("unsupported", ("--allow-degraded",), 1),
        ("unknown", (), 3),
        ("unknown", ("--allow-degraded",), 3),
    ],
)
@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_the_exit_is_the_verdict(run: Any, verdict: str, flags: tuple[str, ...], code: int, as_json: Any) -> None:
    left, out, _ = run(f"torch={verdict}", *flags, *as_json)
    assert left == code
    if as_json:
        assert json.loads(out)["verdict"] == verdict
    else:
        assert out.startswith(f"{verdict}: torch={verdict}\n")


def test_json_is_the_answer_and_nothing_else(run: Any) -> None:
    _, out, _ = run("torch=degraded", "--json")
    assert msgspec.json.decode(out, type=Answer) == ask({"torch": "degraded"})
    assert json.loads(out).keys() == set(Answer.__struct_fields__)
    jsonschema.Draft202012Validator(schemas.read("check-answer")).validate(json.loads(out))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "nothing is asked"),
        (("torch",), "`torch` is not KEY=VALUE"),
        (("torch=1", "torch=2"), "`torch` is given twice"),
        (("torch=2.6.0", "--on", "soon"), "`soon` is not a date"),
        (("torch=2.6.0", "--batch", "-", "--json"), "--batch"),
        (("--batch", "-"), "--json"),
        (("--batch", "absent.jsonl", "--json"), "absent.jsonl"),
        (("--batch", ".", "--json"), ".: it cannot be read"),
    ],
)
def test_bad_input_exits_2(torchmatrix: Run, arguments: tuple[str, ...], says: str) -> None:
    done = torchmatrix("check", *arguments)
    assert (done.returncode, done.stdout) == (ExitCode.BAD_INPUT, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_every_line_of_a_batch_is_answered_in_order(run: Any, tmp_path: Path) -> None:
    lines = [
        '{"torch": "unsupported"}',
        "no json",
        '{"torch": "supported", "env": ["A=1"], "ext": {"x": "1"}, "require_check": true}',
        "",
        '{"torch": "broken"}',
        '{"torch": "unknown"}',
    ]
    file = tmp_path / "asked.jsonl"
    file.write_text("\n".join(lines))
    code, out, err = run("--batch", str(file), "--json")
    assert (code, err) == (0, "")
    answers = [json.loads(line) for line in out.splitlines()]
    told = [answer.get("verdict", "error") for answer in answers]
    assert told == ["unsupported", "error", "supported", "error", "error", "unknown"]
    assert answers[4] == {"error": "it cannot be asked"}
    for answer in answers:
        jsonschema.Draft202012Validator(schemas.read("check-answer")).validate(answer)


def test_an_answer_is_there_before_the_next_line_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[int] = []

    class Slow(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            seen.append(capsys.readouterr().out.count("\n"))
            return super().readline(size)

    verb.answer_lines(Slow(b'{"torch": "unknown"}\n' * 3), ask)
    assert seen == [0, 1, 1, 1]


def test_an_endless_batch_ends_with_its_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(verb, "show", lambda line: shown.append(line) or len(shown) < 3)
    verb.answer_lines(io.BytesIO(b"{}\n" * 100), ask)
    assert len(shown) == 3


# --- what vendors say, as the command answers it ----------------------------------------------------------------------

VOLTA = ("torch=2.13.0", "torch_build=cu130", "gpu=V100")


def test_a_refusal_names_its_rule_its_source_and_what_would_do(torchmatrix: Run) -> None:
    done = torchmatrix("check", *VOLTA)
    assert (done.returncode, done.stderr) == (1, "")
    head, nearest, reasons, *_ = done.stdout.split("\n\n")
    assert head == "unsupported: torch=2.13.0 torch_build=cu130 gpu=V100"
    assert "binary-compatibility  arch-binary" in reasons
    assert nearest.startswith("nearest")


def test_one_question_and_a_line_of_a_batch_have_one_answer(torchmatrix: Run, tmp_path: Path) -> None:
    alone = json.loads(torchmatrix("check", *VOLTA, "--json").stdout)
    (tmp_path / "asked.jsonl").write_text(json.dumps(dict(pair.split("=") for pair in VOLTA)) + "\n{}\n")
    batch = torchmatrix("check", "--batch", "asked.jsonl", "--json", "--nearest")
    first, second = map(json.loads, batch.stdout.splitlines())
    assert batch.returncode == 0
    assert first == alone
    assert alone["nearest"]
    assert second["verdict"] == "unknown"
    for answer in (first, second):
        jsonschema.Draft202012Validator(schemas.read("check-answer")).validate(answer)
    plain = torchmatrix("check", "--batch", "asked.jsonl", "--json")
    assert json.loads(plain.stdout.splitlines()[0]) == alone | {"nearest": []}


def test_every_nearest_is_supported_when_it_is_asked(torchmatrix: Run) -> None:
    asked = dict(pair.split("=") for pair in VOLTA)
    for one in json.loads(torchmatrix("check", *VOLTA, "--json").stdout)["nearest"]:
        changed = [f"{axis}={value}" for axis, value in {**asked, **one["change"]}.items()]
        assert json.loads(torchmatrix("check", *changed, "--json").stdout)["verdict"] == one["verdict"]


def test_a_day_to_come_is_asked_about(torchmatrix: Run) -> None:
    ask = ("check", "torch=2.13.0", "torch_build=cu130", "gpu=H100", "driver=580", "python=3.12")
    today = torchmatrix(*ask, "--json")
    assert today.returncode == 0
    until = json.loads(today.stdout)["supported_until"]
    assert torchmatrix(*ask, "--on", until).returncode == 0
    assert torchmatrix(*ask, "--on", "2090-01-01").returncode == 1
    assert torchmatrix(*ask, "--on", "2090-01-01", "--allow-degraded").returncode == 0


def test_a_matrix_brings_its_rules_and_facts(torchmatrix: Run, tmp_path: Path) -> None:
    ask = ("check", "torch=2.13.0", "torch_build=cpu", "python=3.12", "--json")
    file = tmp_path / "matrix.yaml"
    file.write_text(file.read_text() + 'rules:\n  - {forbid: {torch: "2.13.*", python: "3.12"}, because: not here}\n')
    assert torchmatrix(*ask).returncode == 0
    done = torchmatrix(*ask, "--matrix", "matrix.yaml")
    assert done.returncode == 1
    assert json.loads(done.stdout)["reasons"][0] | {"axes": []} == {
        "kind": "site-rule",
        "rule": "site-rule",
        "axes": [],
        "verdict": "unsupported",
        "because": "not here",
        "source": "matrix.yaml:13",
        "as_of": "",
    }
    file.write_text(file.read_text() + "facts: [own.yaml]\n")
    missing = torchmatrix(*ask, "--matrix", "matrix.yaml")
    assert (missing.returncode, missing.stdout) == (ExitCode.BAD_INPUT, "")
    assert "own.yaml" in missing.stderr


def test_what_our_runs_saw_is_told_and_a_broken_one_is_passed_over(torchmatrix: Run, tmp_path: Path) -> None:
    cell = {
        "id": "torch2.13.0-cpu-5f1c09aa",
        "name": "ci",
        "tier": "production",
        "status": "failed",
        "cause": "numerics",
        "reason": "x",
        "known_issue": "",
        "requested": {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11", "backend": "eager"},
        "observed": {"torch": "2.13.0+cpu", "torch_build": "cpu", "python": "3.11.9"},
        "counts": {},
        "notes": [],
        "attempts": 1,
    }
    summary = {"complete": True, "planned": 1, "totals": {}, "cells": [cell], "left_out": [], "notes": []}
    for run, content in {"20260101T000000Z-aaaa": json.dumps(summary), "20260102T000000Z-bbbb": "{"}.items():
        (tmp_path / "seen" / run).mkdir(parents=True)
        (tmp_path / "seen" / run / "summary.json").write_text(content)
    ask = ("check", "torch=2.13.0", "torch_build=cpu", "python=3.11")
    done = torchmatrix(*ask, "--runs", "seen")
    assert done.returncode == 0
    assert "failed        20260101T000000Z-aaaa  torch2.13.0-cpu-5f1c09aa" in done.stdout
    assert done.stderr.startswith("note: seen/20260102T000000Z-bbbb/summary.json: passed over: ")
    assert json.loads(torchmatrix(*ask, "--json").stdout)["observed"] == []
    assert json.loads(torchmatrix(*ask, "gpu=H100", "--runs", "seen", "--json").stdout)["observed"] == []
    other_words = ("check", "torch=v2.13", "torch_build=cpu", "python=3.11.x", "--runs", "seen", "--json")
    assert len(json.loads(torchmatrix(*other_words).stdout)["observed"]) == 1
