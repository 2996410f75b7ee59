"""What the verbs read: each problem is told with its place."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator import errors
from orchestrator.cli import output
from orchestrator.cli.inputs import site_in_force
from orchestrator.masking import MASK, NOTHING

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_what_the_matrix_says_and_nothing_uses_yet_is_told(torchmatrix: Run, tmp_path: Path) -> None:
    file = tmp_path / "matrix.yaml"
    file.write_text(file.read_text() + "gates: {e2e: 3%}\n")
    told = [line for line in torchmatrix("plan").stderr.splitlines() if line.startswith("note: ")]
    assert told == ["note: matrix.yaml: gates: read and checked, nothing acts on it yet"]


def test_a_bad_matrix_reports_every_problem_with_its_place(torchmatrix: Run, tmp_path: Path) -> None:
    file = tmp_path / "matrix.yaml"
    file.write_text(file.read_text().replace("python: [", "pyton: [").replace("H100, gpus: 8", "H100, gpus: 0"))
    done = torchmatrix("plan")
    assert done.returncode == errors.ExitCode.BAD_INPUT
    assert "matrix.yaml:5:3" in done.stderr
    assert "did you mean `python`?" in done.stderr
    assert "matrix.yaml:11:" in done.stderr


def test_once_the_site_was_read_none_of_its_passwords_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "_IN_FORCE", [NOTHING])
    monkeypatch.setenv("TORCHMATRIX_INDEXES", "default=https://ci:hunter22@pypi.example/simple")
    assert site_in_force().default_index.startswith("https://ci:")
    output.say("error: hunter22")
    assert capsys.readouterr().err == f"error: {MASK}\n"


def test_a_misspelt_variable_is_told_once(monkeypatch: pytest.MonkeyPatch, torchmatrix: Run) -> None:
    monkeypatch.setenv("TORCHMATRIX_INDEX", "https://ci:hunter22@pypi.example/simple")
    done = torchmatrix("site")
    assert done.stderr == "note: environment TORCHMATRIX_INDEX is no setting; did you mean `TORCHMATRIX_INDEXES`?\n"
    assert "hunter22" not in done.stdout
