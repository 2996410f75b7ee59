import json
import os
from pathlib import Path

import pytest

from orchestrator import axes
from orchestrator.errors import InfrastructureError
from orchestrator.model import Attempt, ContainerNeeds, Exit, Limits, Placement, PlannedCell
from orchestrator.running import attempts
from orchestrator.vocabulary import Purpose, Step, Tier


def made(number: int, purpose: Purpose = Purpose.RUN, **seen: object) -> Attempt:
    return Attempt(cell="c", number=number, purpose=purpose, exit=Exit(**seen))  # type: ignore[arg-type]


BROKEN = {"problem": "the engine is gone", "step": Step.WAIT}


@pytest.mark.parametrize(
    ("before", "following"),
    [
        ([], (1, Purpose.RUN)),
        ([made(1, code=0)], None),
        ([made(1, code=1)], None),
        ([made(1, code=137, oom=True)], None),
        ([made(1, timed_out=True)], None),
        ([made(1, **BROKEN)], (2, Purpose.RETRY)),
        ([made(1, problem="gone")], (2, Purpose.RETRY)),
        ([made(1, **BROKEN), made(2, Purpose.RETRY, code=0)], None),
        ([made(1, **BROKEN), made(2, Purpose.RETRY, code=1)], None),
        ([made(1, **BROKEN), made(2, Purpose.RETRY, **BROKEN)], None),
        ([made(1, problem="build: no such package", step=Step.PREPARE)], None),
        ([made(1, cancelled=True)], (2, Purpose.RUN)),
        ([made(1, cancelled=True, **BROKEN)], (2, Purpose.RUN)),
        ([made(1, cancelled=True), made(2, **BROKEN)], (3, Purpose.RETRY)),
        ([made(1, **BROKEN), made(2, Purpose.RETRY, cancelled=True)], (3, Purpose.RETRY)),
    ],
)
def test_which_attempt_comes_next(before: list[Attempt], following: tuple[int, Purpose] | None) -> None:
    assert attempts.next_attempt(before) == following


def cell(**given: str) -> PlannedCell:
    full = axes.complete({"torch": "2.13.0", "python": "3.11", **given})
    return PlannedCell(
        id="c",
        name="c",
        owner="",
        tier=Tier.PRODUCTION,
        why="a test",
        axes=full,
        image="image",
        placement=Placement(placed=True, runner=None, reason=""),
        allow_fallback=False,
        limits=Limits(),
        container=ContainerNeeds(),
        known_issues=(),
    )


@pytest.mark.parametrize(("build", "device"), [("cpu", "cpu"), ("cu130", "cuda"), ("rocm7.1", "cuda"), ("xpu", "xpu")])
def test_the_suite_is_asked_for_the_device_of_the_build(build: str, device: str) -> None:
    asked = json.loads(attempts.cell_file(cell(torch_build=build)))
    assert (asked["id"], asked["device"], asked["profile"]) == ("c", device, "smoke")
    assert asked["axes"]["backend"] == "eager"


def test_a_ready_image_says_by_itself_which_device_it_is_for() -> None:
    ready = "sha256:" + "0" * 64
    assert json.loads(attempts.cell_file(cell(image=ready)))["device"] == "auto"
    assert json.loads(attempts.cell_file(cell(image=ready, gpu="H100")))["device"] == "cuda"
    assert json.loads(attempts.cell_file(cell(image=ready, gpu="B580")))["device"] == "xpu"


def test_the_env_axis_becomes_variables() -> None:
    assert attempts.environment(cell(torch_build="cpu")) == {}
    assert attempts.environment(cell(torch_build="cpu", env="A=1 B=x=y C=")) == {"A": "1", "B": "x=y", "C": ""}


def test_a_committed_attempt_is_found_and_a_half_one_is_not(tmp_path: Path) -> None:
    first = attempts.begin(tmp_path, "c", 1)
    (first / "junit.xml").write_text("<testsuites/>")
    attempts.commit(first, attempts.written(made(1, code=0)))
    second = attempts.begin(tmp_path, "c", 2)
    (second / "junit.xml").write_text("<test")
    third = attempts.begin(tmp_path, "c", 3)
    (third / "attempt.json").write_text('{"cell": "c", "num')
    os.mkfifo(attempts.begin(tmp_path, "c", 4) / "attempt.json")
    (attempts.begin(tmp_path, "c", 5) / "attempt.json").write_text('{"exit":' * 100_000)
    (tmp_path / "cells" / "c" / "attempt-6").write_text("a file")
    assert attempts.committed(tmp_path, "c") == (made(1, code=0),)
    assert attempts.committed_folders(tmp_path, "c") == (first,)


def test_a_begun_attempt_is_begun_anew_in_an_empty_folder(tmp_path: Path) -> None:
    place = attempts.begin(tmp_path, "c", 1)
    (place / "metrics.jsonl").write_text("half a li")
    assert list(attempts.begin(tmp_path, "c", 1).iterdir()) == []


def test_attempt_json_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = attempts.begin(tmp_path, "c", 1)
    for name in ("junit.xml", "metrics.jsonl"):
        (place / name).write_text("x")
    (place / "link").symlink_to("/etc/hostname")
    synced: list[str] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (real(fd), synced.append(Path(f"/proc/self/fd/{fd}").readlink().name)))
    attempts.commit(place, attempts.written(made(1, code=0)))
    assert synced[2].startswith(".attempt.json.half-")
    assert synced == ["junit.xml", "metrics.jsonl", synced[2], "attempt-1"]


def test_a_folder_in_the_way_of_an_attempt_is_told(tmp_path: Path) -> None:
    (tmp_path / "cells").write_text("")
    with pytest.raises(InfrastructureError):
        attempts.begin(tmp_path, "c", 1)
    with pytest.raises(InfrastructureError, match="cells/c: Not a directory"):
        attempts.committed(tmp_path, "c")


def test_what_cannot_be_read_is_no_attempt(tmp_path: Path) -> None:
    (tmp_path / "attempt.json").write_text('{"x": ' * 5000)
    assert attempts.read(tmp_path) is None
    (tmp_path / "attempt.json").unlink()
    os.mkfifo(tmp_path / "attempt.json")
    assert attempts.read(tmp_path) is None
