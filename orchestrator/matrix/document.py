"""A matrix file, read: path -> text -> tree -> Matrix."""

from pathlib import Path

from orchestrator.matrix import parse, schema, source
from orchestrator.matrix.problems import Problems
from orchestrator.model import Matrix


def load(path: Path) -> Matrix:
    """The Matrix in a file; InputErrors with every problem in it, in the order of its lines."""
    problems = Problems()
    root = parse.parse(source.read(path), source.name_of(path), problems)
    return schema.matrix_of(root, path.parent, problems)
