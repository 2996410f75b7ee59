"""scripts/gpu-check.sh where there is no device: it says so, and never lets the processor pass for one."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "gpu-check.sh"


def check(*options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "ZE_AFFINITY_MASK": ""}
    return subprocess.run(
        ["sh", str(SCRIPT), *options], check=False, capture_output=True, text=True, env=environment, timeout=120
    )


@pytest.mark.torch
@pytest.mark.parametrize(
    ("device", "said"), [("auto", "no device beside the processor"), ("cuda", "cuda was asked for")]
)
def test_no_device_is_told_and_is_4(torch_python: str, tmp_path: Path, device: str, said: str) -> None:
    done = check("--python", torch_python, "--device", device, "--out", str(tmp_path))
    assert done.returncode == 4, done.stdout + done.stderr
    assert done.stderr.startswith(f"gpu-check: device missing: {said}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("options", [("--bogus",), ("--device",), ("more",)])
def test_options_that_make_no_sense_are_2(options: tuple[str, ...]) -> None:
    done = check(*options)
    assert done.returncode == 2
    assert "gpu-check.sh [--device" in done.stderr


def test_a_python_that_is_not_there_is_4(tmp_path: Path) -> None:
    assert check("--python", str(tmp_path / "none"), "--out", str(tmp_path)).returncode == 4
