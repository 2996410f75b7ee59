import os
import signal

import pytest

from orchestrator.running import signals


def test_the_first_signal_is_noted_said_and_acted_on_in_that_order() -> None:
    told: list[str] = []
    with signals.watched(told.append) as stop:
        assert stop.by == ""
        stop.act = lambda: told.append(f"acting on {stop.by}")
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.by == "SIGTERM"
    assert told == ["SIGTERM: stopping; once more ends at once", "acting on SIGTERM"]


def test_by_default_what_is_being_done_is_left() -> None:
    with signals.watched(lambda _: None) as stop, pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    assert stop.by == "SIGINT"


def test_the_handlers_of_before_come_back() -> None:
    before = [signal.getsignal(number) for number in signals.SIGNALS]
    with signals.watched(lambda _: None):
        assert [signal.getsignal(number) for number in signals.SIGNALS] != before
    assert [signal.getsignal(number) for number in signals.SIGNALS] == before


def test_the_second_signal_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ended(BaseException):
        pass

    def end(code: int) -> None:
        raise Ended(code)

    monkeypatch.setattr(os, "_exit", end)
    done: list[str] = []
    with signals.watched(lambda _: None, lambda: done.append("what cannot be left")) as stop:
        stop.act = lambda: None
        os.kill(os.getpid(), signal.SIGHUP)
        assert done == []
        with pytest.raises(Ended, match="130"):
            os.kill(os.getpid(), signal.SIGINT)
    assert done == ["what cannot be left"]
