"""How long the command takes to answer, beside a bare interpreter: whole processes, in turn, medians.

    python benchmarks/startup.py [--runs 15]

Bounds of the project: `torchmatrix --help` under 0.4 s, `torchmatrix plan` on the repository's matrix under 0.6 s.
"""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMAND = str(Path(sys.executable).parent / "torchmatrix")
COMMANDS = {
    "python -c pass": (sys.executable, "-c", "pass"),
    "torchmatrix --help": (COMMAND, "--help"),
    "torchmatrix plan": (COMMAND, "plan", "--json"),
}
BOUNDS_S = {"torchmatrix --help": 0.4, "torchmatrix plan": 0.6}


def measure(command: tuple[str, ...]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return time.perf_counter() - started


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for turn in range(runs + 1):
        for name, command in COMMANDS.items():
            took = measure(command)
            if turn:  # the first turn warms the file cache
                seconds[name].append(took)
    bare = statistics.median(seconds["python -c pass"])
    late = False
    print(f"{'command':22} {'median':>8} {'min':>8} {'max':>8} {'x bare':>7}  bound")
    for name, took in seconds.items():
        median = statistics.median(took)
        bound = BOUNDS_S.get(name)
        late |= bound is not None and median > bound
        print(
            f"{name:22} {median:7.3f}s {min(took):7.3f}s {max(took):7.3f}s {median / bare:7.1f}  "
            + (f"{bound} s" if bound else "")
        )
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
