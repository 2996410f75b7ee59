"""A program of ours that kills itself at the so-manieth thing that it does, once it has come to what is looked for.

python killed_at.py AT BEGIN SEEN torchmatrix ARGUMENT…     or the path of a program instead of `torchmatrix`

A thing is an event of Python's audit hooks: a file opened, renamed or removed, a folder read, a process started; the
first is the one after BEGIN stood in one. With AT 0 it is left to its end, and how many there were goes into SEEN.
"""

import os
import runpy
import signal
import sys
from pathlib import Path

AT, BEGIN, SEEN = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
seen = -1


def is_path(given: object) -> bool:
    return isinstance(given, str | bytes | os.PathLike)


def hear(event: str, given: tuple[object, ...]) -> None:
    global seen  # noqa: PLW0603 - a hook has no other place, and cannot be taken away
    if seen >= 0:
        seen += 1
    elif event.startswith(("open", "os.")) and any(BEGIN in os.fsdecode(each) for each in given if is_path(each)):
        seen = 0
    if seen == AT > 0:
        os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    sys.argv = sys.argv[4:]
    if sys.argv[0] == "torchmatrix":
        from orchestrator.cli import main as program

        sys.addaudithook(hear)
        program()
    else:
        sys.addaudithook(hear)
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    try:
        main()
    finally:
        SEEN.write_text(str(seen))
