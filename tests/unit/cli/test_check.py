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
