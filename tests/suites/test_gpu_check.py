"""scripts/gpu-check.sh: it never lets the processor pass for a device, ends in time, and leaves bundles."""

import os
import subprocess
from pathlib import Path

import pytest

from orchestrator.results.bundle import read_bundle
from orchestrator.vocabulary import Outcome

SCRIPT = Path(__file__).parents[2] / "scripts" / "gpu-check.sh"


TIMEOUT = """#!/bin/sh
# In the place of timeout: notes what it was asked for, and lets the command take as long as it likes.
echo "$1 $2 $3" >> "$NOTES"
shift 3
exec "$@"
"""
PYTHON = """#!/bin/sh
# In the place of Python: names a device, then ends each part of the check with a code of its own.
case $* in
    "- "*) echo cuda; exit "${PROBE:-0}" ;;
    *inductor*) exit "${INDUCTOR:-0}" ;;
    *deep*) exit "${DEEP:-0}" ;;
    *) exit "${EAGER:-0}" ;;
esac
"""


def check(*options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    hidden = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "ZE_AFFINITY_MASK": ""}
    environment = {**os.environ, **hidden, **variables}
    return subprocess.run(
        ["sh", str(SCRIPT), *options], check=False, capture_output=True, text=True, env=environment, timeout=600
    )


@pytest.fixture
def instead(tmp_path: Path) -> dict[str, str]:
    """Variables under which the script finds TIMEOUT, and PYTHON too where that is named; NOTES has a line a call."""
    folder = tmp_path / "instead"
    folder.mkdir()
    for name, text in (("timeout", TIMEOUT), ("python", PYTHON)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    path = os.pathsep.join((str(folder), os.environ["PATH"]))
    return {"PATH": path, "NOTES": str(tmp_path / "notes"), "PYTHON": str(folder / "python")}


def test_all_limits_together_with_what_is_granted_after_them_are_under_8_minutes(
    instead: dict[str, str], tmp_path: Path
) -> None:
    done = check("--out", str(tmp_path / "out"), **instead)

    assert done.returncode == 0, done.stdout + done.stderr
    notes = [line.split() for line in Path(instead["NOTES"]).read_text().splitlines()]
    assert len(notes) == 4, "the probe and three parts"
    assert {word for word, _, _ in notes} == {"-k"}
    assert sum(int(grace) + int(limit) for _, grace, limit in notes) < 480


@pytest.mark.parametrize(
    ("codes", "code", "parts", "said"),
    [
        ({"INDUCTOR": "1"}, 1, 3, ""),
        ({"EAGER": "124"}, 1, 3, "gpu-check: eager did not end within"),
        ({"EAGER": "4"}, 4, 1, ""),
        ({"EAGER": "1", "DEEP": "4"}, 4, 3, ""),
        ({"PROBE": "137"}, 4, 0, "gpu-check: device lost: torch did not answer within"),
    ],
)
def test_the_worst_of_the_parts_is_the_exit_code(
    instead: dict[str, str], tmp_path: Path, codes: dict[str, str], code: int, parts: int, said: str
) -> None:
    done = check("--out", str(tmp_path / "out"), **instead, **codes)

    assert done.returncode == code
    assert done.stdout.count(" on cuda, at most ") == parts
    assert said in done.stdout + done.stderr


@pytest.mark.torch
@pytest.mark.slow
def test_a_dry_run_on_the_processor_leaves_a_whole_bundle_for_each_part(
    torch_python: str, instead: dict[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    variables = {**instead, "PYTHON": torch_python}

    done = check("--dry-run", "--device", "cpu", "--out", str(out), **variables)

    assert done.returncode == 0, done.stdout + done.stderr
    bundles = {path.name: read_bundle(path) for path in out.iterdir()}
    assert bundles.keys() == {"eager", "inductor", "deep-health"}
    assert not any(one.problems for one in bundles.values())
    passed = {name: sum(case.outcome is Outcome.PASSED for case in one.cases) for name, one in bundles.items()}
    assert passed["eager"] > 20
    deep = [case for case in bundles["deep-health"].cases if "test_deep_health" in case.name]
    assert [case.outcome for case in deep] == [Outcome.PASSED]
    assert bundles["inductor"].cases


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
