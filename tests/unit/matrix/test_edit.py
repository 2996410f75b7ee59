"""Changes to the text of a file, each at its place."""

import pytest

from orchestrator.errors import InputError
from orchestrator.matrix import edit, parse
from orchestrator.matrix.problems import Problems
from orchestrator.matrix.tree import Listing, Node, Scalar, Table


def tree(content: str) -> Node:
    return parse.parse(content, "matrix.yaml", Problems())


def value_of(content: str) -> Node:
    root = tree(content)
    assert isinstance(root, Table)
    return root.entries[-1][1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a: 1.0", "a: 2.0"),
        ('a: "1.0" # why\n', 'a: "2.0" # why\n'),
        ("a: '1.0'\r\n", "a: '2.0'\r\n"),
        ("ä: ü # \U0001f600\na:   1.0   # x", "ä: ü # \U0001f600\na:   2.0   # x"),
        ("{b: 1, a: 1.0}", "{b: 1, a: 2.0}"),
        ('a:\n  "1\\\n  .0"', None),
        ("a: |\n  1.0\n", None),
    ],
)
def test_a_scalar_is_replaced_where_it_stands(before: str, after: str | None) -> None:
    scalar = value_of(before)
    assert isinstance(scalar, Scalar)
    if after is None:
        with pytest.raises(InputError, match="several lines"):
            edit.replaced(before, scalar, "2.0")
    else:
        assert edit.applied(before, [edit.replaced(before, scalar, "2.0")]) == after


def test_what_plain_yaml_might_take_for_something_else_is_quoted() -> None:
    scalar = value_of("a: plain")
    assert isinstance(scalar, Scalar)
    for value in ("a: b", "#x", "-", '"', "x y", "é"):
        edited = edit.applied("a: plain", [edit.replaced("a: plain", scalar, value)])
        found = value_of(edited)
        assert isinstance(found, Scalar)
        assert found.value == value


FLOW = 'a: ["1", "3"] # c\n'
BLOCK = 'a:\n  - "1"  # one\n  - "3"  # three\n# end\n'


@pytest.mark.parametrize(
    ("before", "at", "after"),
    [
        (FLOW, 0, 'a: ["2", "1", "3"] # c\n'),
        (FLOW, 1, 'a: ["1", "2", "3"] # c\n'),
        (FLOW, 2, 'a: ["1", "3", "2"] # c\n'),
        ("a: [1,\n  3, # c\n]", 2, "a: [1,\n  3, 2, # c\n]"),
        (BLOCK, 0, 'a:\n  - "2"\n  - "1"  # one\n  - "3"  # three\n# end\n'),
        (BLOCK, 1, 'a:\n  - "1"  # one\n  - "2"\n  - "3"  # three\n# end\n'),
        (BLOCK, 2, 'a:\n  - "1"  # one\n  - "3"  # three\n  - "2"\n# end\n'),
        (BLOCK.replace("\n", "\r\n"), 2, 'a:\r\n  - "1"  # one\r\n  - "3"  # three\r\n  - "2"\r\n# end\r\n'),
        ("a:\r\n- 1", 1, "a:\r\n- 1\r\n- 2"),
        ("a:\n- 1", 0, "a:\n- 2\n- 1"),
        ("a:\n-   1\n", 1, "a:\n-   1\n-   2\n"),
    ],
)
def test_an_item_is_written_as_its_neighbour(before: str, at: int, after: str) -> None:
    listing = value_of(before)
    assert isinstance(listing, Listing)
    assert edit.applied(before, [edit.inserted(before, listing, at, "2")]) == after


@pytest.mark.parametrize(("at", "after"), [(0, "- - 2\n  - 1\n"), (1, "- - 1\n  - 2\n")])
def test_a_list_within_a_list_keeps_its_column(at: int, after: str) -> None:
    outer = tree("- - 1\n")
    assert isinstance(outer, Listing)
    (inner,) = outer.items
    assert isinstance(inner, Listing)
    assert edit.applied("- - 1\n", [edit.inserted("- - 1\n", inner, at, "2")]) == after


def test_a_list_of_mappings_is_left_alone() -> None:
    content = "a: [{b: c}]"
    listing = value_of(content)
    assert isinstance(listing, Listing)
    with pytest.raises(InputError, match="not edited"):
        edit.inserted(content, listing, 1, "2")


def test_changes_are_made_from_the_end_so_that_none_moves_another() -> None:
    changes = [edit.Change(start=0, end=1, text="long"), edit.Change(start=2, end=2, text="x")]
    assert edit.applied("abc", changes) == edit.applied("abc", changes[::-1]) == "longbxc"
