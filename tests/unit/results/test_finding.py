"""Bundles are found wherever they lie, each once, and none is lost silently."""

from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from orchestrator import formats
from orchestrator.errors import InputError
from orchestrator.results import finding
from orchestrator.results.finding import find, read


def test_attempt_folders_run_folders_and_their_parents(tmp_path: Path, make: SimpleNamespace) -> None:
    one = make.bundle(tmp_path / "runs" / "r1" / "cells" / "c1" / "attempt-1")
    two = make.bundle(tmp_path / "runs" / "r1" / "cells" / "c2" / "attempt-1", cell="c2")

    for given in ([one, two], [tmp_path / "runs" / "r1"], [tmp_path / "runs"], [tmp_path], [two, tmp_path, one, one]):
        found = find(given, ["c1", "c2"])
        assert found.by_cell == {"c1": (one,), "c2": (two,)}
        assert found.notes == ()


def test_a_folder_with_an_attempt_alone_is_a_bundle(tmp_path: Path, make: SimpleNamespace) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / formats.ATTEMPT).write_bytes(msgspec.json.encode(make.attempt(problem="pip failed")))

    assert find([tmp_path], ["c1"]).by_cell == {"c1": (tmp_path / "b",)}


def test_bundles_of_other_cells_are_told(tmp_path: Path, make: SimpleNamespace) -> None:
    make.bundle(tmp_path / "a", cell="c9")
    make.bundle(tmp_path / "b", cell="c9")
    make.bundle(tmp_path / "-bad-", files={formats.CELL: b"nonsense"})

    found = find([tmp_path], ["c1"])

    assert found.by_cell == {}
    assert found.notes == (
        "1 bundle does not say of which cell",
        "2 bundles of `c9`, which is not in the plan",
    )


def test_a_bundle_that_does_not_name_its_cell_is_known_by_its_place(tmp_path: Path, make: SimpleNamespace) -> None:
    place = make.bundle(tmp_path / "cells" / "c1" / "attempt-2", files={formats.CELL: b"nonsense"})

    assert find([tmp_path], ["c1"]).by_cell == {"c1": (place,)}


def test_our_own_file_is_believed_before_the_cells(tmp_path: Path, make: SimpleNamespace) -> None:
    place = make.bundle(tmp_path, cell="c2", attempt=make.attempt())

    assert find([place], ["c1", "c2"]).by_cell == {"c1": (place,)}
    assert read(place, "c1")[1].problems == ("cell.json names another cell, `c2`",)


def test_links_are_not_followed_and_depth_is_bounded(tmp_path: Path, make: SimpleNamespace) -> None:
    make.bundle(tmp_path / "outside" / "b")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(tmp_path / "outside")
    (inside / "loop").symlink_to(inside)
    make.bundle(inside.joinpath(*"abcdefgh"))

    assert find([inside], ["c1"]).by_cell == {}


def test_the_number_of_folders_is_bounded(
    tmp_path: Path, make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "MAX_FOLDERS", 3)
    for name in "abc":
        make.bundle(tmp_path / name)

    with pytest.raises(InputError, match="more than 3 folders"):
        find([tmp_path], ["c1"])


def test_what_is_no_folder_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "no", tmp_path / "file"):
        with pytest.raises(InputError, match="no such folder of bundles"):
            find([path], [])


def test_a_folder_that_cannot_be_listed_is_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(finding.os, "scandir", refuse)

    with pytest.raises(InputError, match="cannot be listed: Permission denied"):
        find([tmp_path], [])


def test_an_attempt_of_ours_is_read(tmp_path: Path, make: SimpleNamespace) -> None:
    attempt, bundle = read(make.bundle(tmp_path, attempt=make.attempt(3)), "c1")

    assert attempt == make.attempt(3)
    assert bundle.problems == ()


def test_without_one_the_final_line_and_the_place_stand_for_it(tmp_path: Path, make: SimpleNamespace) -> None:
    attempt, _ = read(make.bundle(tmp_path / "attempt-4", exit_code=1), "c1")
    elsewhere, _ = read(make.bundle(tmp_path / "job", files={formats.PROGRESS: b""}), "c1")

    assert (attempt.cell, attempt.number, attempt.exit.code, attempt.engine) == ("c1", 4, 1, "")
    assert (elsewhere.number, elsewhere.exit.code) == (1, None)


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b'{"cell": "c1"}', b"{" * 5000])
def test_a_damaged_attempt_is_a_problem_of_the_bundle(tmp_path: Path, make: SimpleNamespace, data: bytes) -> None:
    place = make.bundle(tmp_path, files={formats.ATTEMPT: data})

    assert find([place], ["c1"]).by_cell == {"c1": (place,)}
    assert read(place, "c1")[1].problems[0].startswith("attempt.json cannot be read: ")
