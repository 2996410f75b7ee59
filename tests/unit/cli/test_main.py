"""The command: what is imported when, and what becomes of bad usage and of our own mistakes."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from orchestrator import cli, errors

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


def test_help_keeps_examples_on_lines_of_their_own() -> None:
    for name, verb in cli.torchmatrix.commands.items():
        shown = verb.get_help(click.Context(verb))
        assert "\\b" not in shown, name
        examples = [line.strip() for line in shown.splitlines() if line.strip().startswith("torchmatrix ")]
        assert all(line.startswith(f"torchmatrix {name}") for line in examples), name
