"""How long a plan of a large matrix takes, and how much memory: whole processes, in turn.

    python benchmarks/planning.py [--runs 5]

The matrix below has a raw product of more than a million combinations, twelve production rows, neighbours of every kind
and pairs of five axes. Bounds of the project: under 2 s and 500 MB, with production, neighbours and pairs.
"""

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = str(Path(sys.executable).parent / "torchmatrix")
BOUND_S, BOUND_MB = 2.0, 500

VALUES = {
    "torch": [
        *(f"2.{minor}.1" for minor in (3, 4, 5, 7, 9, 14)),
        *(f"2.{minor}.0" for minor in (6, 8, 10, 11, 12, 13)),
    ],
    "torch_build": ["cpu", "cu118", "cu121", "cu124", "cu126", "cu128", "cu129", "cu130"],
    "python": ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14"],
    "base": ["debian12", "debian13", "ubuntu20.04", "ubuntu22.04", "ubuntu24.04"],
    "driver": ["525", "535", "550", "560", "570", "580"],
    "gpu": ["V100", "T4", "A100", "A10", "L4", "L40S", "H100", "H200", "B200", "RTX4090"],
    "backend": ["eager", "inductor"],
    "matmul_precision": ["highest", "high", "medium"],
}
PAIRS = ["torch", "torch_build", "python", "driver", "gpu"]
ON_A_GPU = {"driver", "gpu"}
ROWS = [
    ("2.3.1", "cu118", "3.10", "ubuntu22.04", "525", "V100", "eager"),
    ("2.4.1", "cu121", "3.10", "ubuntu22.04", "535", "T4", "eager"),
    ("2.5.1", "cu124", "3.11", "ubuntu22.04", "550", "A100", "inductor"),
    ("2.6.0", "cu124", "3.11", "debian12", "550", "L4", "inductor"),
    ("2.7.1", "cu128", "3.12", "ubuntu24.04", "570", "L40S", "inductor"),
    ("2.8.0", "cu128", "3.12", "ubuntu24.04", "570", "H100", "inductor"),
    ("2.9.1", "cu128", "3.12", "ubuntu24.04", "580", "H200", "inductor"),
    ("2.12.0", "cu130", "3.13", "ubuntu24.04", "580", "B200", "inductor"),
    ("2.13.0", "cu130", "3.12", "ubuntu24.04", "580", "H100", "eager"),
    ("2.14.1", "cu130", "3.13", "debian13", "580", "B200", "eager"),
    ("2.13.0", "cpu", "3.12", "debian12", None, None, "inductor"),
    ("2.6.0", "cpu", "3.11", "debian12", None, None, "eager"),
]


def matrix() -> str:
    """The matrix as YAML; JSON is YAML too."""
    rows = [
        {"name": f"row-{number}"}
        | {
            name: value
            for name, value in zip(
                ("torch", "torch_build", "python", "base", "driver", "gpu", "backend"), row, strict=True
            )
            if value is not None
        }
        for number, row in enumerate(ROWS)
    ]
    section = {
        name: {"when": {"torch_build": "cu*"}, "values": values} if name in ON_A_GPU else values
        for name, values in VALUES.items()
    }
    edge = {
        "neighbours": ["oldest", "previous", "next", "newest"],
        "pairwise": PAIRS,
    }
    return json.dumps({"version": 1, "axes": section, "production": rows, "edge": edge}, indent=1)


def measure(folder: str) -> tuple[float, float, float, str]:
    """Seconds, those of them on a CPU, MB at the most, and what a plan of the matrix in a folder prints."""
    started = time.perf_counter()
    with subprocess.Popen(
        [COMMAND, "plan", "--tier", "all", "--engine", "process"], cwd=folder, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        output = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"the plan ended with {child.returncode}")
    return time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "matrix.yaml").write_text(matrix(), encoding="utf-8")
        measure(folder)  # warms the file cache
        measured = [measure(folder) for _ in range(runs)]
    seconds = statistics.median(took for took, *_ in measured)
    busy = statistics.median(cpu for _, cpu, *_ in measured)
    megabytes = max(most for *_, most, _ in measured)
    print(f"raw product  {math.prod(map(len, VALUES.values())):,} combinations, {len(ROWS)} production rows")
    print("plan         " + measured[0][-1].rstrip().rsplit("\n", 1)[-1])
    print("             " + "; ".join(re.findall(r"^\d+ of \d+ .*$", measured[0][-1], re.MULTILINE)))
    spread = f"{min(measured)[0]:.2f} to {max(measured)[0]:.2f}"
    print(f"time         median {seconds:.2f} s ({spread}), bound {BOUND_S} s; {busy:.2f} s of it on a CPU")
    print(f"memory       at most {megabytes:.0f} MB, bound {BOUND_MB} MB")
    return int(seconds > BOUND_S or megabytes > BOUND_MB)


if __name__ == "__main__":
    sys.exit(main())
