import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.errors import ExitCode

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def _site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "site.yaml").write_text(
        f'indexes: {{default: "{tmp_path.as_uri()}"}}\nextra_indexes: ["http://ci:hunter22@127.0.0.1:1/simple"]\n'
        f"store: {tmp_path}/store\ncache: {tmp_path}/cache\n"
    )
    monkeypatch.setenv("TORCHMATRIX_SITE", str(tmp_path / "site.yaml"))


def test_settings_are_shown_with_their_origin(torchmatrix: Run, tmp_path: Path) -> None:
    done = torchmatrix("site")
    assert done.returncode == ExitCode.GOOD
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("extra_indexes")]
    assert line.split() == ["extra_indexes", "http://ci:[MASKED]@127.0.0.1:1/simple", f"{tmp_path}/site.yaml:2:1"]
    assert "hunter22" not in done.stdout + done.stderr


def test_what_cannot_be_used_is_an_infrastructure_error(torchmatrix: Run) -> None:
    done = torchmatrix("site", "--check", "--json")
    assert done.returncode == ExitCode.INFRASTRUCTURE
    checks = {each["name"]: each["problem"] for each in json.loads(done.stdout)["checks"]}
    assert checks["indexes.default"] == ""
    assert "Connection refused" in checks["extra_indexes"]
    assert "extra_indexes: http://ci:[MASKED]@127.0.0.1:1/simple: " in done.stderr
    assert "hunter22" not in done.stdout + done.stderr
