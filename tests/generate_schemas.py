"""Writes `orchestrator/schemas/*.schema.json` from the types: `python tests/generate_schemas.py`.

Without an argument the files are written; `rendered()` gives the same texts to the test that holds them fresh.
"""

import json
from pathlib import Path
from typing import Any

import msgspec

from orchestrator import formats, model
from orchestrator.images.gc import ClearingAnswer
from orchestrator.images.listing import ImageFacts
from orchestrator.images.locks import LockFile
from orchestrator.matrix.schema import document_schema
from orchestrator.matrix.starter import Started
from orchestrator.results import context
from orchestrator.running.runs import ListedRun, RunClearing
from orchestrator.settings.told import SiteAnswer

FOLDER = Path(__file__).parents[1] / "orchestrator" / "schemas"
TYPES: dict[str, tuple[str, Any]] = {
    "attempt": ("attempt.json: one try at a cell, beside the bundle that it left", model.Attempt),
    "cell": ("cell.json: what the suite is asked to run", formats.CellFile),
    "comparison": ("what `torchmatrix compare --json` prints", model.PairedComparison),
    "environment": ("environment.json: what the suite found", formats.EnvironmentFile),
    "images": ("what `torchmatrix images ls --json` prints", tuple[ImageFacts, ...]),
    "images-cleared": ("what `torchmatrix images gc --json` prints", ClearingAnswer),
    "impact": ("what `torchmatrix impact --json` prints", model.Impact),
    "lock-check": ("what `torchmatrix lock --check --json` prints", model.LockCheck),
    "lock-file": ("images/locks/*.lock.toml: what an image is made of", LockFile),
    "locking": ("what `torchmatrix lock --json` prints", model.Locking),
    "metric": ("metrics.jsonl: one line of it", formats.MetricRow),
    "plan": ("plan.json, and what `torchmatrix plan --json` prints", model.Plan),
    "progress": ("progress.jsonl: one line of it", formats.ProgressLine),
    "runs": ("what `torchmatrix runs ls --json` prints", tuple[ListedRun, ...]),
    "runs-cleared": ("what `torchmatrix runs gc --json` prints", RunClearing),
    "site": ("what `torchmatrix site --json` prints", SiteAnswer),
    "started": ("what `torchmatrix init --json` prints", Started),
    "structure": ("structure.json: exact counts of a run", formats.StructureFile),
    "summary": ("summary.json: what became of each cell of a run", formats.SummaryFile),
    "trend": ("what `torchmatrix history --json` prints", model.Trend),
    "upgrade": ("what `torchmatrix upgrade --json` prints", model.Upgrade),
}


def schemas() -> dict[str, dict[str, Any]]:
    """The schema of each format by its name."""
    made = {name: _named(name, title, msgspec.json.schema(type_)) for name, (title, type_) in TYPES.items()}
    made["metric"] |= {"allOf": context.conditional()}
    made["matrix"] = _named("matrix", "matrix.yaml", _with_shared_axes(document_schema()))
    made["check-answer"] = _named("check-answer", "what `torchmatrix check --json` prints: an answer", _answer())
    return made


def _answer() -> dict[str, Any]:
    """The answer to a question, or to a line of a batch that holds none."""
    schema = msgspec.json.schema(model.Answer)
    refused = {
        "type": "object",
        "properties": {"error": {"type": "string", "minLength": 1}},
        "required": ["error"],
        "additionalProperties": False,
    }
    return {
        "anyOf": [{"$ref": schema["$ref"]}, {"$ref": "#/$defs/Refused"}],
        "$defs": schema["$defs"] | {"Refused": refused},
    }


def _with_shared_axes(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with the form that every axis takes written once: said for each axis, it is a file of 400 KB."""
    axes = schema["properties"]["axes"]
    form = next(iter(axes["properties"].values()))
    shared = {
        name: {"$ref": "#/$defs/AxisValues"} if other == form else other for name, other in axes["properties"].items()
    }
    properties = schema["properties"] | {"axes": axes | {"properties": shared}}
    return schema | {"properties": properties, "$defs": {"AxisValues": form}}


def _named(name: str, title: str, schema: dict[str, Any]) -> dict[str, Any]:
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:torchmatrix:schema:{name}:{model.SCHEMA_VERSION}",
        "title": title,
    }
    return head | {key: value for key, value in schema.items() if key not in head}


def rendered() -> dict[str, str]:
    """The text of each file by its name; the same types give the same bytes."""
    return {
        f"{name}.schema.json": json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
        for name, schema in schemas().items()
    }


if __name__ == "__main__":
    for name, content in rendered().items():
        (FOLDER / name).write_text(content, encoding="utf-8")
