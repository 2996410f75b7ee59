"""A bundle from a witness who may lie: what is a problem, what a gap, what a note."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator import formats
from orchestrator.results import bundle
from orchestrator.results.bundle import Bundle, read_bundle

FILES = (formats.CELL, formats.JUNIT, formats.METRICS, formats.ENVIRONMENT, formats.STRUCTURE, formats.PROGRESS)


def test_a_whole_bundle(tmp_path: Path, make: SimpleNamespace) -> None:
    found = read_bundle(make.bundle(tmp_path))

    assert (found.notes, found.gaps, found.problems) == ((), (), ())
    assert found.cell is not None
    assert found.cell.id == "c1"
    assert found.environment is not None
    assert found.environment.axes == make.observed
    assert [case.name for case in found.cases] == ["test_matmul", "test_conv"]
    assert [row.value for row in found.metrics] == [1.5]
    assert found.structure is not None
    assert found.progress.final is not None


def test_an_empty_folder_has_only_gaps(tmp_path: Path) -> None:
    found = read_bundle(tmp_path)

    assert found.problems == ()
    assert len(found.gaps) == len(FILES) + 1


def test_a_missing_folder_has_only_gaps(tmp_path: Path) -> None:
    assert read_bundle(tmp_path / "no") == read_bundle(tmp_path)


@pytest.mark.parametrize("name", [*FILES, formats.CHECKSUMS])
def test_each_missing_file_is_a_gap(tmp_path: Path, make: SimpleNamespace, name: str) -> None:
    found = read_bundle(make.bundle(tmp_path, files={name: None}))

    assert [gap.split(" ")[0] for gap in found.gaps] == [name]
    assert found.problems == ()


@pytest.mark.parametrize("name", [*FILES, formats.CHECKSUMS])
@pytest.mark.parametrize("kind", ["symlink", "fifo", "folder", "hard link", "sparse"])
def test_each_file_that_is_no_plain_one_is_a_problem_and_not_read(
    tmp_path: Path, make: SimpleNamespace, name: str, kind: str
) -> None:
    folder = make.bundle(tmp_path / "bundle", files={name: None})
    secret = tmp_path / "secret"
    secret.write_bytes(make.bundle(tmp_path / "other").joinpath(name).read_bytes())
    path = folder / name
    if kind == "symlink":
        path.symlink_to(secret)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "hard link":
        path.hardlink_to(secret)
    else:
        with path.open("wb") as file:
            file.truncate(10 << 30)

    found = read_bundle(folder)

    assert any(problem.startswith(name) for problem in found.problems)
    assert found.gaps == ()


@pytest.mark.parametrize("name", FILES)
def test_a_changed_byte_does_not_match_the_sums(tmp_path: Path, make: SimpleNamespace, name: str) -> None:
    folder = make.bundle(tmp_path)
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data.replace(b"1", b"2", 1) if b"1" in data else data + b" ")

    assert f"{name} does not match SHA256SUMS" in read_bundle(folder).problems


@pytest.mark.parametrize("name", FILES)
def test_a_file_without_a_sum_is_a_gap(tmp_path: Path, make: SimpleNamespace, name: str) -> None:
    folder = make.bundle(tmp_path)
    sums = folder / formats.CHECKSUMS
    sums.write_text("".join(line for line in sums.read_text().splitlines(keepends=True) if name not in line))

    found = read_bundle(folder)

    assert (found.gaps, found.problems) == ((f"SHA256SUMS does not list {name}",), ())


def test_a_crash_that_left_no_report_keeps_the_tests_that_had_ended(tmp_path: Path, make: SimpleNamespace) -> None:
    left = {formats.JUNIT: None, formats.STRUCTURE: None, formats.CHECKSUMS: None}
    folder = make.bundle(tmp_path, files=left)
    progress = folder / formats.PROGRESS
    progress.write_text("".join(progress.read_text().splitlines(keepends=True)[:3]))  # t0 ended, t1 began

    found = read_bundle(folder)

    assert [(case.name, case.outcome) for case in found.cases] == [("t0", "passed")]
    assert found.progress.in_flight == "t1"
    assert "junit.xml is missing or ends too early" in found.gaps


def test_sums_that_end_too_early_are_never_whole(tmp_path: Path, make: SimpleNamespace) -> None:
    folder = make.bundle(tmp_path)
    whole = (folder / formats.CHECKSUMS).read_bytes().rstrip(b"\n")
    for end in range(len(whole)):
        (folder / formats.CHECKSUMS).write_bytes(whole[:end])
        assert read_bundle(folder).gaps, end


def test_two_sums_of_one_file_cannot_both_be_true(tmp_path: Path, make: SimpleNamespace) -> None:
    folder = make.bundle(tmp_path)
    sums = folder / formats.CHECKSUMS
    sums.write_text(f"{'0' * 64}  junit.xml\n" + sums.read_text())

    assert read_bundle(folder).problems == ("junit.xml does not match SHA256SUMS",)


@pytest.mark.parametrize("listed", ["../../etc/passwd", "/etc/passwd", "extra.txt", "junit.xml\\n"])
def test_sums_of_other_names_are_noted_and_not_followed(tmp_path: Path, make: SimpleNamespace, listed: str) -> None:
    folder = make.bundle(tmp_path)
    with (folder / formats.CHECKSUMS).open("a") as sums:
        sums.write(f"{'0' * 64}  {listed}\n")

    found = read_bundle(folder)

    assert found.problems == ()
    assert any(note.startswith("SHA256SUMS lists") for note in found.notes)


@pytest.mark.parametrize("name", [formats.CELL, formats.ENVIRONMENT, formats.STRUCTURE])
@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"[]", "is not as its schema says"),
        (b'{"schema_version": 2}', "is not as its schema says"),
        (b"\xff\xfe", "is not JSON"),
        (b"<html>", "is not JSON"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "is not JSON"),
        (b'{"id": "\\ud800 tail"}', "is not JSON"),
    ],
)
def test_json_that_is_wrong_is_a_problem(
    tmp_path: Path, make: SimpleNamespace, name: str, data: bytes, told: str
) -> None:
    found = read_bundle(make.bundle(tmp_path, files={name: data}))

    assert any(problem.startswith(f"{name} {told}") for problem in found.problems), found.problems


@pytest.mark.parametrize("name", [formats.CELL, formats.ENVIRONMENT, formats.STRUCTURE])
def test_bytes_that_are_no_text_damage_a_file_though_nobody_reads_their_key(
    tmp_path: Path, make: SimpleNamespace, name: str
) -> None:
    folder = make.bundle(tmp_path, files={formats.CHECKSUMS: None})
    good = (folder / name).read_bytes()
    (folder / name).write_bytes(good.replace(b"{", b'{"unread": "\xc3 tail", ', 1))

    assert any(problem.startswith(f"{name} is not JSON") for problem in read_bundle(folder).problems)

    half = good.replace(b"{", b'{"unread": "\xc3\xa9 tail", ', 1)
    (folder / name).write_bytes(half[: half.index(b"\xc3") + 1])

    assert f"{name} ends too early" in read_bundle(folder).gaps


def test_json_that_ends_too_early_is_a_gap_which_a_crash_explains(tmp_path: Path, make: SimpleNamespace) -> None:
    folder = make.bundle(tmp_path, files={formats.CHECKSUMS: None})
    whole = (folder / formats.ENVIRONMENT).read_bytes().rstrip(b"\n")
    for end in range(len(whole)):
        (folder / formats.ENVIRONMENT).write_bytes(whole[:end])
        found = read_bundle(folder)
        assert found.environment is None
        assert f"{formats.ENVIRONMENT} ends too early" in found.gaps, whole[:end]
        assert found.problems == ()


def test_a_folder_of_ten_thousand_other_files_is_not_listed(tmp_path: Path, make: SimpleNamespace) -> None:
    folder = make.bundle(tmp_path)
    before = read_bundle(folder)
    for number in range(10_000):
        (folder / f"x{number}").touch()

    assert read_bundle(folder) == before


def test_observed_axes_are_gated(tmp_path: Path, make: SimpleNamespace) -> None:
    hostile = {**make.observed, "../x": "1", "UPPER": "1", "umd": "a\x1b[31mb\nc", "gpu": "H" * 5000}

    found = read_bundle(make.bundle(tmp_path, observed=hostile))

    assert found.environment is not None
    assert found.environment.axes["umd"] == "ab c"
    assert len(found.environment.axes["gpu"]) == 200
    assert "../x" not in found.environment.axes
    assert found.notes == ("environment.json: 2 axes were left out",)


def test_the_number_of_axes_is_capped(tmp_path: Path, make: SimpleNamespace) -> None:
    found = read_bundle(make.bundle(tmp_path, observed={f"a{n}": "1" for n in range(500)}))

    assert found.environment is not None
    assert len(found.environment.axes) == bundle.MAX_AXES


def test_more_rows_than_the_cap_are_a_problem(
    tmp_path: Path, make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle.metrics, "MAX_ROWS", 0)

    assert read_bundle(make.bundle(tmp_path)).problems == ("metrics.jsonl: it has more than 0 rows",)


def test_rejected_rows_and_lying_counts_are_notes(tmp_path: Path, make: SimpleNamespace) -> None:
    metrics = ({**make.metric, "samples": 0},)
    xml = make.xml('<testcase name="a"/>', tests=5)
    folder = make.bundle(tmp_path, metrics=metrics, files={formats.JUNIT: xml.encode(), formats.CHECKSUMS: None})

    found = read_bundle(folder)

    assert found.notes == (
        "junit.xml: its `testsuite` says tests=5, counted 1",
        "metrics.jsonl: 1 metric row rejected: Expected `int` >= 1: `samples` (1)",
    )
    assert found.problems == ()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(FILES), st.binary(max_size=120))
def test_no_bytes_of_any_file_raise(tmp_path: Path, make: SimpleNamespace, name: str, data: bytes) -> None:
    found = read_bundle(make.bundle(tmp_path, files={name: data}))

    assert isinstance(found, Bundle)
    assert found.problems or found.gaps  # at least the sum does not match
