import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.errors import InfrastructureError
from orchestrator.running import fault, journal
from orchestrator.vocabulary import Step

FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
steps = st.lists(
    st.tuples(st.sampled_from(list(Step)), st.sampled_from(["", "a", "b"]), st.text(max_size=20)), max_size=6
)


def write(run: Path, made: list[tuple[Step, str, str]]) -> bytes:
    with journal.opened(run, {}) as log:
        for step, cell, detail in made:
            with log.step(step, cell=cell, detail=detail):
                pass
    return (run / "journal.jsonl").read_bytes()


@given(made=steps)
@FEW
def test_what_is_written_is_read_back_in_order(
    made: list[tuple[Step, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    run = tmp_path_factory.mktemp("run")
    write(run, made)
    lines = journal.read(run)
    assert [line.seq for line in lines] == list(range(1, 2 * len(made) + 1))
    assert [(line.step, line.cell, line.detail) for line in lines if line.state == "begin"] == made
    assert journal.unended(lines) == ()


@given(made=steps, keep=st.integers(min_value=0), junk=st.sampled_from([b"", b"\x00" * 9, b'{"seq":', b"\r\xff"]))
@FEW
def test_a_journal_cut_at_any_byte_is_a_prefix_and_can_be_gone_on_with(
    made: list[tuple[Step, str, str]], keep: int, junk: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run = tmp_path_factory.mktemp("run")
    whole = write(run, made)
    cut = keep % (len(whole) + 1)
    (run / "journal.jsonl").write_bytes(whole[:cut] + junk)
    before = journal.read(run)
    assert before == journal.parse(whole, "")[0][: whole[:cut].count(b"\n")]
    write(run, [(Step.MERGE, "", "")])
    after = journal.read(run)
    assert after[: len(before)] == before
    assert [line.seq for line in after] == list(range(1, len(before) + 3))


@given(data=st.binary(max_size=300))
@FEW
def test_any_bytes_are_lines_or_our_own_error(data: bytes) -> None:
    try:
        lines, whole = journal.parse(data, "journal.jsonl")
    except InfrastructureError:
        return
    assert journal.parse(data[:whole], "")[0] == lines


def test_damage_in_the_middle_is_told_with_its_line(tmp_path: Path) -> None:
    whole = write(tmp_path, [(Step.PLAN, "", ""), (Step.MERGE, "", "")]).splitlines(keepends=True)
    (tmp_path / "journal.jsonl").write_bytes(whole[0] + b"x" + b"".join(whole[1:]))
    with pytest.raises(InfrastructureError, match="line 2 of the journal is damaged"):
        journal.read(tmp_path)


def test_a_line_that_is_missing_in_the_middle_is_damage(tmp_path: Path) -> None:
    whole = write(tmp_path, [(Step.PLAN, "", ""), (Step.MERGE, "", "")]).splitlines(keepends=True)
    with pytest.raises(InfrastructureError, match="damaged"):
        journal.parse(whole[0] + whole[2] + whole[3], "")


def test_a_step_that_raised_says_why_it_failed(tmp_path: Path) -> None:
    with (
        journal.opened(tmp_path, {}) as log,
        pytest.raises(ValueError, match="no such"),
        log.step(Step.CREATE, cell="c"),
    ):
        raise ValueError("no such\x1b[31m image")
    begin, end = journal.read(tmp_path)
    assert (begin.state, end.state, end.cell) == ("begin", "failed", "c")
    assert end.detail == "no such image"
    assert journal.unended([begin, end]) == ()


def test_an_interrupted_step_has_no_end(tmp_path: Path) -> None:
    with (
        journal.opened(tmp_path, {}) as log,
        pytest.raises(KeyboardInterrupt),
        log.step(Step.WAIT, cell="c", attempt=2),
    ):
        raise KeyboardInterrupt
    (line,) = journal.unended(journal.read(tmp_path))
    assert (line.step, line.cell, line.attempt) == (Step.WAIT, "c", 2)


def test_a_line_is_on_the_disk_before_the_step_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bytes] = []
    real = os.fdatasync
    monkeypatch.setattr(
        os, "fdatasync", lambda fd: (real(fd), synced.append((tmp_path / "journal.jsonl").read_bytes()))
    )
    with journal.opened(tmp_path, {}) as log, log.step(Step.PLAN):
        assert json.loads(synced[-1])["state"] == "begin"
    assert synced[-1].count(b"\n") == 2


def test_a_line_that_the_disk_took_in_part_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with journal.opened(tmp_path, {}) as log:
        with log.step(Step.PLAN):
            pass
        before = (tmp_path / "journal.jsonl").read_bytes()
        real, calls = os.write, []

        def full(fd: int, data: bytes) -> int:
            calls.append(data)
            if len(calls) > 1:
                raise OSError(28, "No space left on device")
            return real(fd, data[:5])

        with monkeypatch.context() as patched:
            patched.setattr(os, "write", full)
            with (
                pytest.raises(InfrastructureError, match=r"No space left on device, \d+ bytes free"),
                log.step(Step.MERGE),
            ):
                pass
        assert (tmp_path / "journal.jsonl").read_bytes() == before


FAULTY = """
import sys
from pathlib import Path
from orchestrator.running import fault, journal
from orchestrator.vocabulary import Step
with journal.opened(Path(sys.argv[1])) as log:
    for cell in "abc":
        with log.step(Step.WAIT, cell=cell):
            pass
"""


@pytest.mark.parametrize(
    ("asked", "lines"), [("wait:begin", 1), ("wait:end", 2), ("wait:begin:3", 5), ("wait:end:2", 4)]
)
def test_the_fault_hook_kills_once_the_line_is_on_the_disk(tmp_path: Path, asked: str, lines: int) -> None:
    environ = {**os.environ, fault.VARIABLE: asked}
    done = subprocess.run([sys.executable, "-c", FAULTY, str(tmp_path)], env=environ, check=False)
    assert done.returncode == -9
    assert len(journal.read(tmp_path)) == lines


@pytest.mark.parametrize("asked", ["", "merge:begin", "wait:begin:4", "nonsense", "wait:begin:x:y"])
def test_a_fault_that_is_not_reached_does_nothing(tmp_path: Path, asked: str) -> None:
    environ = {**os.environ, fault.VARIABLE: asked}
    subprocess.run([sys.executable, "-c", FAULTY, str(tmp_path)], env=environ, check=True)
    assert len(journal.read(tmp_path)) == 6


def test_the_journal_may_not_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "journal.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InfrastructureError), journal.opened(tmp_path / "run", {}):
        pass


def test_a_run_without_a_journal_has_no_lines(tmp_path: Path) -> None:
    assert journal.read(tmp_path) == ()


def test_a_journal_that_is_no_file_is_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "journal.jsonl")
    with pytest.raises(InfrastructureError, match=r"journal\.jsonl: it is not a regular file"):
        journal.read(tmp_path)
