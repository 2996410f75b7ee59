import gc
import os
import select
import signal
import subprocess
import sys

import pytest

from orchestrator.engines.stop import Stop


def readable(stop: Stop) -> bool:
    return bool(select.select([stop], (), (), 0)[0])


def test_a_stop_is_seen_by_everybody_and_for_good() -> None:
    stop = Stop()
    assert not stop.requested
    assert not readable(stop)
    stop.request()
    assert stop.requested
    assert readable(stop)
    assert readable(stop)


def test_many_requests_fill_no_pipe() -> None:
    stop = Stop()
    for _ in range(100_000):
        stop.request()
    assert readable(stop)


def test_a_signal_handler_wakes_a_select() -> None:
    stop = Stop()
    before = signal.signal(signal.SIGUSR1, lambda *_: stop.request())
    try:
        os.kill(os.getpid(), signal.SIGUSR1)
        assert select.select([stop], (), (), 10)[0] == [stop]
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_its_pipe_goes_with_it() -> None:
    stop = Stop()
    end = stop.fileno()
    os.fstat(end)
    del stop
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(end)


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_one_that_has_no_pipe_has_nothing_to_say_when_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> tuple[int, int]:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "pipe", full)
    with pytest.raises(OSError, match="Too many"):
        Stop()
    gc.collect()


def test_nothing_is_said_of_it_at_the_exit() -> None:
    code = "import sys; from orchestrator.engines.stop import Stop; sys.keeps = Stop()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
