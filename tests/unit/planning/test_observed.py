"""What our own runs saw, and of which combinations they speak."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import axes
from orchestrator.formats import SummaryCell, SummaryFile
from orchestrator.model import Counts, Observation
from orchestrator.planning import observed
from orchestrator.planning.observed import Observed, read
from orchestrator.vocabulary import Cause, Status, Tier

CPU = {"torch": "2.13.0+cpu", "torch_build": "cpu", "python": "3.11.9", "backend": "inductor", "base": "debian12"}
H100 = {
    "torch": "2.13.0+cu130",
    "torch_build": "cu130",
    "python": "3.12.1",
    "backend": "eager",
    "base": "ubuntu24.04",
    "driver": "580.95.05",
    "gpu": "H100",
}


def saw(seen: Mapping[str, str], cell: str = "c1", run: str = "r1", status: Status = Status.PASSED) -> Observation:
    return Observation(run=run, cell=cell, status=status, axes=seen)


def cell(name: str, seen: Mapping[str, str], status: Status = Status.PASSED, **more: Any) -> SummaryCell:
    values: dict[str, Any] = {
        "id": name,
        "name": name,
        "tier": Tier.PRODUCTION,
        "status": status,
        "cause": Cause.NONE,
        "reason": "",
        "known_issue": "",
        "requested": {},
        "observed": seen,
        "counts": Counts(),
        "notes": (),
        "attempts": 1,
    }
    return SummaryCell(**values | more)


def write(runs: Path, run: str, *cells: SummaryCell) -> Path:
    summary = SummaryFile(complete=True, planned=len(cells), totals={}, cells=cells, left_out=(), notes=())
    (runs / run).mkdir(parents=True)
    (runs / run / "summary.json").write_bytes(msgspec.json.encode(summary))
    return runs / run / "summary.json"


def test_an_image_by_digest_is_found_again(tmp_path: Path) -> None:
    image = f"registry.example.org/{'a' * 150}@sha256:{'0' * 64}"
    write(tmp_path, "r1", cell("c1", {**CPU, "image": image}))
    seen, notes = read(tmp_path)
    assert [each.axes["torch"] for each in seen.of({"image": image})] == ["2.13.0+cpu"]
    assert notes == ()


@pytest.mark.parametrize(
    ("combo", "cells"),
    [
        ({}, ["cpu", "h100"]),
        ({"torch": "2.13"}, ["cpu", "h100"]),
        ({"torch": "2.13.0", "torch_build": "cpu"}, ["cpu"]),
        ({"torch": "2.13.1"}, []),
        ({"torch": "2.1"}, []),
        ({"torch": ">=2.12,<3"}, ["cpu", "h100"]),
        ({"torch": "any", "python": "3.12"}, ["h100"]),
        ({"torch": ["2.14.0", "2.13.0"]}, ["cpu", "h100"]),
        ({"driver": "580"}, ["h100"]),
        ({"driver": "570"}, []),
        ({"gpu": "h100"}, ["h100"]),
        ({"torch": "2.13.0", "gpu": "A100"}, []),
        ({"distro": "ubuntu-24.04"}, ["h100"]),
        ({"os": "linux"}, ["cpu", "h100"]),
        ({"os": "windows"}, []),
        ({"cuda_runtime": "13.0"}, ["h100"]),
        ({"scope": "torch.compile"}, ["cpu"]),
        ({"torch": "2.13.0", "gpu_arch": "sm_70"}, []),
        ({"torch": "2.13.0", "nothing": "x"}, []),
        ({"torch": {"a": "b"}}, []),
        ({"torch": True}, []),
        ({"torch": ""}, []),
    ],
)
def test_a_run_speaks_of_what_it_saw(combo: dict[str, object], cells: list[str]) -> None:
    known = Observed([saw(CPU, "cpu"), saw(H100, "h100")])
    assert [one.cell for one in known.of(combo)] == cells


def test_the_newest_come_first_and_no_more_than_can_be_read() -> None:
    known = Observed([saw(CPU, f"c{at}") for at in range(100)])
    assert [one.cell for one in known.of({"torch_build": "cpu"})] == [f"c{at}" for at in range(observed.MAX_TOLD)]


AXES = st.sampled_from(["torch", "python", "driver", "gpu", "backend"])
VALUES = st.sampled_from(["1", "1.2", "2.1", "1.2.3"])


@given(st.lists(st.dictionaries(AXES, VALUES)), st.dictionaries(AXES, VALUES))
def test_the_index_finds_what_a_look_at_each_finds(seen: list[dict[str, str]], combo: dict[str, str]) -> None:
    known = Observed([saw(one, f"c{at}") for at, one in enumerate(seen)])
    plainly = [
        f"c{at}"
        for at, one in enumerate(seen)
        if all(name in one and axes.matches(name, value, one[name]) for name, value in combo.items())
    ]
    assert [one.cell for one in known.of(combo)] == plainly[: observed.MAX_TOLD]
    assert known.of(combo) == known.of(combo)


def test_runs_are_read_newest_first_and_only_cells_that_ran(tmp_path: Path) -> None:
    write(tmp_path, "20260101T000000Z-aaaa", cell("old", CPU))
    write(
        tmp_path,
        "20261101T000000Z-bbbb",
        cell("new", CPU, Status.FAILED),
        *(
            cell(status.value, CPU, status)
            for status in (Status.UNPLACED, Status.ERROR, Status.NOT_RUN, Status.CANCELLED, Status.UNSUPPORTED)
        ),
    )
    known, notes = read(tmp_path)
    assert notes == ()
    assert [(one.run[:8], one.cell, one.status) for one in known.of({"torch": "2.13"})] == [
        ("20261101", "new", Status.FAILED),
        ("20260101", "old", Status.PASSED),
    ]


def test_what_was_seen_counts_and_what_was_asked_fills_the_rest(tmp_path: Path) -> None:
    requested = {"torch": "2.14.1", "backend": "eager", "gpus": "8"}
    write(tmp_path, "r", cell("c", H100 | {"strange": "x"}, Status.MISMATCH, requested=requested))
    known, _ = read(tmp_path)
    assert known.of({"torch": "2.14.1"}) == ()
    (one,) = known.of({"torch": "2.13.0", "gpus": "8"})
    assert one.axes["torch"] == "2.13.0+cu130"
    assert "strange" not in one.axes


def test_no_folder_is_no_run(tmp_path: Path) -> None:
    known, notes = read(tmp_path / "absent")
    assert (len(known), notes) == (0, ())


def test_a_hostile_folder_stops_nothing(tmp_path: Path) -> None:
    write(tmp_path, "good", cell("c", CPU))
    for name, content in {"half": b"{", "other": b'{"complete": 1}', "deep": b"[" * 9999}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "summary.json").write_bytes(content)
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "summary.json").symlink_to(tmp_path / "good" / "summary.json")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "summary.json")
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    write(tmp_path, "\x1b[2J", cell("c", CPU))
    known, notes = read(tmp_path)
    assert len(known) == 1
    assert sorted(Path(note.split(": ")[1]).parent.name for note in notes) == ["deep", "half", "link", "other", "pipe"]
    assert all(note.isprintable() for note in notes)


def test_only_so_much_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observed, "MAX_RUNS", 3)
    monkeypatch.setattr(observed, "MAX_CELLS", 5)
    for at in range(6):
        write(tmp_path, f"r{at}", cell("c", CPU))
    assert [one.run for one in read(tmp_path)[0].of({})] == ["r5", "r4", "r3"]
    write(tmp_path, "r9", *(cell(f"c{at}", CPU) for at in range(9)))
    assert len(read(tmp_path)[0]) == 5
    monkeypatch.setattr(observed, "MAX_SUMMARY", 10)
    known, notes = read(tmp_path)
    assert len(known) == 0
    assert "the cap is 10" in notes[0]
