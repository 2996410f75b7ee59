"""The cell: read, overridden, or made from what is observed."""

import json
from pathlib import Path

import pytest

from suites.cell import Cell, CellError, named_by, read, requested
from suites.request import parse

WHOLE = {"id": "a-1", "axes": {"torch": "2.6.0", "backend": "inductor"}, "device": "cpu", "profile": "deep", "seed": 7}
OBSERVED = {
    "torch": "2.13.0+cpu",
    "torch_build": "cpu",
    "python": "3.11.7",
    "base": "debian12",
    "host_arch": "x86_64",
    "backend": "eager",
    "numpy": "2.4.6",
}


def written(folder: Path, content: object) -> Path:
    path = folder / "cell.json"
    path.write_text(json.dumps(content))
    return path


def test_a_cell_is_read_whole(tmp_path: Path) -> None:
    assert read(written(tmp_path, WHOLE)) == Cell(**WHOLE)


def test_the_command_line_overrides_the_cell(tmp_path: Path) -> None:
    path = written(tmp_path, WHOLE)
    cell = requested(parse(["--cell", str(path), "--backend", "openvino", "--seed", "0", "--profile", "smoke"]))
    assert (cell.backend, cell.seed, cell.profile, cell.device, cell.id) == ("openvino", 0, "smoke", "cpu", "a-1")
    assert cell.axes["torch"] == "2.6.0"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"id": "../x"}, "`id`"),
        ({"id": "a\n"}, "`id`"),
        ({"id": 3}, "`id`"),
        ({"axes": {"torch": 2.6}}, "`axes`"),
        ({"axes": []}, "`axes`"),
        ({"device": "tpu"}, "`device`"),
        ({"profile": "quick"}, "`profile`"),
        ({"seed": -1}, "`seed`"),
        ({"seed": True}, "`seed`"),
        ({"axes": {"gpus": "two"}}, "`gpus`"),
        ({"axes": {"matmul_precision": "exact"}}, "`matmul_precision`"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, change: dict[str, object], told: str) -> None:
    with pytest.raises(CellError, match=told):
        read(written(tmp_path, {**WHOLE, **change}))


@pytest.mark.parametrize("text", ["", "[]", "{", "null"])
def test_no_cell_is_an_error_that_names_the_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cell.json"
    path.write_text(text)
    with pytest.raises(CellError, match=r"cell\.json: not a cell"):
        read(path)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CellError, match="No such file"):
        read(tmp_path / "nothing.json")


def test_an_unnamed_cell_is_named_by_what_is_observed() -> None:
    cell = named_by(requested(parse([])), OBSERVED)
    assert cell.id == "torch2.13.0-cpu-py3.11-eager-" + cell.id[-8:]
    assert cell.axes["torch"] == "2.13.0"
    assert cell.axes["python"] == "3.11"
    assert "numpy" not in cell.axes
    assert named_by(requested(parse([])), {**OBSERVED, "base": "debian13"}).id != cell.id


def test_a_named_cell_keeps_its_name_and_axes() -> None:
    cell = Cell(**WHOLE)
    assert named_by(cell, OBSERVED) is cell


def test_a_cell_without_torch_has_a_name_too() -> None:
    bare = {"python": "3.9.2", "backend": "eager"}
    assert named_by(requested(parse([])), bare).id.startswith("torch0-none-py3.9-eager-")
