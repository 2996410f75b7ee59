"""Files of a run that were damaged, lost or swapped: told as that and by name, and never taken for an empty run."""

import random
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from planned_run import HOST, TINY, check, new_run, plan_of, planned, statuses

from orchestrator.engines.here.run import HereEngine
from orchestrator.errors import ExitCode, InfrastructureError, TorchmatrixError
from orchestrator.results.merge import merge, read_plan
from orchestrator.running import folder, lock
from orchestrator.running.run import run_plan
from orchestrator.settings import load_site

PLAN = plan_of((planned("pass", 0), planned("fail", 1)))


@pytest.fixture(autouse=True)
def _any_disk_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "MIN_FREE", 0)


def go(run: Path, *, resume: bool) -> list[str]:
    said: list[str] = []
    site = load_site({"HOME": "/nonexistent"})
    with lock.held(run):
        plan = read_plan(run / "plan.json") if resume else PLAN
        run_plan(plan, site, HereEngine(), run, host=HOST, suites=TINY, say=said.append, resume=resume)
    return said


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(folder, "MIN_FREE", 0)
        run = new_run(tmp_path_factory.mktemp("runs"))
        go(run, resume=False)
    return run


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A finished run of its own for each test, with the name that it had."""
    return shutil.copytree(finished, tmp_path / finished.name)


def contents(run: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}


def refused(run: Path) -> TorchmatrixError:
    """Why the run is not resumed; nothing in it was touched."""
    before = contents(run)
    with pytest.raises(TorchmatrixError) as caught:
        go(run, resume=True)
    assert contents(run) == before
    return caught.value


Damage = Callable[[bytes], bytes | None]
CUT: dict[str, Damage] = {
    "0": lambda data: data[:0],
    "100": lambda data: data[:100],
    "half": lambda data: data[: len(data) // 2],
    "-10": lambda data: data[:-10],
}
OTHER: dict[str, Damage] = {
    "random": lambda data: random.Random(len(data)).randbytes(len(data)),
    "zeros": lambda data: bytes(len(data)),
    "twice": lambda data: data + data,
    "gone": lambda _: None,
}


def damaged(file: Path, damage: Damage) -> None:
    found = damage(file.read_bytes())
    file.unlink() if found is None else file.write_bytes(found)


@pytest.mark.parametrize("way", [*CUT, *OTHER])
@pytest.mark.parametrize("name", ["journal.jsonl", "plan.json", "attempt.json"])
def test_it_is_named_and_nothing_is_done(run: Path, name: str, way: str) -> None:
    (file, *_) = run.rglob(name)
    damaged(file, {**CUT, **OTHER}[way])
    if (name, way) == ("journal.jsonl", "-10"):  # what a process leaves that dies in the middle of its last line
        go(run, resume=True)
        assert statuses(run) == ["passed", "failed"]
        check(run)
    else:
        error = refused(run)
        assert name in str(error)
        assert error.exit_code in {ExitCode.INFRASTRUCTURE, ExitCode.BAD_INPUT}


@pytest.mark.parametrize("name", ["journal.jsonl", "plan.json", "attempt.json"])
def test_one_byte_that_is_another_is_seen_wherever_it_is(run: Path, name: str) -> None:
    (file, *_) = run.rglob(name)
    whole = file.read_bytes()
    for at in range(0, len(whole) - 1, max(1, len(whole) // 40)):  # not the last: without its end a line is half a line
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        error = refused(run)
        assert name in str(error), at


@pytest.mark.parametrize("way", [*CUT, *OTHER])
@pytest.mark.parametrize("name", ["summary.json", "junit.xml", "metrics.parquet", "lock"])
def test_what_is_made_from_the_attempts_is_made_anew(run: Path, name: str, way: str) -> None:
    before = contents(run)
    damaged(run / name, {**CUT, **OTHER}[way])
    go(run, resume=True)
    assert contents(run) == before


def test_results_of_a_cell_that_were_changed_are_not_believed(run: Path) -> None:
    (report, *_) = run.glob("cells/*/attempt-1/junit.xml")
    report.write_bytes(report.read_bytes().replace(b"second", b"sec0nd"))
    go(run, resume=True)
    assert "error" in statuses(run)
    assert "junit.xml does not match SHA256SUMS" in (run / "summary.json").read_text()


def test_a_journal_that_ends_before_what_is_on_the_disk(run: Path) -> None:
    """Cut at the end of a line, as no process leaves it: the attempt that it does not know of is not done again."""
    file = run / "journal.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    first_commit = next(at for at, line in enumerate(lines) if b'"commit"' in line)
    for kept in range(1, len(lines)):
        file.write_bytes(b"".join(lines[:kept]))
        if kept <= next(at for at, line in enumerate(lines) if b'"commit"' in line and at > first_commit + 1):
            assert "the journal does not know of cells/" in refused(run).fact
        else:
            go(run, resume=True)
            assert statuses(run) == ["passed", "failed"]


def test_the_journal_of_another_run_is_not_taken_for_its_own(run: Path, tmp_path: Path) -> None:
    other = new_run(tmp_path / "others")
    site = load_site({"HOME": "/nonexistent"})
    run_plan(plan_of((planned("pass", 7),)), site, HereEngine(), other, host=HOST, suites=TINY, say=lambda _: None)
    shutil.copy(other / "journal.jsonl", run / "journal.jsonl")
    assert "the plan was changed since the run began" in refused(run).fact


def test_a_newer_journal_is_refused_with_its_version(run: Path) -> None:
    file = run / "journal.jsonl"
    first, *rest = file.read_bytes().splitlines(keepends=True)
    newer = first[: first.index(b',"sum"')].replace(b'"schema_version":1', b'"schema_version":2,"more":[]')
    file.write_bytes(b'%s,"sum":"%08x"}\n' % (newer, zlib.crc32(newer + b"}")) + b"".join(rest))
    error = refused(run)
    assert error.fact == "the journal has schema version 2, this torchmatrix reads 1"
    file.write_bytes(b'{"schema_version":7,"of":"a form that nobody knows yet"}\n')
    assert "schema version 7" in refused(run).fact


def test_a_newer_plan_or_attempt_is_refused_with_its_version(run: Path) -> None:
    (run / "plan.json").write_bytes(
        (run / "plan.json").read_bytes().replace(b'"schema_version": 1', b'"schema_version": 2')
    )
    assert "2 - at `$.schema_version`" in refused(run).fact
    for file in run.glob("cells/*/attempt-1/attempt.json"):
        file.write_bytes(file.read_bytes().replace(b'"schema_version": 1', b'"schema_version": 3'))
    merged = merge(PLAN, [run], run_id="x")
    assert {result.status for result in merged.results} == {"error"}
    assert all("3 - at `$.schema_version`" in result.reason for result in merged.results)


def test_a_damaged_journal_does_not_hide_the_attempts(run: Path) -> None:
    (run / "journal.jsonl").write_bytes(b"")
    with pytest.raises(InfrastructureError, match="the journal of this run is gone") as caught:
        go(run, resume=True)
    assert "`torchmatrix merge`" in caught.value.hint
    merged = merge(read_plan(run / "plan.json"), [run], run_id=run.name)
    assert [result.status for result in merged.results] == ["passed", "failed"]
