"""What the orchestrator costs a cell beyond the bare `docker run` of the same suite in the same image, in turn.

    python benchmarks/cell_overhead.py [--turns 5] [--select NAME]

In each turn the same cell runs twice, in an order that alternates: as `docker run` with the same profile, and in a run
of ours. A run's own cost per cell is the time from the journal's first line about the cell to its last, less the bare
run beside it. Bound of the project: at most the larger of 5 % and 0.5 s.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMAND = str(Path(sys.executable).parent / "torchmatrix")
PROFILE = [
    *("--network", "none", "--read-only", "--tmpfs", "/tmp:exec,size=4g", "--cap-drop", "ALL", "--init"),
    *("--security-opt", "no-new-privileges", "--user", "10001:10001", "--memory", "8g", "--memory-swap", "8g"),
    *("--pids-limit", "4096", "--shm-size", "1g", "--ulimit", "core=0", "--log-driver", "local"),
    *("-e", "HOME=/tmp", "-e", "TMPDIR=/tmp", "-e", "PYTHONPATH=/suites"),
]


def bare(image: str, cell: Path) -> float:
    started = time.monotonic()
    subprocess.run(
        ["docker", "run", "--rm", *PROFILE, "-v", f"{ROOT}/suites:/suites/suites:ro", "-v", f"{cell}:/in/cell.json:ro",
         "--entrypoint", "/opt/venv/bin/python", image, "-m", "suites", "--cell", "/in/cell.json", "--out", "/tmp/out"],
        check=True, capture_output=True,
    )  # fmt: skip
    return time.monotonic() - started


def ours(name: str, runs: Path) -> tuple[float, Path]:
    """Seconds from the cell's first journal line after its image was ready to its last, and its attempt's folder."""
    folder = runs / str(time.monotonic_ns())
    subprocess.run(
        [COMMAND, "run", "--here", "--select", name, "--runs", str(folder)], check=True, capture_output=True, cwd=ROOT
    )
    (run,) = folder.iterdir()
    lines = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    times = [datetime.fromisoformat(line["time"]) for line in lines if line.get("cell") and line["step"] != "prepare"]
    (attempt,) = run.glob("cells/*/attempt-1")
    return (max(times) - min(times)).total_seconds(), attempt


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument(
        "--select", default="cpu-eager", help="the name of one production row that this machine can run"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(folder)
        _, attempt = ours(arguments.select, runs)  # warms images and caches, and brings the request and the image
        image = json.loads((attempt / "attempt.json").read_text())["image"]
        cell = attempt / "cell.json"
        cell.chmod(0o644)
        alone, within = [], []
        for turn in range(arguments.turns):
            if turn % 2:
                within.append(ours(arguments.select, runs)[0])
                alone.append(bare(image, cell))
            else:
                alone.append(bare(image, cell))
                within.append(ours(arguments.select, runs)[0])
    cost = statistics.median(b - a for a, b in zip(alone, within, strict=True))
    base = statistics.median(alone)
    bound = max(0.05 * base, 0.5)
    print(f"bare docker run  median {base:7.2f} s  ({min(alone):.2f} to {max(alone):.2f})")
    print(f"cell in a run    median {statistics.median(within):7.2f} s  ({min(within):.2f} to {max(within):.2f})")
    print(f"cost per cell    median of differences {cost:+.2f} s, bound {bound:.2f} s, {arguments.turns} turns")
    return int(cost > bound)


if __name__ == "__main__":
    sys.exit(main())
