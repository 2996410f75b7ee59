import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from planned_run import HOST, TINY, check, new_run, plan_of, planned, statuses

from orchestrator.engines.here.run import HereEngine
from orchestrator.engines.process.run import ProcessEngine
from orchestrator.errors import ExitCode, InfrastructureError, InputError, Interrupted
from orchestrator.images.failure import BuildFailure, Stage
from orchestrator.model import Plan, Run
from orchestrator.results.merge import merge, read_plan
from orchestrator.running import cells, folder
from orchestrator.running.run import Begun, asked_of, engine_of, run_plan, suites_folder
from orchestrator.settings import load_site
from orchestrator.vocabulary import Cause, Status, Step

SITE = load_site({"HOME": "/nonexistent"})


@pytest.fixture(autouse=True)
def _any_disk_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "MIN_FREE", 0)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return new_run(tmp_path)


def go(plan: Plan, run: Path, say: Callable[[str], None], *, resume: bool = False, compile_cache: bool = True) -> Run:
    return run_plan(
        plan, SITE, HereEngine(), run, host=HOST, suites=TINY, say=say, resume=resume, compile_cache=compile_cache
    )


def test_a_plan_becomes_a_run_with_a_result_for_each_planned_cell(run: Path, said: list[str]) -> None:
    plan = plan_of((planned("pass", 0), planned("pass", 1, placed=False), planned("fail", 2)))
    done = go(plan, run, said.append)
    assert [result.status for result in done.results] == [Status.PASSED, Status.UNPLACED, Status.FAILED]
    assert (done.id, done.complete) == (run.name, True)
    assert read_plan(run / "plan.json") == plan
    assert [line.partition(" in ")[0] for line in said] == [
        f"[1/2] {plan.cells[0].id} passed",
        f"[2/2] {plan.cells[2].id} failed",
    ]
    assert said[1].endswith("numerics: off by one")
    check(run)


@pytest.mark.parametrize("wanted", [True, False])
def test_cells_have_a_compile_cache_unless_none_is_wanted(
    run: Path, said: list[str], monkeypatch: pytest.MonkeyPatch, wanted: bool
) -> None:
    settings: list[cells.Setting] = []
    ran = cells.run_cell

    def noted(turn: Any, prepare: Any, setting: cells.Setting, *rest: Any) -> bool:
        settings.append(setting)
        return ran(turn, prepare, setting, *rest)

    monkeypatch.setattr(cells, "run_cell", noted)
    go(plan_of((planned("pass", 0),)), run, said.append, compile_cache=wanted)
    assert [setting.caches is not None for setting in settings] == [wanted]


def test_the_end_is_what_a_merge_of_its_folder_gives(run: Path, said: list[str]) -> None:
    done = go(plan_of((planned("pass", 0), planned("fail", 1))), run, said.append)
    assert merge(done.plan, [run], run_id=run.name) == done


def test_a_plan_with_nothing_placed_is_a_whole_run_of_unplaced_cells(run: Path, said: list[str]) -> None:
    done = go(plan_of((planned("pass", 0, placed=False),)), run, said.append)
    assert statuses(run) == ["unplaced"]
    assert done.complete
    assert said == []


