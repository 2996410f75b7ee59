import signal

import pytest

from orchestrator.engines import ending
from orchestrator.engines.ending import GIVE_UP_S, GRACE_S, Ending
from orchestrator.errors import InfrastructureError


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(ending.time, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_before_the_deadline_nothing_is_due(clock: Clock) -> None:
    end = Ending(10)
    clock.now += 9
    assert end.due() is None
    assert end.left_s() == 1
    assert (end.begun, end.timed_out, end.cancelled) == (False, False, False)


def test_a_deadline_escalates_and_gives_up(clock: Clock) -> None:
    end = Ending(10)
    clock.now += 10
    assert end.due() is signal.SIGTERM
    assert end.begun
    assert end.due() is None
    clock.now += GRACE_S
    assert end.due() is signal.SIGKILL
    assert end.due() is None
    clock.now += GIVE_UP_S
    with pytest.raises(InfrastructureError, match="still runs"):
        end.due()
    assert (end.timed_out, end.cancelled) == (True, False)


def test_a_stop_is_due_at_once_and_no_timeout(clock: Clock) -> None:
    end = Ending(10)
    end.cancel()
    assert end.due() is signal.SIGTERM
    clock.now += GRACE_S
    assert end.due() is signal.SIGKILL
    assert (end.timed_out, end.cancelled) == (False, True)


def test_a_stop_after_the_deadline_stays_a_timeout(clock: Clock) -> None:
    end = Ending(10)
    clock.now += 10
    end.due()
    end.cancel()
    assert (end.timed_out, end.cancelled) == (True, False)
