"""The ranks' processes: one that hangs or dies is told, and ended."""

import subprocess
import sys
from pathlib import Path

import pytest

from suites.loads import processes

WAIT = "import time; time.sleep(600)"
SAID = "import sys; print('{\"operation\": \"end\"}', file=open(sys.argv[1], 'w'))"


@pytest.mark.parametrize(
    ("codes", "ends"),
    [
        ([SAID, SAID], []),
        ([WAIT, "pass"], ["rank 0 was left waiting", "rank 1 ended with code 0 before it had said all: no word"]),
        (["pass"], ["rank 0 ended with code 0 before it had said all: no word"]),
        ([WAIT], ["rank 0 did not end within 2 s"]),
        (
            ["print('early'); print('NCCL WARN late'); raise SystemExit(3)"],
            ["rank 0 ended with code 3: NCCL WARN late"],
        ),
        (["import os; os.kill(os.getpid(), 9)"], ["rank 0 was killed by signal 9: no word"]),
        ([WAIT, "raise SystemExit(1)"], ["rank 0 was left waiting", "rank 1 ended with code 1: no word"]),
    ],
)
def test_how_ranks_end(codes: list[str], ends: list[str], tmp_path: Path) -> None:
    started = []
    for rank, code in enumerate(codes):
        with (tmp_path / f"log-{rank}").open("wb") as log:
            command = [sys.executable, "-S", "-c", code, str(tmp_path / f"answers-{rank}.jsonl")]
            started.append(subprocess.Popen(command, stdout=log, stderr=log))
    try:
        assert processes.wait(started, tmp_path, 2.0) == ends
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_answers_are_kept_by_operation_and_half_a_line_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = """
import json, sys
own = json.loads(sys.argv[1])
with open(own["answers"], "w") as file:
    file.write(json.dumps({"operation": "x", "rank": own["rank"], "steps": own["steps"]}) + "\\n")
    file.write(json.dumps({"operation": "end", "rank": own["rank"]}) + "\\n{")
"""
    monkeypatch.setattr(processes, "PROGRAM", ("-S", "-c", code))
    assert processes.answers({"steps": 7}, 2, tmp_path, 60.0) == {
        "": [],
        "x": [{"operation": "x", "rank": rank, "steps": 7} for rank in (0, 1)],
    }
