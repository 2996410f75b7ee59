import os
import signal
from collections.abc import Iterator

import pytest

from orchestrator.running import fault
from orchestrator.vocabulary import Step


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The signals that this process would have sent to itself."""
    signals: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: signals.append(number) if pid == os.getpid() else None)
    yield signals
    fault._full.clear()


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("wait:begin", ["kill", "", ""]),
        ("wait:begin=pause", ["pause", "", ""]),
        ("wait:begin:2=short", ["", "short", ""]),
        ("wait:begin:3=enospc", ["", "", "enospc"]),
        ("wait:begin:4=kill", ["", "", ""]),
        ("wait:end=kill", ["", "", ""]),
        ("", ["", "", ""]),
    ],
)
def test_a_fault_comes_once_and_at_its_line(asked: str, found: list[str]) -> None:
    made = fault.Fault(asked)
    assert made.at(Step.COMMIT, "begin") == ""
    assert [made.at(Step.WAIT, "begin") for _ in range(3)] == found


@pytest.mark.parametrize(
    ("kind", "number"), [("kill", signal.SIGKILL), ("short", signal.SIGKILL), ("pause", signal.SIGSTOP)]
)
def test_a_kind_that_ends_or_stops_this_process(sent: list[int], kind: str, number: int) -> None:
    fault.strike(kind)
    assert sent == [number]


def test_a_full_disk_is_met_once_by_each_writer(sent: list[int]) -> None:
    fault.strike("enospc")
    for writer in (fault.JOURNAL, fault.FOLDER):
        with pytest.raises(OSError, match="No space left on device"):
            fault.room_for(writer)
        fault.room_for(writer)
    assert sent == []


@pytest.mark.parametrize("kind", ["", "nonsense"])
def test_nothing_else_does_anything(sent: list[int], kind: str) -> None:
    fault.strike(kind)
    fault.room_for(fault.JOURNAL)
    assert sent == []
