"""What a shell, a user or a machine may be like: a run that ends as ever, or a clear error; never a traceback."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from planned_run import TINY, check, ended, only_run, plan_file, started, statuses
from small_disk import small_disk
from tiny_command import command

from orchestrator.running import folder

RUN = str(TINY.parent / "planned_run.py")
COMMAND = "from orchestrator.cli import main; main()"


def in_shell(line: str, *arguments: str | bytes, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """A line of a shell with this Python and the arguments behind it."""
    return subprocess.run(
        ["sh", "-c", f'{line} exec "$@"', "sh", sys.executable, *arguments],
        env={**os.environ, **environ},
        capture_output=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    "line",
    [
        "umask 077;",
        "unset HOME;",
        "export LANG=C LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0;",
        "cd /; unset PATH; ",
        "exec 0<&-;",
    ],
)
def test_a_run_ends_as_ever(tmp_path: Path, line: str) -> None:
    done = in_shell(line, RUN, "run", str(tmp_path), "pass", "fail")
    assert done.returncode == 0, done.stderr
    run = only_run(tmp_path)
    assert statuses(run) == ["passed", "failed"]
    check(run)


def test_a_folder_whose_name_is_no_text(tmp_path: Path) -> None:
    runs = os.fsencode(tmp_path) + b"/r\xff\xfe"
    done = in_shell("", RUN, "run", runs, "pass")
    assert done.returncode == 2
    assert b"the name of the folder is not in UTF-8" in done.stderr
    assert list(tmp_path.iterdir()) == []


RUN_ENDS = ["passed", "failed"]
# The exit code, what is told, and the cells after a resume without the limit; None where nothing was begun.
TOO_FEW: dict[str, tuple[int, str, list[str] | None]] = {
    "ulimit -n 7;": (4, "Too many open files", None),
    "ulimit -n 9;": (4, "cannot be written: Too many open files", ["error", "error"]),
    "ulimit -v 120000;": (4, "the metrics could not be written: Out of Memory", RUN_ENDS),
    "ulimit -f 1;": (4, "plan.json: File too large", None),
}


@pytest.mark.parametrize("limit", TOO_FEW)
def test_too_few_of_something_is_an_error_of_ours_and_nothing_is_lost(tmp_path: Path, limit: str) -> None:
    code, told, after = TOO_FEW[limit]
    done = in_shell(limit, RUN, "run", str(tmp_path), "pass", "fail")
    assert done.returncode == code, done.stderr
    assert told in done.stderr.decode()
    assert b"Traceback" not in done.stderr, done.stderr
    run = only_run(tmp_path)
    assert (run / "plan.json").exists() == (after is not None)
    if after is not None:
        ended(started("resume", run), 0)
        assert statuses(run) == after


@pytest.mark.parametrize(("free", "ends"), [(0, RUN_ENDS), (1, ["error", "error"])])
def test_a_temporary_disk_that_is_full_is_not_taken_or_told_by_the_cells(
    tmp_path: Path, free: int, ends: list[str]
) -> None:
    with small_disk(tmp_path / "disk", "64k") as disk:
        with (disk / "full").open("wb", buffering=0) as full:
            with suppress(OSError):  # no space left
                while True:
                    full.write(bytes(4096))
            full.truncate(full.tell() - free * 4096)  # a page is enough to be taken for a temporary folder
        before = sorted(disk.iterdir())
        _, said = ended(started("run", tmp_path / "runs", "pass", "fail", TMPDIR=str(disk)), 0)
        assert statuses(only_run(tmp_path / "runs")) == ends
        assert said.count("create: No space left on device") == ends.count("error")
        assert sorted(disk.iterdir()) == before


def test_a_reader_that_goes_away_changes_nothing() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "plan", "--json"],
        cwd=TINY.parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 0, said
    assert b"Broken pipe" not in said
    assert b"Traceback" not in said


# --- where runs are put -----------------------------------------------------------------------------------------------


def test_a_file_in_the_place_of_the_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        _, said = ended(started("run", place, "pass"), 4)
        assert str(tmp_path / "file") in said
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_of_runs_that_is_missing_is_made(tmp_path: Path) -> None:
    ended(started("run", tmp_path / "a" / "b", "pass"), 0)
    assert statuses(only_run(tmp_path / "a" / "b")) == ["passed"]


def test_a_run_that_is_missing_or_a_file_is_not_resumed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "none", tmp_path / "file"):
        _, said = ended(started("resume", place), 2)
        assert str(place) in said


MOUNTS = """
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:45 / /home rw,relatime - nfs4 server:/home rw,vers=4.2
41 40 8:2 / /home/me/fast rw - xfs /dev/sdb1 rw
42 22 0:46 / /mnt/with\\040blank rw - cifs //server/share rw
43 22 0:47 / /homestead rw - tmpfs tmpfs rw
44 22 0:47 / /over rw - nfs server:/x rw
45 44 0:47 / /over rw - ext4 /dev/sdc1 rw
a line that is none
"""


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("/home/me/runs", "nfs4"),
        ("/home", "nfs4"),
        ("/mnt/with blank/runs", "cifs"),
        ("/home/me/fast/runs", ""),
        ("/homestead/runs", ""),
        ("/var/runs", ""),
        ("/over/runs", ""),
    ],
)
def test_a_file_system_of_the_network_is_told_by_name(place: str, kind: str) -> None:
    assert folder.network_of(place, MOUNTS) == kind


@pytest.mark.parametrize("kind", ["ceph", "lustre", "gpfs", "beegfs", "fuse.glusterfs", "fuse.ceph-fuse", "fuse.sshfs"])
def test_each_file_system_of_the_network_is_known(kind: str) -> None:
    assert folder.network_of("/x/runs", f"40 22 0:45 / /x rw - {kind} server:/x rw\n") == kind


@pytest.mark.parametrize("kind", ["ext4", "overlay", "9p", "virtiofs", "fuse.fuse-overlayfs"])
def test_a_disk_of_this_machine_is_taken(kind: str) -> None:
    assert folder.network_of("/x/runs", f"40 22 0:45 / /x rw - {kind} x rw\n") == ""


def test_runs_on_a_file_system_of_the_network_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    """The whole command, behind a link too; a run that came there is not resumed, and not listed any less."""
    server, plan = tmp_path / "server", plan_file(tmp_path, "pass")
    server.mkdir()
    (tmp_path / "link").symlink_to(server)
    ended(command("run", "--engine", "here", "--plan", plan, "--runs", server), 0)
    run = only_run(server)
    before = sorted(tmp_path.rglob("*"))
    mounts = tmp_path.with_name(f"{tmp_path.name}-mounts")
    mounts.write_text(f"40 22 0:45 / {server} rw - nfs4 server:/x rw\n")
    for options in (
        *(("--plan", plan, "--runs", place) for place in (server, server / "new", tmp_path / "link" / "new")),
        ("--resume", run),
    ):
        _, said = ended(command("run", "--engine", "here", *options, MOUNTS=str(mounts)), 4)
        assert "the folder is on nfs4, a file system of the network" in said
        assert sorted(tmp_path.rglob("*")) == before
    listed, _ = ended(command("runs", "ls", "--runs", server, MOUNTS=str(mounts)), 0)
    assert run.name in listed