def test_the_plan_is_on_the_disk_before_anything_else_is_done(
    run: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_engine(*_: object, **__: object) -> Mapping[str, object]:
        assert read_plan(run / "plan.json") == plan
        raise InfrastructureError("no container engine")

    plan = plan_of((planned("pass", 0),))
    monkeypatch.setattr("orchestrator.running.run.supply", no_engine)
    with pytest.raises(InfrastructureError, match="no container engine"):
        go(plan, run, said.append)
    assert not (run / "cells").exists()  # no cell was begun


def test_a_run_that_the_disk_ends_early_is_merged_all_the_same(
    run: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def admit(out: Path, _: int) -> None:
        if list(out.glob("cells/*/*/attempt.json")):
            raise InfrastructureError("the disk is full")

    monkeypatch.setattr(folder, "admit", admit)
    with pytest.raises(InfrastructureError, match="the disk is full"):
        go(plan_of((planned("pass", 0), planned("pass", 1))), run, said.append)
    assert statuses(run) == ["passed", "not-run"]
    assert (run / "junit.xml").exists()


def test_an_image_that_failed_fails_its_cells_and_no_others(
    run: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = planned("pass", 0, image="sha256:" + "0" * 64)
    fine = planned("pass", 1)
    failure = BuildFailure(id=broken.image, stage=Stage.BUILD, reason="no", log_tail="", cause=Cause.BUILD)
    from orchestrator.running import run as running

    real = running.supply
    monkeypatch.setattr(running, "supply", lambda *a, **k: {**real(*a, **k), broken.image: failure})
    done = go(plan_of((broken, fine)), run, said.append)
    assert [(result.status, len(result.attempts)) for result in done.results] == [
        (Status.ERROR, 1),
        (Status.PASSED, 1),
    ]
    check(run)


def test_a_folder_with_a_run_in_it_is_not_run_over(run: Path, said: list[str]) -> None:
    plan = plan_of((planned("pass", 0, placed=False),))
    go(plan, run, said.append)
    with pytest.raises(InputError, match="--resume"):
        go(plan, run, said.append)


def test_a_run_whose_plan_was_changed_is_not_resumed(run: Path, said: list[str]) -> None:
    go(plan_of((planned("pass", 0), planned("fail", 1))), run, said.append)
    before = (run / "summary.json").read_bytes()
    (run / "plan.json").write_bytes(msgspec.json.encode(plan_of((planned("pass", 0),))))  # the failed cell left out

    with pytest.raises(InputError, match="the plan was changed since the run began"):
        go(plan_of(()), run, said.append, resume=True)
    assert (run / "summary.json").read_bytes() == before


def test_a_run_is_not_resumed_with_another_engine(run: Path, said: list[str]) -> None:
    plan = plan_of((planned("pass", 0),))
    go(plan, run, said.append)
    with pytest.raises(InfrastructureError, match="begun with the engine `here`, this is `process`") as refused:
        run_plan(plan, SITE, ProcessEngine(), run, host=HOST, suites=TINY, say=said.append, resume=True)
    assert refused.value.hint == f"torchmatrix run --resume {run} --engine here"
    assert engine_of(run) == "here"


@pytest.mark.parametrize(("here", "cache"), [(True, False), (True, True), (False, False)])
def test_a_run_tells_what_it_was_begun_with(run: Path, said: list[str], here: bool, cache: bool) -> None:
    plan = plan_of((planned("pass", 0, placed=False),))
    run_plan(plan, SITE, HereEngine(), run, host=HOST, suites=TINY, say=said.append, here=here, compile_cache=cache)
    assert asked_of(run) == Begun(here=here, compile_cache=cache)
    go(plan, run, said.append, resume=True)
    assert (engine_of(run), asked_of(run)) == ("here", Begun(here=here, compile_cache=cache))


def test_a_folder_without_a_journal_tells_no_engine(tmp_path: Path) -> None:
    assert engine_of(tmp_path) is None
    assert asked_of(tmp_path) == Begun(here=False, compile_cache=True)


def test_too_little_disk_is_told_before_anything_is_written(
    run: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "MIN_FREE", 1 << 62)
    with pytest.raises(InfrastructureError, match=r"\d+ bytes are free"):
        go(plan_of((planned("pass", 0),)), run, said.append)
    assert list(run.iterdir()) == []


def test_a_stop_while_images_are_made_leaves_a_merged_run_that_can_be_resumed(
    run: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> Mapping[str, object]:
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError("not reached")

    plan = plan_of((planned("pass", 0),))
    with monkeypatch.context() as patched:
        patched.setattr("orchestrator.running.run.supply", stopped)
        with pytest.raises(Interrupted, match="stopped by SIGTERM, 0 of 1 cell is done") as interrupted:
            go(plan, run, said.append)
    assert interrupted.value.exit_code is ExitCode.INTERRUPTED
    assert interrupted.value.place == str(run)
    assert statuses(run) == ["not-run"]
    go(plan, run, said.append, resume=True)
    assert statuses(run) == ["passed"]
    assert f"the {Step.PREPARE} of the run was cut off: done again" in said
    check(run)


def test_nobody_who_listens_is_no_reason_to_stop(run: Path) -> None:
    def gone(_: str) -> None:
        raise BrokenPipeError

    go(plan_of((planned("pass", 0),)), run, gone)
    assert statuses(run) == ["passed"]


def test_the_suite_is_found_beside_the_package() -> None:
    assert (suites_folder() / "suites" / "__init__.py").is_file()


def test_a_missing_suite_is_a_damaged_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestrator.running.run.__file__", str(tmp_path / "a" / "b" / "run.py"))
    with pytest.raises(InfrastructureError, match="damaged installation"):
        suites_folder()


def test_plan_json_is_the_plan_that_was_given_in_the_form_that_people_read(run: Path, said: list[str]) -> None:
    plan = plan_of((planned("pass", 0, placed=False),))
    go(plan, run, said.append)
    written = (run / "plan.json").read_bytes()
    assert msgspec.json.decode(written, type=Plan) == plan
    assert written.count(b"\n") > 10
