"""The whole way on the real engine: matrix.yaml in, real torch in real containers, one merged result out."""

import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
COMMAND = [sys.executable, "-c", "from orchestrator.cli import main; main()"]
pytestmark = [pytest.mark.docker, pytest.mark.slow]


def torchmatrix(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, cwd=cwd, check=False, timeout=1500)


def only_run(folder: Path) -> Path:
    (run,) = folder.iterdir()
    return run


@pytest.fixture(scope="module")
def finished(
    docker_engine: object, tmp_path_factory: pytest.TempPathFactory
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """One run of three production rows: a wheel, a distribution build, and a known issue that fires."""
    runs = tmp_path_factory.mktemp("runs")
    rows = [f"--select={name}" for name in ("cpu-eager", "bookworm-eager", "cpu-openvino-next", "train-*")]
    done = torchmatrix("run", "--here", "--runs", str(runs), *rows)
    return done, only_run(runs)


def test_a_run_ends_well_and_says_what_passed(finished: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    done, _ = finished
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
    assert "unplaced" in done.stdout


def test_the_summary_tells_requested_from_observed(finished: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    summary = json.loads((finished[1] / "summary.json").read_text())
    assert summary["planned"] == sum(summary["totals"].values()) == len(summary["cells"])
    observed = {
        cell["requested"]["torch"]: cell["observed"]["torch"] for cell in summary["cells"] if cell["status"] == "passed"
    }
    assert observed["1.13"].startswith("1.13.0a0")
    assert observed["2.13.0"] == "2.13.0+cpu"


def test_the_known_issue_really_fires(finished: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    summary = json.loads((finished[1] / "summary.json").read_text())
    (cell,) = [cell for cell in summary["cells"] if cell["requested"].get("backend") == "openvino"]
    assert cell["status"] == "passed"
    assert cell["counts"]["known"] >= 1


def test_the_merged_junit_holds_every_planned_cell(finished: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    plan = json.loads((finished[1] / "plan.json").read_text())
    tree = ET.parse(finished[1] / "junit.xml")
    assert {case.get("classname") for case in tree.iter("testcase")} == {cell["id"] for cell in plan["cells"]}


def test_merging_the_attempts_again_gives_the_same_bytes(
    finished: tuple[subprocess.CompletedProcess[str], Path], tmp_path: Path
) -> None:
    run = finished[1]
    out = tmp_path / run.name
    bundles = map(str, sorted(run.glob("cells/*/*"), reverse=True))
    done = torchmatrix("merge", *bundles, "--plan", str(run / "plan.json"),
                       "--out", str(out), "--here")  # fmt: skip
    assert done.returncode == 0, done.stderr
    for name in ("junit.xml", "metrics.parquet", "summary.json"):
        assert (out / name).read_bytes() == (run / name).read_bytes(), name


def test_a_second_build_does_no_build_step(finished: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    command = ["docker", "events", "--filter", "type=image", "--format", "{{.Action}}"]
    events = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        done = torchmatrix("build", "--select=cpu-eager", "--json")
    finally:
        events.terminate()
    assert done.returncode == 0, done.stderr
    said, _ = events.communicate()
    assert said == ""
    (image,) = json.loads(done.stdout)
    assert image["observed"]["torch"] == "2.13.0+cpu"


def test_a_run_that_was_killed_is_finished_by_resume(docker_engine: object, tmp_path: Path) -> None:
    running = subprocess.Popen(
        [*COMMAND, "run", "--here", "--runs", str(tmp_path), "--select=cpu-eager", "--select=bookworm-eager"],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 300
    while not any('"step":"wait"' in file.read_text() for file in tmp_path.glob("*/journal.jsonl")):
        assert running.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    run = only_run(tmp_path)
    done = torchmatrix("run", "--here", "--resume", str(run))
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads((run / "summary.json").read_text())
    assert [cell["status"] for cell in summary["cells"]] == ["passed", "passed"]
    left = subprocess.run(
        ["docker", "ps", "-aq", "--filter", f"label=org.torchmatrix.run={run.name}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert left.stdout == ""
