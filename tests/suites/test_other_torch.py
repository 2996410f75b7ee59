"""scripts/other-torch.sh with a Python that only notes what is asked of it: what it runs, and what it ends with."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "other-torch.sh"
STUB = """#!/bin/sh
echo "$*" >> '{folder}/asked'
case "$*" in
    "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
    *"-m pip"*) exit {pip} ;;
    *"--backend eager"*) exit {eager} ;;
    *"--backend inductor"*) exit {inductor} ;;
esac
"""


def run(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", str(SCRIPT), *options], check=False, capture_output=True, text=True, timeout=60)


@pytest.fixture
def python(tmp_path: Path):
    """Makes the Python whose parts end with these codes; what it was asked stands in `asked` beside it."""

    def made(*, pip: int = 0, eager: int = 0, inductor: int = 0) -> str:
        stub = tmp_path / "python"
        stub.write_text(STUB.format(folder=tmp_path, pip=pip, eager=eager, inductor=inductor))
        stub.chmod(0o755)
        return str(stub)

    return made


def test_an_environment_is_made_and_both_ways_run_in_it(tmp_path: Path, python) -> None:
    out = tmp_path / "out"
    done = run("2.14.*", "--python", python(), "--folder", str(out))
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "asked").read_text().splitlines() == [
        f"-m venv {out}/venv",
        "-m pip install --quiet torch==2.14.* numpy pytest",
        f"-m suites --device cpu --profile smoke --backend eager --out {out}/eager",
        f"-m suites --device cpu --profile smoke --backend inductor --out {out}/inductor",
    ]
    assert done.stdout == f"torch 2.14.*, exit 0, bundles in {out}\n"


@pytest.mark.parametrize(
    ("codes", "expected", "parts"),
    [({"pip": 1}, 4, 2), ({"eager": 1}, 1, 4), ({"inductor": 1}, 1, 4), ({"eager": 4, "inductor": 1}, 4, 4)],
)
def test_the_worst_end_is_its_own(tmp_path: Path, python, codes: dict[str, int], expected: int, parts: int) -> None:
    done = run("2.14.1", "--python", python(**codes), "--folder", str(tmp_path / "out"))
    assert done.returncode == expected
    assert len((tmp_path / "asked").read_text().splitlines()) == parts


@pytest.mark.parametrize("options", [(), ("--bogus",), ("2.14.1", "--python"), ("2.14.1", "2.13.0")])
def test_options_that_make_no_sense_are_2(options: tuple[str, ...]) -> None:
    done = run(*options)
    assert done.returncode == 2
    assert "other-torch.sh TORCH [--python" in done.stderr


def test_a_python_that_is_not_there_is_4(tmp_path: Path) -> None:
    assert run("2.14.1", "--python", str(tmp_path / "none"), "--folder", str(tmp_path / "out")).returncode == 4
