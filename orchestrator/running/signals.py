"""^C, SIGTERM and SIGHUP: the first asks the run to stop, the second ends the process at once."""

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

from orchestrator.errors import ExitCode

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interrupt() -> None:
    """Leave whatever is being done, as Python's own ^C does; what must be tidied is tidied on the way out."""
    raise KeyboardInterrupt


class Stop:
    """Whether the run was asked to stop: `by` is the signal's name, empty until then.

    `act` is what the first signal does beyond that, in the main thread, between two of its instructions.
    """

    def __init__(self) -> None:
        self.by = ""
        self.act: Callable[[], None] = interrupt


@contextmanager
def watched(say: Callable[[str], None], at_once: Callable[[], None] = lambda: None) -> Iterator[Stop]:
    """A Stop that the first signal sets; for the main thread.

    A signal that was ignored when we began (nohup, a shell's job in the background) stays ignored. A second signal
    ends the process then and there, after `at_once`, which may not wait: what is on the disk is enough to resume, and
    to sweep what still runs.
    """
    stop = Stop()

    def asked(number: int, _frame: FrameType | None) -> None:
        if stop.by:
            at_once()
            os._exit(ExitCode.INTERRUPTED)
        stop.by = signal.Signals(number).name
        say(f"{stop.by}: stopping; once more ends at once")
        stop.act()

    with heard(SIGNALS, asked):
        yield stop


@contextmanager
def heard(numbers: Iterable[signal.Signals], handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Has these signals handled so until the end of the block; one that was ignored before stays ignored."""
    before = {number: signal.getsignal(number) for number in numbers}
    before = {number: had for number, had in before.items() if had is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, had in before.items():
            signal.signal(number, had or signal.SIG_DFL)
