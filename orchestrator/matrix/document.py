"""A matrix file, read: path -> text -> tree -> Matrix."""

from pathlib import Path

from orchestrator.matrix import parse, schema, source
from orchestrator.matrix.problems import Problems
from orchestrator.model import Matrix


def load(path: Path) -> Matrix:
    """The Matrix in a file; InputErrors with every problem in it, in the order of its lines."""
    return read(source.read(path), source.name_of(path), path.parent)


def read(content: str, name: str, folder: Path) -> Matrix:
    """The Matrix in a text; `name` is its file in each place, `folder` the one in which its paths begin."""
    problems = Problems()
    return schema.matrix_of(parse.parse(content, name, problems), folder, problems)
