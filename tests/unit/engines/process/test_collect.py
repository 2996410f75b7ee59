import os
import socket
from pathlib import Path

import pytest

from orchestrator.engines.intake import Intake
from orchestrator.engines.process.collect import collect
from orchestrator.errors import InfrastructureError


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    folder.mkdir()
    return folder


def taken(results: Path) -> Intake:
    out = results.parent / "out"
    out.mkdir()
    intake = Intake(out, file_bytes=1000)
    collect(results, intake)
    return intake


def test_files_of_a_bundle_are_taken(results: Path) -> None:
    (results / "junit.xml").write_bytes(b"<x/>")
    (results / "extra").write_bytes(b"")
    intake = taken(results)
    assert intake.files == ("junit.xml",)
    assert intake.refused == ("extra: not a file of a bundle",)


def test_everything_but_regular_files_is_refused(results: Path) -> None:
    (results / "junit.xml").symlink_to("/etc/hostname")
    os.mkfifo(results / "metrics.jsonl")
    (results / "environment.json").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(results / "cell.json"))
    (results / "progress.jsonl").write_text("x")
    os.link(results / "progress.jsonl", results / "SHA256SUMS")
    with (results / "structure.json").open("w") as sparse:
        sparse.truncate(10 << 30)
    intake = taken(results)
    assert intake.files == ()
    assert sorted(intake.refused) == [
        "SHA256SUMS: a hard link, not a regular file",
        "cell.json: a socket, not a regular file",
        "environment.json: a folder, not a regular file",
        "junit.xml: a symbolic link, not a regular file",
        "metrics.jsonl: a FIFO, not a regular file",
        "progress.jsonl: a hard link, not a regular file",
        f"structure.json: {10 << 30} bytes, over the cap of 1000",
    ]


def test_a_results_folder_made_a_link_is_not_followed(results: Path) -> None:
    results.rmdir()
    results.symlink_to("/etc")
    with pytest.raises(InfrastructureError, match="results folder cannot be read"):
        taken(results)
