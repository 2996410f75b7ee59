"""Cells that die in every way, through a whole run: each keeps its own verdict, and the others go on."""

import json
from pathlib import Path

from planned_run import check, ended, only_run, started

DOES = {
    "pass": ("passed", "none"),
    "fail": ("failed", "numerics"),
    "abort": ("crashed", "abort"),
    "exit-0": ("crashed", "unclear"),
    "die-at-exit": ("crashed-at-exit", "segmentation fault"),
    "hang": ("timeout", "hang"),
    "deafly-hang": ("timeout", "hang"),
}


def test_each_cell_has_its_own_verdict_and_is_tried_once(tmp_path: Path) -> None:
    ended(started("run", tmp_path, *DOES, TIMEOUT_S="1"), 0)
    run = only_run(tmp_path)
    cells = json.loads((run / "summary.json").read_bytes())["cells"]
    assert {cell["name"].partition("-")[2]: (cell["status"], cell["cause"]) for cell in cells} == DOES
    reasons = {cell["name"].partition("-")[2]: cell["reason"] for cell in cells}
    for name in ("abort", "exit-0", "hang", "deafly-hang"):
        assert "in second" in reasons[name]  # the test in flight is named
    check(run)
