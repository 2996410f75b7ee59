"""The bundle's files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from suites.bundle import CHECKSUMS, FILES, JUNIT, METRICS, PROGRESS, ROW, Bundle

GOOD = dict(
    zip(
        ROW,
        [
            *("c", "latency", 1.5, "ms", "lower", "l", "m", "1", "2x2", "fp32", "cpu", 1, 5, "min", "t", 0),
            *("", "1", "", {"minimum": 1.5}, {"clock_mhz": None}, True, ""),
        ],
        strict=True,
    )
)


def test_the_folder_is_made_and_an_earlier_bundle_goes(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    outside = tmp_path / "precious"
    outside.write_text("kept")
    (folder / METRICS).symlink_to(outside)
    (folder / CHECKSUMS).write_text("old")
    (folder / "mine.txt").write_text("not a bundle's")
    Bundle(folder)
    assert (folder / METRICS).read_bytes() == b""
    assert outside.read_text() == "kept"
    assert not (folder / CHECKSUMS).exists()
    assert (folder / "mine.txt").exists()


def test_a_second_run_is_kept_off_the_folder_until_the_first_is_gone(tmp_path: Path) -> None:
    code = "import pathlib, sys; from suites.bundle import Bundle; Bundle(pathlib.Path(sys.argv[1])); print(); input()"
    command = [sys.executable, "-c", code, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as first:
        assert first.stdout is not None
        first.stdout.readline()
        (tmp_path / METRICS).write_text("the first run's")
        with pytest.raises(OSError, match="another run writes its bundle here"):
            Bundle(tmp_path)
        assert (tmp_path / METRICS).read_text() == "the first run's"
        first.kill()
    (tmp_path / f".{JUNIT}.part").write_text("half of it")
    Bundle(tmp_path)
    assert (tmp_path / METRICS).read_bytes() == b""
    assert not (tmp_path / f".{JUNIT}.part").exists()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_value_that_is_no_number_is_never_written(tmp_path: Path, value: float) -> None:
    bundle = Bundle(tmp_path)
    with pytest.raises(ValueError, match="latency of l"):
        bundle.metric({**GOOD, "value": value})
    assert (tmp_path / METRICS).read_bytes() == b""


def test_a_row_that_lacks_a_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="keys"):
        Bundle(tmp_path).metric({name: value for name, value in GOOD.items() if name != "unit"})


def test_a_row_that_lacks_its_context_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="metric latency of l lacks its timer and spread"):
        Bundle(tmp_path).metric({**GOOD, "timer": "none", "spread": None})
    assert (tmp_path / METRICS).read_bytes() == b""


def test_rows_and_progress_are_there_as_they_come(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path)
    bundle.metric(GOOD)
    bundle.progress(event="start", test="a")
    assert json.loads((tmp_path / METRICS).read_text()) == GOOD
    assert (tmp_path / PROGRESS).read_text() == '{"event": "start", "test": "a"}\n'


def test_the_seal_is_the_last_file_and_ends_the_progress(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path)
    for name in FILES:
        if name.endswith(".json"):
            bundle.put(name, {})
    bundle.cases("c", [])
    assert not (tmp_path / CHECKSUMS).exists()
    bundle.seal(1, 3)
    assert json.loads((tmp_path / PROGRESS).read_text().splitlines()[-1]) == {"event": "final", "exit": 1, "tests": 3}
    lines = (tmp_path / CHECKSUMS).read_text().splitlines()
    assert [line[66:] for line in lines] == list(FILES)
    assert {path.name for path in tmp_path.iterdir()} == {*FILES, CHECKSUMS}


def test_a_file_that_cannot_be_whole_is_not_put_in_place(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path)
    bundle.put("structure.json", {"n": 1})
    with pytest.raises(ValueError):
        bundle.put("structure.json", {"n": float("nan")})
    assert json.loads((tmp_path / "structure.json").read_text()) == {"n": 1}
    assert not (tmp_path / JUNIT).exists()
