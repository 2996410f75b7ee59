"""The verbs: exit codes, what goes to which stream, and what is imported when."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator import cli, errors

MATRIX = """\
version: 1
axes:
  torch: ["2.6.0", "2.13.0"]
  torch_build: [cpu, cu130]
  python: ["3.11", "3.12"]
  backend: [eager, inductor]
  driver: {when: {torch_build: "cu*"}, values: ["580"]}
  gpu: {when: {torch_build: "cu*"}, values: [H100]}
production:
  - {name: ci-cpu, torch: "2.13.0", torch_build: cpu, python: "3.11"}
  - {name: train, torch: "2.13.0", torch_build: cu130, python: "3.12", driver: "580", gpu: H100, gpus: 8}
"""
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def torchmatrix(tmp_path: Path) -> Run:
    (tmp_path / "matrix.yaml").write_text(MATRIX)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from orchestrator.cli import main; main()", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=60)

    return run


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "import orchestrator.cli\n"
        "heavy = {'docker', 'duckdb', 'jinja2', 'rich', 'ruamel', 'junitparser', 'packaging', 'scipy', 'requests'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_plan_prints_the_cells_and_why(torchmatrix: Run) -> None:
    done = torchmatrix("plan")
    assert done.returncode == 0, done.stderr
    assert "ci-cpu" in done.stdout
    assert "train" in done.stdout
    assert "H100" in done.stdout


def test_plan_json_has_the_contract_of_the_design(torchmatrix: Run) -> None:
    done = torchmatrix("plan", "--json")
    plan = json.loads(done.stdout)
    assert {"cells", "left_out", "cost"} <= plan.keys()
    for cell in plan["cells"]:
        assert {"id", "name", "tier", "why", "axes", "image", "placement"} <= cell.keys()
        assert isinstance(cell["image"], str)
    placed = {cell["name"]: cell["placement"]["placed"] for cell in plan["cells"]}
    assert placed["train"] is False
    (train,) = [cell for cell in plan["cells"] if cell["name"] == "train"]
    assert "H100" in train["placement"]["reason"]


def test_what_the_matrix_says_and_nothing_uses_yet_is_told(torchmatrix: Run, tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").write_text(MATRIX + "secrets: {INDEX_TOKEN: {env: INDEX_TOKEN}}\n")
    told = [line for line in torchmatrix("plan").stderr.splitlines() if line.startswith("note: ")]
    assert told == ["note: matrix.yaml: secrets: read and checked, nothing acts on it yet"]


def test_plan_is_the_same_twice(torchmatrix: Run) -> None:
    assert torchmatrix("plan", "--json").stdout == torchmatrix("plan", "--json").stdout


def test_a_selection_that_matches_nothing_exits_3_and_suggests(torchmatrix: Run) -> None:
    done = torchmatrix("plan", "--select", "ci-cpuu")
    assert done.returncode == errors.ExitCode.NOTHING_SELECTED
    assert "ci-cpu" in done.stderr
    assert done.stdout == ""


def test_render_prints_a_containerfile_by_name_and_by_id(torchmatrix: Run) -> None:
    by_name = torchmatrix("render", "--cell", "train")
    assert by_name.returncode == 0, by_name.stderr
    assert "\nFROM " in by_name.stdout
    (train,) = [c for c in json.loads(torchmatrix("plan", "--json").stdout)["cells"] if c["name"] == "train"]
    assert torchmatrix("render", "--cell", train["id"]).stdout == by_name.stdout


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


def test_a_bad_matrix_reports_every_problem_with_its_place(torchmatrix: Run, tmp_path: Path) -> None:
    (tmp_path / "matrix.yaml").write_text(
        MATRIX.replace("python: [", "pyton: [").replace("H100, gpus: 8", "H100, gpus: 0")
    )
    done = torchmatrix("plan")
    assert done.returncode == errors.ExitCode.BAD_INPUT
    assert "matrix.yaml:5:3" in done.stderr
    assert "did you mean `python`?" in done.stderr
    assert "matrix.yaml:11:" in done.stderr


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


@pytest.mark.parametrize("code", [0, 1])
def test_a_reader_that_leaves_early_changes_no_exit_code(tmp_path: Path, code: int) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        "from orchestrator import cli\n"
        "@cli.torchmatrix.command()\n"
        "def speak():\n"
        "    for _ in range(50):\n"
        "        cli._print('x' * 9999)\n"  # more than a pipe holds
        f"    sys.exit({code})\n"
        "sys.argv = ['torchmatrix', 'speak']\n"
        "cli.main()\n"
    )
    command = f"{sys.executable} {program} | head -c 10"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert (done.returncode, done.stdout) == (code, "x" * 10)


@pytest.mark.parametrize(("code", "select"), [(0, "ci-cpu"), (3, "nothing")])
def test_a_listener_that_has_gone_changes_nothing(tmp_path: Path, code: int, select: str) -> None:
    (tmp_path / "matrix.yaml").write_text(MATRIX)
    command = [sys.executable, "-c", "from orchestrator.cli import _say, main; _say('hello'); main()"]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*command, "plan", "--select", select], stdout=subprocess.PIPE, stderr=writing, cwd=tmp_path, check=False
        )
    finally:
        os.close(writing)
    assert done.returncode == code
    assert (b"ci-cpu" in done.stdout) is (code == 0)


def test_what_is_said_cannot_act_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    cli._say("run: \x1b]0;title\x07\u202e")
    assert capsys.readouterr().err == "run: \\x1b]0;title\\x07\\u202e\n"
