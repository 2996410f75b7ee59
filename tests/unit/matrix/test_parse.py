"""From text to a tree: what is written is what is read, and what YAML adds to that is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.errors import InputErrors
from orchestrator.matrix.parse import MAX_DEPTH, MAX_NODES, MAX_TEXT, parse
from orchestrator.matrix.problems import Problems
from orchestrator.matrix.tree import Listing, Node, Refused, Scalar, Table

PYTHON = "tag:yaml.org,2002:python/"
END = "'end of file' (while parsing a flow node that begins in line 2)"


def plain(node: Node) -> object:
    """The tree as Python's own values."""
    match node:
        case Scalar():
            return node.value
        case Listing():
            return [plain(child) for child in node.items]
        case Table():
            return {key.value: plain(child) for key, child in node.entries}
        case Refused():
            return None


def read(content: str) -> Node:
    problems = Problems()
    root = parse(content, "m.yaml", problems)
    problems.raise_any()
    return root


def told(content: str) -> list[str]:
    with pytest.raises(InputErrors) as caught:
        read(content)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    "written",
    [
        "2.9",
        "2.10",
        "NO",
        "on",
        "yes",
        "null",
        "~",
        "12:30",
        "017",
        "0x1f",
        "1_000",
        "2026-01-01",
        ".nan",
        "1e3",
        "true",
    ],
)
def test_every_scalar_is_the_text_that_is_written(written: str) -> None:
    assert plain(read(f"a: {written}\nb: [{written}]\n")) == {"a": written, "b": [written]}


def test_a_tree_has_the_place_of_everything() -> None:
    root = read("a:\n  - {b: c}\n")
    assert isinstance(root, Table)
    key, items = root.entries[0]
    assert str(key.place) == "m.yaml:1:1"
    assert isinstance(items, Listing)
    assert str(items.place) == "m.yaml:2:3"
    table = items.items[0]
    assert isinstance(table, Table)
    assert str(table.entries[0][1].place) == "m.yaml:2:9"


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("a:\n", {"a": ""}),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}),
        ("a: >-\n  x\n  y\n", {"a": "x y"}),
        ("'a b': \"\\u00e9\"\n", {"a b": "é"}),
        ("--- {a: [], b: {}}\n...\n", {"a": [], "b": {}}),
        ("just text", "just text"),
        ('"<<": 1', None),
    ],
)
def test_what_is_read(content: str, value: object) -> None:
    if value is None:
        assert told(content) == ["m.yaml:1:1: merge keys are not supported: write the values out"]
    else:
        assert plain(read(content)) == value


@pytest.mark.parametrize(
    ("content", "problems"),
    [
        ("a: 1\nb: {c: 1, c: 2}\na: 3\n", ["m.yaml:2:11: `c` is given twice (first in line 2, again in line 2)",
                                          "m.yaml:3:1: `a` is given twice (first in line 1, again in line 3)"]),
        ("&x [*x]", ["m.yaml:1:1: anchors and aliases are not supported: remove `&x`",
                     "m.yaml:1:5: aliases are not supported: write out what `*x` stands for"]),
        ("*x : 1", ["m.yaml:1:1: aliases are not supported: write out what `*x` stands for"]),
        ("a: !!python/name:os.system x", [f"m.yaml:1:4: tags are not supported: remove `{PYTHON}name:os.system`"]),
        ("a: ! x", ["m.yaml:1:4: tags are not supported: remove `!`"]),
        ("[a]: 1", ["m.yaml:1:1: a key must be text"]),
        ("a: 1\n--- b", ["m.yaml:2:1: a second document begins here: the file holds one"]),
        ("%TAG ! x\n--- a", ["m.yaml:2:1: YAML directives (%YAML, %TAG) are not supported"]),
        ("a:\n\t- b", ["m.yaml:2:1: a tab cannot indent YAML: use spaces"]),
        ("a: *x\nb: [", ["m.yaml:1:4: aliases are not supported: write out what `*x` stands for",
                         f"m.yaml:2:5: expected the node content, but found {END}"]),
        ("", ["m.yaml:1:1: the file is empty"]),
    ],
)  # fmt: skip
def test_what_is_refused(content: str, problems: list[str]) -> None:
    assert told(content) == problems


def test_an_alias_bomb_is_refused_at_its_anchors() -> None:
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
    assert all("alias" in line for line in told(bomb))


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_deep_nesting_ends_at_the_cap(opening: str) -> None:
    assert told(opening * 50_000)[-1].endswith(f"nested deeper than {MAX_DEPTH} levels")


def test_nesting_up_to_the_cap_is_read() -> None:
    assert plain(read("[" * MAX_DEPTH + "]" * MAX_DEPTH)) is not None


def test_a_text_over_the_cap_is_told_and_reading_goes_on() -> None:
    assert told(f"a: {'x' * (MAX_TEXT + 1)}\nb: *x") == [
        f"m.yaml:1:4: a text of {MAX_TEXT + 1} characters; at most {MAX_TEXT} are read",
        "m.yaml:2:4: aliases are not supported: write out what `*x` stands for",
    ]


@pytest.mark.parametrize("quote", ["", '"', "'"])
def test_a_text_of_a_megabyte_is_told_by_its_length(quote: str) -> None:
    size = (1 << 20) - 8
    (problem,) = told(f"a: {quote}{'x' * size}{quote}\n")
    assert problem == f"m.yaml:1:4: a text of {size} characters; at most {MAX_TEXT} are read"


def test_a_file_of_very_many_values_ends_at_the_cap() -> None:
    assert told("- x\n" * (MAX_NODES + 1)) == [
        f"m.yaml:{MAX_NODES + 1}:3: more than {MAX_NODES} values: a matrix of that size is a mistake"
    ]


def outcome_of(content: str) -> Node | InputErrors:
    try:
        return read(content)
    except InputErrors as error:
        return error


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(content: str) -> None:
    outcome = outcome_of(content)
    if isinstance(outcome, InputErrors):
        assert all(problem.place.startswith("m.yaml:") for problem in outcome.problems)


VALUES = st.recursive(
    st.text("abc019.:~-#'", max_size=6),
    lambda child: (
        st.lists(child, max_size=3) | st.dictionaries(st.text("abc", min_size=1, max_size=2), child, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_what_json_writes_is_read_as_it_is(value: object) -> None:
    """JSON is YAML 1.2: every value of texts, lists and mappings comes back unchanged."""
    assert plain(read(json.dumps(value))) == value
