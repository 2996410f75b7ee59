"""The collective load's ranks: one that hangs or dies is told, and ended."""

import subprocess
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.torch
Snippet = Callable[..., subprocess.CompletedProcess[str]]

HEAD = """
import pathlib, subprocess, sys, tempfile
from suites.loads import test_collective as load
folder = pathlib.Path(tempfile.mkdtemp())
def ranks(*codes):
    started = []
    for rank, code in enumerate(codes):
        with (folder / f"log-{rank}").open("wb") as log:
            started.append(subprocess.Popen([sys.executable, "-S", "-c", code], stdout=log, stderr=log))
    try:
        return [one["end"] for one in load._wait(started, folder)]
    finally:
        for process in started:
            process.kill()
            process.wait()
"""


WAIT = "import time; time.sleep(600)"
ENDS = (
    (["pass", "pass"], []),
    ([WAIT], ["rank 0 did not end within 2 s"]),
    (["print('early'); print('NCCL WARN late'); raise SystemExit(3)"], ["rank 0 ended with code 3: NCCL WARN late"]),
    (["import os; os.kill(os.getpid(), 9)"], ["rank 0 was killed by signal 9: no word"]),
    ([WAIT, "raise SystemExit(1)"], ["rank 0 was left waiting", "rank 1 ended with code 1: no word"]),
)


def test_how_ranks_end(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
load._DEADLINE = 2.0
for codes, expected in {ENDS!r}:
    ends = ranks(*codes)
    assert ends == expected, ends
""")
    assert done.returncode == 0, done.stderr


def test_one_device_is_not_applicable(snippet: Snippet) -> None:
    done = snippet(f"""{HEAD}
from types import SimpleNamespace
import pytest
bench = SimpleNamespace(ranks=1, device=SimpleNamespace(place=lambda: "cuda"))
try:
    load._all_ranks(bench, folder)
except pytest.skip.Exception as skipped:
    assert str(skipped) == "not applicable: a collective needs 2 devices, this cell takes 1", skipped
else:
    raise SystemExit("not skipped")
""")
    assert done.returncode == 0, done.stderr
