import os
import select
import signal

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
