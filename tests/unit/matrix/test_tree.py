import pytest

from orchestrator.matrix.tree import Listing, Node, Refused, Scalar, Table, kind
from orchestrator.model import Place

HERE = Place(file="m.yaml", line=1, column=1)


@pytest.mark.parametrize(
    ("node", "name"),
    [
        (Scalar(value="x", place=HERE), "text"),
        (Scalar(value="", place=HERE), "nothing"),
        (Listing(items=(), place=HERE), "a list"),
        (Table(entries=(), place=HERE), "a mapping"),
        (Refused(place=HERE), "an alias"),
    ],
)
def test_kind_is_what_a_reader_would_call_it(node: Node, name: str) -> None:
    assert kind(node) == name
