"""The processes of the collective load: started together, waited for as long as is fair, and ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Sequence

PROGRAM = ("-m", "suites.loads.ranks")
END = "end"
"""The last answer of a rank: it has said all. One that ends without it is missing, whatever code it ends with."""


def answers(settings: Dict[str, Any], ranks: int, folder: Path, deadline_s: float) -> Dict[str, List[Dict[str, Any]]]:
    """Operation -> the answers of the ranks that gave one; `""` -> how the ranks ended, where not well.

    A collective that waits for a dead peer waits for ever: after `deadline_s` seconds all ranks are ended. They end by
    themselves once this process is gone, however it went: their standard input ends with it.
    """
    started: List[subprocess.Popen[bytes]] = []
    try:
        for rank in range(ranks):
            own = {**settings, "rank": rank, "answers": str(folder / f"answers-{rank}.jsonl")}
            with (folder / f"log-{rank}").open("wb") as log:
                command = [sys.executable, *PROGRAM, json.dumps({**own, "store": str(folder / "store")})]
                started.append(
                    subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=variables())
                )
        ends = wait(started, folder, deadline_s)
    finally:
        for process in started:
            process.kill()
            process.wait()
            if process.stdin is not None:
                process.stdin.close()
    found: Dict[str, List[Dict[str, Any]]] = {"": [{"end": end} for end in ends]}
    for rank in range(ranks):
        for answer in _told(folder, rank):
            if answer["operation"] != END:
                found.setdefault(answer["operation"], []).append(answer)
    return found


def wait(started: Sequence[subprocess.Popen[bytes]], folder: Path, deadline_s: float) -> List[str]:
    """How each rank that did not end well ended. One that leaves too soon ends the wait: its peers wait for it."""
    deadline = time.monotonic() + deadline_s
    while time.monotonic() < deadline:
        codes = [process.poll() for process in started]
        if all(code is not None for code in codes):
            break
        if any(code is not None and not _ended_well(code, folder, rank) for rank, code in enumerate(codes)):
            break
        time.sleep(0.05)
    ends = []
    for rank, process in enumerate(started):
        code = process.poll()
        if code is None:
            late = time.monotonic() >= deadline
            ends.append(f"rank {rank} " + (f"did not end within {deadline_s:.0f} s" if late else "was left waiting"))
        elif not _ended_well(code, folder, rank):
            lines = (folder / f"log-{rank}").read_text(encoding="utf-8", errors="replace").strip().splitlines()
            told = lines[-1][:300] if lines else "no word"
            how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
            too_soon = "" if code else " before it had said all"
            ends.append(f"rank {rank} {how}{too_soon}: {told}")
    return ends


def _ended_well(code: int, folder: Path, rank: int) -> bool:
    return code == 0 and any(answer["operation"] == END for answer in _told(folder, rank))


def _told(folder: Path, rank: int) -> List[Dict[str, Any]]:
    """The answers that a rank wrote; a line that it did not come to the end of is none."""
    path = folder / f"answers-{rank}.jsonl"
    whole = path.read_text(encoding="utf-8").rpartition("\n")[0] if path.exists() else ""
    return [json.loads(line) for line in whole.splitlines()]


def variables() -> Dict[str, str]:
    """The ranks' environment: all ranks are on this machine, and a container without network has only `lo`."""
    variables = dict(os.environ)
    root = str(Path(__file__).resolve().parents[2])
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, (root, variables.get("PYTHONPATH", ""))))
    variables.setdefault("GLOO_SOCKET_IFNAME", "lo")
    variables.setdefault("NCCL_SOCKET_IFNAME", "lo")
    return variables
