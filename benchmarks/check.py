"""How long `torchmatrix check` takes, as whole processes: one question with what is nearest, and 10,000 in a batch.

    python benchmarks/check.py [--runs 7] [--lines 10000]

Bounds of the project: one `check` under 0.35 s, a batch of 10,000 under 5 s (verdict and reasons); medians.
The combinations of the batch are drawn, with a seed, from what people run: most of them fit together badly.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

COMMAND = str(Path(sys.executable).parent / "torchmatrix")
BOUND_ONE_S, BOUND_BATCH_S = 0.35, 5.0
ONE = {
    "supported": ["torch=2.14.1", "torch_build=cu130", "python=3.12", "gpu=H100", "driver=580.95.05"],
    "unsupported": ["torch=2.8.0", "torch_build=cu128", "gpu=RTX 5090", "driver=550.127.05"],
    "unknown": ["torch_build=cu128", "gpu=V100"],
}
TORCH = "2.0.1 2.1.2 2.2.2 2.3.1 2.4.1 2.5.1 2.6.0 2.7.1 2.8.0 2.9.1 2.10.0 2.11.0 2.12.1 2.13.0 2.14.1 2.15.0"
BUILDS = "cu118 cu121 cu124 cu126 cu128 cu129 cu130 cu132 cpu rocm6.2 rocm7.1 xpu"
DRIVERS = "535.247.01 580.95.05 550.127.05 470.182.03 595.58.03 525.60.13 570.26"
AXES = {
    "torch": TORCH.split(),
    "torch_build": BUILDS.split(),
    "gpu": ["H100", "A100", "V100", "RTX 4090", "RTX 5090", "GTX 1080", "B200", "MI300X", "B580", "T4"],
    "driver": DRIVERS.split(),
    "python": ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.13t"],
    "distro": ["ubuntu-22.04", "debian-12", "rhel-8"],
}


def took(arguments: Sequence[str]) -> float:
    started = time.perf_counter()
    done = subprocess.run([COMMAND, "check", *arguments, "--json"], check=False, capture_output=True)
    if done.returncode not in {0, 1, 3}:
        raise SystemExit(done.stderr.decode())
    return time.perf_counter() - started


def batch(lines: int) -> str:
    chance = random.Random(0)
    rows = ({axis: chance.choice(values) for axis, values in AXES.items()} for _ in range(lines))
    return "".join(json.dumps(row) + "\n" for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--lines", type=int, default=10_000)
    options = parser.parse_args()
    late = False
    print(f"{'question':14} {'median':>8} {'max':>8}  bound")
    for name, arguments in ONE.items():
        seconds = [took(arguments) for _ in range(options.runs + 1)][1:]  # the first warms the file cache
        late |= statistics.median(seconds) > BOUND_ONE_S
        print(f"{name:14} {statistics.median(seconds):7.3f}s {max(seconds):7.3f}s  {BOUND_ONE_S} s")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "batch.jsonl"
        file.write_text(batch(options.lines), encoding="utf-8")
        seconds = [took(["--batch", str(file)]) for _ in range(3)]
    late |= statistics.median(seconds) > BOUND_BATCH_S
    print(f"{options.lines:<14} {statistics.median(seconds):7.3f}s {max(seconds):7.3f}s  {BOUND_BATCH_S} s")
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
