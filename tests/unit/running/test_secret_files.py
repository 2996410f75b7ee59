import json
import os
import stat
import tempfile
from pathlib import Path

import pytest
from msgspec.structs import replace
from planned_run import planned

from orchestrator.engines.owner import this_process
from orchestrator.errors import InfrastructureError, InputErrors
from orchestrator.model import PlannedCell, SecretSource
from orchestrator.running.secret_files import laid_out

VALUE = "glpat-Zq81xW"
TOKEN = SecretSource(name="TOKEN", env="CI_TOKEN")


@pytest.fixture(autouse=True)
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "temp"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def cell(*secrets: SecretSource, number: int = 0) -> PlannedCell:
    return replace(planned("pass", number), secrets=secrets)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_values_lie_where_nobody_else_comes_as_long_as_they_are_needed(temp: Path, tmp_path: Path) -> None:
    file = tmp_path / "index"
    file.write_text(f"{VALUE}-2\n")
    with laid_out([cell(TOKEN, SecretSource(name="INDEX", file=str(file)))], {"CI_TOKEN": VALUE}) as secrets:
        (root,) = temp.iterdir()
        assert mode(root) == 0o700
        assert all(path.is_relative_to(root) for path in (*secrets.ours.values(), *secrets.readable.values()))
        assert {name: path.read_text() for name, path in secrets.ours.items()} == {
            "TOKEN": VALUE,
            "INDEX": f"{VALUE}-2\n",  # as it is: who reads it knows what a line's end means
        }
        assert (mode(secrets.ours["TOKEN"]), mode(secrets.readable["TOKEN"])) == (0o600, 0o444)
        assert secrets.masker.text(f"{VALUE} {VALUE}-2") == "[MASKED] [MASKED]"
        assert VALUE not in repr(secrets)
    assert list(temp.iterdir()) == []


def test_they_go_when_something_goes_wrong(temp: Path) -> None:
    with pytest.raises(ZeroDivisionError), laid_out([cell(TOKEN)], {"CI_TOKEN": VALUE}):
        raise ZeroDivisionError
    assert list(temp.iterdir()) == []


def test_without_secrets_nothing_is_written_and_others_are_masked_all_the_same(temp: Path) -> None:
    with laid_out([cell()], {}, [b"a-password"]) as secrets:
        assert list(temp.iterdir()) == []
        assert secrets.masker.text("a-password") == "[MASKED]"


def test_an_image_is_given_what_each_of_its_cells_names(tmp_path: Path) -> None:
    other = SecretSource(name="OTHER", env="CI_TOKEN")
    cells = [cell(TOKEN), cell(other, number=1), cell(number=2)]
    with laid_out(cells, {"CI_TOKEN": VALUE}) as secrets:
        assert {image: set(files) for image, files in secrets.of(cells).items()} == {cells[0].image: {"TOKEN", "OTHER"}}
        assert secrets.of([cells[2]]) == {}


def test_each_that_cannot_be_used_is_told_at_once_without_any_of_it(temp: Path, tmp_path: Path) -> None:
    fifo, short, long = tmp_path / "fifo", tmp_path / "short", tmp_path / "long"
    os.mkfifo(fifo)
    short.write_text("hunter2\n")
    long.write_text("x" * 70_000)
    files = {"A": tmp_path / "gone", "B": fifo, "C": short, "D": long, "E": tmp_path}
    asked = [SecretSource(name=name, file=str(file)) for name, file in files.items()]
    with pytest.raises(InputErrors) as caught, laid_out([cell(*asked, TOKEN)], {"CI_TOKEN": ""}):
        pass
    assert str(caught.value).splitlines() == [
        f"{tmp_path}/gone: secret `A`: No such file or directory",
        f"{fifo}: secret `B`: this is not a regular file",
        f"{short}: secret `C` is shorter than 8 bytes (it could not be masked)",
        f"{long}: secret `D` is longer than 64 KiB",
        f"{tmp_path}: secret `E`: Is a directory",
        "environment CI_TOKEN: secret `TOKEN` is empty or not set",
    ]
    assert list(temp.iterdir()) == []


def test_a_temp_folder_that_takes_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/proc/nowhere")
    with pytest.raises(InfrastructureError, match="/proc/nowhere"), laid_out([cell(TOKEN)], {"CI_TOKEN": VALUE}):
        pass


def left(temp: Path, name: str, owner: object) -> Path:
    root = temp / f"torchmatrix-secrets-{name}"
    (root / "ours").mkdir(parents=True)
    (root / "ours" / "TOKEN").write_text(VALUE)
    if owner is not None:
        (root / "owner.json").write_text(json.dumps({"owner": str(owner)}))
    return root


def test_what_a_dead_process_left_goes_and_nothing_else(temp: Path) -> None:
    dead, live = left(temp, "dead", replace(this_process(), started=1)), left(temp, "live", this_process())
    strange = left(temp, "strange", None)
    with laid_out([], {}):
        assert (dead.exists(), live.exists(), strange.exists()) == (False, True, True)


def test_what_does_not_say_whose_it_is_stays_and_keeps_nobody_waiting(temp: Path) -> None:
    waits, nested = left(temp, "waits", None), left(temp, "nested", None)
    os.mkfifo(waits / "owner.json")
    (nested / "owner.json").write_text("[" * 100_000)
    with laid_out([], {}):
        assert (waits.exists(), nested.exists()) == (True, True)


def test_they_can_be_taken_away_before_the_end(temp: Path) -> None:
    with laid_out([cell(TOKEN)], {"CI_TOKEN": VALUE}) as secrets:
        assert secrets.ours["TOKEN"].exists()
        secrets.remove()
        assert list(temp.iterdir()) == []
