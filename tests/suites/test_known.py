"""Known issues: only the one error is excused, with its link, and only until its date."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from suites import bundle

pytestmark = pytest.mark.torch

LOADS = """
import datetime as dt
import pytest
import torch
from suites.known import KnownIssue, excused
from suites.work import Work
def issue(until):
    return KnownIssue(because="it is so", link="https://example.org/1", most=1e-2, until=dt.date.fromisoformat(until))
def work(factor):
    return Work("l", "8", "fp32", "m", "1", lambda x: x * factor, (torch.ones(8),), reference=lambda x: x)
@pytest.mark.parametrize("factor", [1.0, 1.005, 1.1, float("nan")])
def test_far(bench, request, factor):
    with excused(request, issue("2999-01-01")): bench.run(work(factor))
def test_fell_back(bench, request):
    with excused(request, issue("2999-01-01")): raise AssertionError("backend fell back: x took 0 graphs")
@pytest.mark.parametrize("factor", [1.0, 1.005])
def test_over(bench, request, factor):
    with excused(request, issue("2026-01-01")): bench.run(work(factor))
"""
OVER = "the known issue is past its date, 2026-01-01: renew it, or take it out: https://example.org/1 (it is so)"
KNOWN = "known issue: https://example.org/1 (until 2999-01-01): it is so: numerics: error against fp64 is 5.00e-03 of"


def test_only_the_one_error_is_excused_and_only_until_its_date(
    snippet: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "loads").mkdir()
    (tmp_path / "pytest.ini").write_text((Path(bundle.__file__).parent / "pytest.ini").read_text())
    (tmp_path / "loads" / "test_ours.py").write_text(LOADS)
    run = f"""
import pathlib, sys
from suites import command, session
session._HERE = pathlib.Path({str(tmp_path)!r})
sys.exit(command.main(["--device", "cpu", "--out", {str(tmp_path / "out")!r}]))
"""
    done = snippet(run)
    assert done.returncode == 1, done.stdout + done.stderr
    found = {}
    for case in ET.fromstring((tmp_path / "out" / bundle.JUNIT).read_bytes()).iter("testcase"):
        found[str(case.get("name")).rpartition("test_")[2]] = (case[0].tag, str(case[0].get("message")))
    assert found.pop("far[1.005]")[0] == "skipped"
    assert found["far[1.0]"][1].startswith("[XPASS(strict)] https://example.org/1")
    assert found["far[1.1]"][1].startswith("numerics: error against fp64 is 1.00e-01 of")
    assert found["far[nan]"][1] == "numerics: 8 of 8 values are not finite"
    assert found["fell_back"][1] == "backend fell back: x took 0 graphs"
    assert {found[f"over[{factor}]"][1] for factor in ("1.0", "1.005")} == {OVER}
    assert {tag for tag, _ in found.values()} == {"failure"}
    assert KNOWN in (tmp_path / "out" / bundle.JUNIT).read_text()
