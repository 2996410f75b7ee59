"""The command: what is imported when, and what becomes of bad usage and of our own mistakes."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from msgspec.structs import replace
from planned_run import planned

from orchestrator import cli, errors
from orchestrator.cli import output
from orchestrator.masking import NOTHING, Masker
from orchestrator.model import SecretSource
from orchestrator.running.secret_files import laid_out

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "import orchestrator.cli\n"
        "heavy = {'docker', 'duckdb', 'jinja2', 'rich', 'ruamel', 'junitparser', 'packaging', 'scipy', 'requests'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("plan", "--matrix", "absent.yaml"), 2, "absent.yaml"),
        (("plan", "--tier", "production,edge"), 2, "production,edge"),
        (("plan", "--frobnicate"), 2, "frobnicate"),
        (("frobnicate",), 2, "frobnicate"),
        (("merge", "absent", "--plan", "plan.json", "--out", "run"), 2, "absent"),
        (("run", "--plan", "absent.json"), 2, "absent.json"),
        (("run", "--resume", "absent"), 2, "absent"),
        (("run", "--plan", "plan.json", "--select", "ci-cpu"), 2, "--select"),
        (("render", "--select", "ci-cpu", "--cell", "train"), 2, "--select"),
    ],
)
def test_bad_usage_is_one_clear_error(torchmatrix: Run, arguments: tuple[str, ...], code: int, says: str) -> None:
    done = torchmatrix(*arguments)
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_our_own_mistake_exits_70_and_names_a_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise ZeroDivisionError("no such luck")

    monkeypatch.setattr(cli.torchmatrix, "main", fail)
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == errors.ExitCode.OUR_BUG
    said = capsys.readouterr().err
    report = Path(said.rsplit("report ", 1)[1].strip())
    assert "no such luck" in report.read_text()
    assert "Traceback" not in said
    report.unlink()


def test_a_report_of_our_own_mistake_holds_no_secret(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise ZeroDivisionError("the token is glpat-Zq81xW")

    monkeypatch.setattr(cli.torchmatrix, "main", fail)
    monkeypatch.setattr("sys.argv", ["torchmatrix", "--glpat-Zq81xW"])
    output.keep_out(Masker([b"glpat-Zq81xW"]))
    try:
        with pytest.raises(SystemExit):
            cli.main()
    finally:
        output.keep_out(NOTHING)
    report = Path(capsys.readouterr().err.rsplit("report ", 1)[1].strip())
    told = report.read_text()
    report.unlink()
    assert "glpat-Zq81xW" not in told
    assert told.startswith("arguments: ['--[MASKED]']\n")
    assert "ZeroDivisionError: the token is [MASKED]" in told


@pytest.mark.parametrize("numbers", [(signal.SIGTERM,), (signal.SIGHUP,), (signal.SIGTERM, signal.SIGHUP)])
def test_a_verb_that_is_told_to_end_leaves_no_secret(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, numbers: tuple[signal.Signals, ...]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cell = replace(planned("pass", 0), secrets=(SecretSource(name="TOKEN", env="TOKEN"),))
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]

    def verb(**_: object) -> None:
        with laid_out([cell], {"TOKEN": "glpat-Zq81xW"}):
            assert list(tmp_path.glob("torchmatrix-secrets-*/ours/TOKEN"))
            try:
                os.kill(os.getpid(), numbers[0])
            finally:
                os.kill(os.getpid(), numbers[-1])

    monkeypatch.setattr(cli.torchmatrix, "main", verb)
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == errors.ExitCode.INTERRUPTED
    assert list(tmp_path.iterdir()) == []
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)] == before


def test_a_signal_that_was_ignored_stays_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr(cli.torchmatrix, "main", lambda **_: seen.append(signal.getsignal(signal.SIGHUP)))
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with pytest.raises(SystemExit):
            cli.main()
        assert seen == [signal.getsignal(signal.SIGHUP)] == [signal.SIG_IGN]
    finally:
        signal.signal(signal.SIGHUP, before)


def test_help_keeps_examples_on_lines_of_their_own() -> None:
    for name, verb in cli.torchmatrix.commands.items():
        shown = verb.get_help(click.Context(verb))
        assert "\\b" not in shown, name
        examples = [line.strip() for line in shown.splitlines() if line.strip().startswith("torchmatrix ")]
        assert all(line.startswith(f"torchmatrix {name}") for line in examples), name
