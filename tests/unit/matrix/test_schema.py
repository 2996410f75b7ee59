import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from orchestrator.matrix.document import load
from orchestrator.matrix.parse import parse
from orchestrator.matrix.problems import Problems
from orchestrator.matrix.schema import document_schema, matrix_of
from orchestrator.matrix.tree import Listing, Node, Scalar, Table
from orchestrator.model import Matrix

DATA = Path(__file__).parents[2] / "data" / "matrix"
REAL = Path(__file__).parents[3] / "matrix.yaml"
MINIMAL = "version: 1\nproduction: [{name: a, torch: 2.6.0, torch_build: cpu, python: '3.11'}]\n"


def matrix(content: str) -> Matrix:
    problems = Problems()
    return matrix_of(parse(content, "m", problems), Path("/nowhere"), problems)


def test_every_section_is_read() -> None:
    read = load(DATA / "small.yaml")
    assert [row.name for row in read.production] == ["train", "cpu", "ready", "vino"]
    assert [entry.axis for entry in read.axes][-1] == "gpu"
    assert (read.edge.cells, len(read.loads), len(read.rules), read.facts) == (24, 1, 1, ("./facts/*.yaml",))
    assert [known.test for known in read.known_issues] == ["*conv*", ""]
    assert [runner.name for runner in read.runners] == ["h100", "mi300x"]
    assert (read.limits.timeout_s, read.gates["busbw"]) == (1200.0, 0.03)
    assert [secret.name for secret in read.secrets] == ["INDEX_TOKEN", "KEY"]


def test_only_the_version_and_production_are_needed() -> None:
    read = matrix(MINIMAL)
    assert (read.axes, read.rules, read.runners, read.gates) == ((), (), (), {})


def test_a_matrix_is_the_same_value_twice() -> None:
    assert msgspec.json.encode(matrix(MINIMAL)) == msgspec.json.encode(matrix(MINIMAL))


def test_an_empty_list_of_rows_is_a_matrix_with_nothing_to_run() -> None:
    assert matrix("version: 1\nproduction: []\n").production == ()


def as_an_editor_reads(node: Node) -> Any:
    """The values of YAML 1.2's core schema, which is how editors read the file: numbers and booleans are not text."""
    match node:
        case Scalar():
            try:
                return json.loads(node.value)
            except ValueError:
                return node.value
        case Listing():
            return [as_an_editor_reads(child) for child in node.items]
        case Table():
            return {key.value: as_an_editor_reads(child) for key, child in node.entries}
        case _:
            raise AssertionError(node)


def check_by_schema(content: str) -> None:
    jsonschema.validate(
        as_an_editor_reads(parse(content, "m", Problems())), document_schema(), cls=jsonschema.Draft202012Validator
    )


def test_the_schema_for_editors_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(document_schema())
    assert json.loads(json.dumps(document_schema())) == document_schema()


@pytest.mark.parametrize("path", [REAL, DATA / "small.yaml"], ids=lambda path: path.name)
def test_the_schema_for_editors_takes_what_we_take(path: Path) -> None:
    check_by_schema(path.read_text())


@pytest.mark.parametrize(
    "change",
    [
        ("version: 1", "version: 2"),
        ("name: a", "nam: a"),
        ("production", "prodution"),
        ("torch_build", "distro"),
        ("python: '3.11'", "python: ['3.11']"),
    ],
)
def test_the_schema_for_editors_refuses_what_we_refuse(change: tuple[str, str]) -> None:
    check_by_schema(MINIMAL)
    with pytest.raises(jsonschema.ValidationError):
        check_by_schema(MINIMAL.replace(*change))
