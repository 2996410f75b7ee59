"""`bump`: what is written, and what is told of it."""

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.errors import ExitCode
from orchestrator.matrix import document

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def file(torchmatrix: Run, tmp_path: Path) -> Path:
    return tmp_path / "matrix.yaml"


def test_the_file_is_edited_and_each_row_that_moves_is_told(torchmatrix: Run, file: Path) -> None:
    before = file.read_text()
    done = torchmatrix("bump", "torch", "2.14.1")
    assert done.returncode == 0, done.stderr
    assert file.read_text() == before.replace('"2.13.0"]', '"2.13.0", "2.14.1"]').replace(
        'torch: "2.13.0", torch_build', 'torch: "2.14.1", torch_build'
    )
    assert done.stdout.startswith("torch 2.14.1: newly listed, 2 rows moved\n")
    rows = [line.split() for line in done.stdout.splitlines() if "2.13.0" in line]
    assert [row[2:5] for row in rows] == [["ci-cpu", "2.13.0", "2.14.1"], ["train", "2.13.0", "2.14.1"]]
    assert [row.axes["torch"] for row in document.load(file).production] == ["2.14.1", "2.14.1"]


def test_a_dry_run_prints_a_patch_and_writes_nothing(torchmatrix: Run, file: Path, tmp_path: Path) -> None:
    before = file.read_text()
    done = torchmatrix("bump", "torch", "2.14.1", "--row", "train", "--dry-run")
    assert file.read_text() == before
    assert torchmatrix("bump", "torch", "2.14.1", "--row", "train").returncode == 0
    edited = file.read_text()
    file.write_text(before)
    subprocess.run(["patch", "-p0"], input=done.stdout, text=True, check=True, cwd=tmp_path, capture_output=True)
    assert file.read_text() == edited


def test_what_must_move_too_is_told_and_stops_nothing(torchmatrix: Run, file: Path) -> None:
    file.write_text(file.read_text().replace("[H100]", "[H100, V100]"))
    done = torchmatrix("bump", "gpu", "V100", "--from", "H100", "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["written"], told["listed"]) == (0, True, False)
    (move,) = told["moves"]
    assert (move["row"], move["old"], move["new"]) == ("train", "H100", "V100")
    assert (move["before"]["verdict"], move["after"]["verdict"]) == ("supported", "unsupported")
    assert "torch_build" in move["after"]["nearest"][0]["change"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("torhc", "2.14.1"), "did you mean `torch`?"),
        (("torch", "2.14.1", "--row", "absent"), "no row is named `absent`"),
        (("torch", "newest"), "`newest` is not a version"),
        (("torch", "2.14.1", "--matrix", "absent.yaml"), "there is no such file"),
        (("torch", "2.13", "--row", "train"), "are the same value of `torch`"),
        (("torch",), "VALUE"),
    ],
)
def test_on_any_problem_nothing_is_written(torchmatrix: Run, file: Path, arguments: tuple[str, ...], says: str) -> None:
    before = file.read_bytes()
    done = torchmatrix("bump", *arguments)
    assert (done.returncode, done.stdout) == (ExitCode.BAD_INPUT, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert file.read_bytes() == before


def test_bytes_rights_and_links_stay(torchmatrix: Run, file: Path, tmp_path: Path) -> None:
    before = b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n")
    target = tmp_path / "kept" / "real.yaml"
    target.parent.mkdir()
    target.write_bytes(before)
    target.chmod(0o640)
    file.unlink()
    file.symlink_to(target)
    assert torchmatrix("bump", "python", "3.13").returncode == 0
    assert file.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert target.read_bytes() == before.replace(b'"3.12"]', b'"3.12", "3.13"]').replace(
        b'python: "3.12"', b'python: "3.13"'
    )
    assert [path.name for path in target.parent.iterdir()] == ["real.yaml"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_the_owner_stays(torchmatrix: Run, file: Path) -> None:
    os.chown(file, 12345, 12346)
    file.chmod(0o640)
    assert torchmatrix("bump", "torch", "2.14.1").returncode == 0
    after = file.stat()
    assert (after.st_uid, after.st_gid, stat.S_IMODE(after.st_mode)) == (12345, 12346, 0o640)


def test_what_a_killed_one_left_beside_the_matrix_goes(torchmatrix: Run, file: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    for verb in (("bump", "torch", "2.14.1"), ("init", "matrix.yaml", "--force", "--engine", "here")):
        left, own = tmp_path / ".matrix.yaml.half-a1b2c3d4", tmp_path / ".matrix.yaml-original"
        left.touch()
        own.touch()
        done = torchmatrix(*verb)
        assert done.returncode == 0, done.stderr
        own.unlink()
        assert sorted(tmp_path.iterdir()) == before


def test_a_row_that_stays_is_told(torchmatrix: Run, file: Path) -> None:
    file.write_text(file.read_text().replace("ci-cpu, ", "ci-cpu, torch_from: distribution, "))
    done = torchmatrix("bump", "torch", "2.14.1", "--row", "ci-cpu")
    assert done.stderr.splitlines()[-1].startswith("note: row `ci-cpu` stays: ")
    assert done.stdout == "torch 2.14.1: newly listed, 0 rows moved\n"


def test_nothing_to_do_writes_nothing(torchmatrix: Run, file: Path) -> None:
    before = file.stat().st_mtime_ns
    done = torchmatrix("bump", "torch", "2.6.0")
    assert (done.returncode, done.stdout) == (0, "torch 2.6.0: no new value to list, 0 rows moved\n")
    assert file.stat().st_mtime_ns == before


DYING = """
import os, signal, sys
from pathlib import Path
from orchestrator.cli import main
from orchestrator.results import files
name, count = sys.argv.pop(1), int(sys.argv.pop(1))
owner = Path if name == "replace" else os
real = getattr(owner, name)
def dying(*arguments, **named):
    global count
    count -= 1
    if count < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **named)
setattr(owner, name, dying)
main()
"""


@pytest.mark.parametrize(
    ("place", "after", "is_named"), [("fsync", 0, False), ("replace", 0, False), ("fsync", 1, True)]
)
def test_a_kill_leaves_the_old_file_or_the_new_one_with_its_rights(
    file: Path, tmp_path: Path, place: str, after: int, is_named: bool
) -> None:
    before = "# ours\n" + file.read_text()
    file.write_text(before)
    file.chmod(0o660)
    command = [sys.executable, "-c", DYING, place, str(after), "bump", "torch", "2.14.1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o660
    assert ("2.14.1" in file.read_text()) is is_named
    assert file.read_text().startswith("# ours\n")
    assert (file.read_text() == before) is not is_named
    document.load(file)


def test_what_somebody_else_wrote_meanwhile_stays(file: Path, tmp_path: Path) -> None:
    writing = """
from pathlib import Path
from orchestrator.cli import main
from orchestrator.matrix import bump
real = bump.bump
def meanwhile(*arguments, **named):
    file = Path("matrix.yaml")
    file.write_text("# theirs\\n" + file.read_text())
    return real(*arguments, **named)
bump.bump = meanwhile
main()
"""
    before = file.read_text()
    command = [sys.executable, "-c", writing, "bump", "torch", "2.14.1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == ExitCode.BAD_INPUT, done.stderr
    assert "the file was changed while it was read" in done.stderr
    assert file.read_text() == "# theirs\n" + before
