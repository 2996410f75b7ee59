import pytest

from orchestrator.yaml_bounds import MAX_DEPTH, admit


def test_plain_documents_pass() -> None:
    admit("a: [1, {b: c}]\nd: |\n  *not an alias\n")
    admit("[" * MAX_DEPTH + "]" * MAX_DEPTH)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("a: &a [x]\nb: [*a, *a]\n", "line 2: aliases"),
        ("&x [*x]", "line 1: aliases"),
        ('a: 1\nb: "\\ud800"', "line 2: it holds half of a character"),
        ('"\\udfff": 1', "half of a character"),
        ("\n" + "[" * 20_000, "line 2: it is nested deeper"),
        ("{a: " * 5000, "nested deeper"),
        ("- " * 5000, "nested deeper"),
    ],
)
def test_what_would_grow_is_refused_at_its_line(content: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        admit(content)
