"""How long the whole run of this machine takes once its images are there, and the slowest of its cells.

    python benchmarks/warm_run.py

The first run brings the images; the second is timed. Bounds of the project: 6 minutes, and 90 s for the
suite's smoke profile in a cell whose compile cache is warm.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMAND = str(Path(sys.executable).parent / "torchmatrix")
BOUND_S = 360
CELL_BOUND_S = 90


def timed(runs: Path) -> tuple[float, Path]:
    """Seconds of one run that ends with 0, and its folder."""
    started = time.monotonic()
    subprocess.run([COMMAND, "run", "--here", "--runs", runs], check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    seconds = time.monotonic() - started
    (run,) = runs.iterdir()
    return seconds, run


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        timed(Path(folder, "first"))
        seconds, run = timed(Path(folder, "warm"))
        attempts = [json.loads(file.read_bytes()) for file in run.glob("cells/*/*/attempt.json")]
    took = {attempt["cell"]: attempt["exit"]["duration_s"] for attempt in attempts}
    slowest = max(took, key=lambda cell: took[cell])
    print(f"whole run     {seconds:5.0f} s, bound {BOUND_S} s, {len(took)} cells")
    print(f"slowest cell  {took[slowest]:5.1f} s, bound {CELL_BOUND_S} s, {slowest}")
    return int(seconds > BOUND_S or took[slowest] > CELL_BOUND_S)


if __name__ == "__main__":
    sys.exit(main())
