"""What the tests of this room share: the command itself, in a folder with a small matrix."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

MATRIX = """\
version: 1
axes:
  torch: ["2.6.0", "2.13.0"]
  torch_build: [cpu, cu130]
  python: ["3.11", "3.12"]
  backend: [eager, inductor]
  driver: {when: {torch_build: "cu*"}, values: ["580"]}
  gpu: {when: {torch_build: "cu*"}, values: [H100]}
production:
  - {name: ci-cpu, torch: "2.13.0", torch_build: cpu, python: "3.11"}
  - {name: train, torch: "2.13.0", torch_build: cu130, python: "3.12", driver: "580", gpu: H100, gpus: 8}
"""
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def torchmatrix(tmp_path: Path) -> Run:
    (tmp_path / "matrix.yaml").write_text(MATRIX)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from orchestrator.cli import main; main()", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=60)

    return run
