import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from orchestrator.engines.owner import this_process
from orchestrator.engines.process.scratch import make_scratch, remove_scratch, sweep_folders
from orchestrator.engines.task import Task


@pytest.fixture(autouse=True)
def _scratch_lies_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))


def test_folders_are_fresh_and_the_suite_alone_is_importable(make_task: Callable[..., Task]) -> None:
    task = make_task(inputs={"cell.json": b"{}"})
    (task.suites / "other.py").write_text("")
    scratch = make_scratch(task, this_process())
    assert list(scratch.start.iterdir()) == []
    assert list(scratch.results.iterdir()) == []
    assert (scratch.inputs / "cell.json").read_bytes() == b"{}"
    assert [path.name for path in scratch.path.iterdir()] == ["suites"]
    assert (scratch.path / "suites" / "__init__.py").exists()
    remove_scratch(scratch)
    assert not scratch.root.exists()
    assert (task.suites / "suites" / "__init__.py").exists()


def test_what_a_dead_owner_left_is_swept(make_task: Callable[..., Task]) -> None:
    dead = replace(this_process(), started=0)
    left = make_scratch(make_task(run_id="r"), dead)
    alive = make_scratch(make_task(run_id="r"), this_process())
    other = make_scratch(make_task(run_id="other"), dead)
    waits = make_scratch(make_task(run_id="r"), dead)
    (waits.root / "owner.json").unlink()
    os.mkfifo(waits.root / "owner.json")
    assert sweep_folders("r") == (str(left.root),)
    assert not left.root.exists()
    assert alive.root.exists()
    assert other.root.exists()
    assert waits.root.exists()


@pytest.mark.parametrize("removed", range(6))
def test_what_is_left_of_a_removal_that_was_cut_off_is_swept(
    make_task: Callable[..., Task], monkeypatch: pytest.MonkeyPatch, removed: int
) -> None:
    scratch = make_scratch(make_task(run_id="r"), replace(this_process(), started=0))
    (scratch.root / "made-by-the-cell").write_text("")
    real, left = shutil.rmtree, iter([*[True] * removed, False])

    def rmtree(path: Path, **options: bool) -> None:
        if not next(left):
            raise KeyboardInterrupt
        real(path, **options)

    with monkeypatch.context() as cut:
        cut.setattr("shutil.rmtree", rmtree)
        with pytest.raises(KeyboardInterrupt):
            remove_scratch(scratch)

    assert sweep_folders("r") == (str(scratch.root),)
    assert not scratch.root.exists()


@pytest.mark.parametrize(
    "written", ["", "[]", "{}", '{"run": "r"}', '{"run": "r", "owner": 1}', '{"run": "r", "owner": "x"}']
)
def test_a_folder_that_is_not_surely_ours_stays(tmp_path: Path, written: str) -> None:
    folder = tmp_path / "tmp" / "torchmatrix-x"
    folder.mkdir()
    (folder / "owner.json").write_text(written)
    assert sweep_folders("r") == ()
    assert folder.exists()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    dead = replace(this_process(), started=0)
    (target / "owner.json").write_text(json.dumps({"run": "r", "owner": str(dead)}))
    (tmp_path / "tmp" / "torchmatrix-x").symlink_to(target)
    assert sweep_folders("r") == ()
    assert target.exists()
