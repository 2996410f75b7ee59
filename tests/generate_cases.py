"""Write `suites/cases.json`, the cases that a run is held against: `make cases`. Needs torch, of any version."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from suites import cases
from suites.recorder import least_profiles

ROOT = Path(__file__).parents[1]
SUITE = ROOT / "suites"


class Collected:
    """A pytest plugin that keeps what was collected."""

    def __init__(self) -> None:
        self.cases: dict[str, tuple[str, str]] = {}

    def pytest_collection_finish(self, session: Any) -> None:
        """Keep each case with its least profiles."""
        self.cases = {item.nodeid: least_profiles(item) for item in session.items}


def collected() -> dict[str, tuple[str, str]]:
    """The cases of the suite as pytest finds them here; SystemExit when a file cannot be collected."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    plugin = Collected()
    options = ["-c", str(SUITE / "pytest.ini"), "--rootdir", str(SUITE), "--confcutdir", str(SUITE)]
    options += ["-p", "no:cacheprovider", "--collect-only", "-qq", str(SUITE / "loads")]
    code = pytest.main(options, plugins=[plugin])
    if code != pytest.ExitCode.OK:
        raise SystemExit(int(code))
    return plugin.cases


def written(found: dict[str, tuple[str, str]]) -> str:
    """What `cases.json` must hold: a line for each case."""
    lines = [f"{json.dumps(name)}: {json.dumps(least)}" for name, least in sorted(found.items())]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    (SUITE / cases.FILE).write_text(written(collected()), encoding="utf-8")
