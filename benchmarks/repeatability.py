"""How far the suite's figures repeat where nothing changed: instruction counts, and least times of one thread.

    python benchmarks/repeatability.py [--processes 12] [--without-callgrind]

Run it in one container, with nothing beside it. The load is the suite's `elementwise.chain`. Its instructions are
counted twice by callgrind (torch.utils.benchmark, Timer.collect_callgrind) and must lie within 0.5 %; where valgrind is
missing that is said, and not done. Its least time, as the suite times it, comes from fresh processes one after the
other: half of them say how large the noise of one image is, the other half must lie within three times that.
Exits 1 where one of the two does not hold.
"""

import argparse
import math
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

LOAD = "chain(left, right)"
SETUP = """
import torch
from suites.loads.test_elementwise import chain
torch.manual_seed(0)
torch.set_num_threads(1)
left, right = torch.randn({rows}, {length}), torch.randn({rows}, {length})
"""
COUNTED = """
from torch.utils.benchmark import Timer
timer = Timer({load!r}, setup={setup!r}, num_threads=1)
print(timer.collect_callgrind(number=50, collect_baseline=False).counts(denoise=False))
"""
TIMED = """
{setup}
from suites import timing
from suites.devices import cpu
took = timing.timed(lambda: {load}, cpu, 400, "standard")
if took.seconds is None:
    raise SystemExit(took.why)
print(took.seconds)
"""
APART = 0.005  # of instruction counts
WITHIN = 3.0  # times the noise


def told(code: str) -> float:
    """The number that a fresh interpreter prints last."""
    # callgrind's child looks for `python` on PATH. A seed of hashes drawn anew would make other look-ups of names.
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    set_to = {"PYTHONPATH": str(Path(__file__).parents[1]), "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    variables = {**os.environ, "PATH": path, **set_to}
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, env=variables)
    if done.returncode:
        raise SystemExit(f"not measured: {done.stderr.strip() or done.returncode}")
    return float(done.stdout.split()[-1])


def instructions() -> bool:
    """Two counts of the same load; whether they lie near enough."""
    code = COUNTED.format(load=LOAD, setup=SETUP.format(rows=256, length=64))
    first, second = told(code), told(code)
    apart = abs(first - second) / min(first, second)
    print(f"instructions  {first:.0f} and {second:.0f}: {apart:.3%} apart, {APART:.1%} allowed")
    return apart <= APART


def least_times(processes: int) -> bool:
    """Half of the processes calibrate, the others are held to that."""
    code = TIMED.format(load=LOAD, setup=SETUP.format(rows=1024, length=256))
    logs = [math.log(told(code)) for _ in range(processes)]
    # Every other one, so that a machine that drifts does so in both halves.
    calibration, checked = logs[::2], logs[1::2]
    centre, noise = statistics.median(calibration), statistics.stdev(calibration)
    far = max(abs(log - centre) for log in checked)
    print(
        f"least times   {math.exp(centre) * 1e6:.1f} us, noise of one image {noise:.2%}:"
        f" the farthest of {len(checked)} lies {far:.2%} away, {WITHIN * noise:.2%} allowed"
    )
    return far <= WITHIN * noise


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=12, help="of least times, half of them to calibrate")
    parser.add_argument("--without-callgrind", action="store_true", help="least times only")
    arguments = parser.parse_args()
    good = least_times(max(6, arguments.processes))
    if arguments.without_callgrind:
        return not good
    if shutil.which("valgrind") is None:
        print("instructions  not counted: valgrind is not on PATH (apt-get install valgrind)")
        return not good
    return not (instructions() and good)


if __name__ == "__main__":
    sys.exit(main())
