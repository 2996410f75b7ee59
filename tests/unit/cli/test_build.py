"""`build`: what it does beside building."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from planned_run import HOST, plan_of

from orchestrator.cli import build as verb
from orchestrator.engines import registry


@dataclass
class Engine:
    swept: list[str] = field(default_factory=list)

    def sweep(self, run_id: str) -> tuple[str, ...]:
        self.swept.append(run_id)
        return ()


def test_what_a_build_left_that_was_killed_goes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    engine = Engine()
    monkeypatch.setattr(verb, "plan_of", lambda *_: (plan_of(()), replace(HOST, engine="docker")))
    monkeypatch.setattr(verb, "admit", lambda *_: None)
    monkeypatch.setattr(registry, "ENGINES", {"docker": lambda: engine})
    monkeypatch.setattr("orchestrator.running.supply._prepare", lambda *_, **__: {})
    done = CliRunner().invoke(verb.build, ["--matrix", str(tmp_path / "matrix.yaml")])
    assert (done.exit_code, engine.swept) == (0, ["build"]), done.output
