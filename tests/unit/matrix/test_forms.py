from typing import Any

import pytest

from orchestrator.matrix.forms import LINE, TEXT_SCHEMA, WORD, Field, Form, choice, listing, mapping, scalar, table


def _upper(written: str) -> str:
    if not written.isupper():
        raise ValueError("it takes capitals")
    return written


UPPER = scalar(_upper, TEXT_SCHEMA)
A = Field("a", UPPER, "the first", required=True)
B = Field("b", UPPER, "the second", default="B")
C = Field("c", UPPER, "the third")
TABLE: Form[tuple[str, str, str | None]] = table((A, B, C), lambda record, _: (record[A], record[B], record.get(C)))


@pytest.mark.parametrize(
    ("form", "snippet", "value"),
    [
        (UPPER, "X", "X"),
        (choice(("one", "two")), "two", "two"),
        (listing(UPPER), "[X, Y]", ("X", "Y")),
        (listing(UPPER), "[]", ()),
        (TABLE, "{a: X}", ("X", "B", None)),
        (TABLE, "{c: Z, b: Y, a: X}", ("X", "Y", "Z")),
        (WORD, "driver-580.x_1", "driver-580.x_1"),
        (LINE, "'wheels  are\n  not built'", "wheels are not built"),
        (LINE, "café \U0001f600", "café \U0001f600"),
    ],
)
def test_what_is_read(read: Any, form: Form[Any], snippet: str, value: object) -> None:
    assert read(form, snippet) == value


@pytest.mark.parametrize(
    ("form", "snippet", "problems"),
    [
        (UPPER, "x", ["m:1:1: `key` is `x`: it takes capitals"]),
        (UPPER, '""', ["m:1:1: `key` is empty: it takes capitals"]),
        (UPPER, '"x\\n\\e[1m "', ["m:1:1: `key` is `x\\n\\x1b[1m `: it takes capitals"]),
        (UPPER, "[X]", ["m:1:1: `key` takes text, not a list"]),
        (scalar(_upper, TEXT_SCHEMA, show=False), "x", ["m:1:1: `key` cannot be used: it takes capitals"]),
        (choice(("main", "edge")), "edgy", ["m:1:1: `key` is `edgy`: it takes main, edge; did you mean `edge`?"]),
        (choice(("main", "edge")), "x", ["m:1:1: `key` is `x`: it takes main, edge"]),
        (listing(UPPER), "X", ["m:1:1: `key` takes a list, not text"]),
        (listing(UPPER, at_least=1), "[]", ["m:1:1: `key` is an empty list"]),
        (listing(UPPER), "[x, X, y]", ["m:1:2: `key` is `x`: it takes capitals",
                                       "m:1:8: `key` is `y`: it takes capitals"]),
        (TABLE, "x", ["m:1:1: `key` takes a mapping, not text"]),
        (TABLE, "{}", ["m:1:1: `a` is missing in `key` (the first)"]),
        (TABLE, "{a: x, d: X}", ["m:1:5: `a` is `x`: it takes capitals", "m:1:8: `key` has no key `d`"]),
        (TABLE, "{a: X, gpu: H100}", ["m:1:8: `gpu` is an axis that `key` does not set"]),
        (TABLE, "{a: *x}", ["m:1:5: aliases are not supported: write out what `*x` stands for"]),
        (TABLE, "{<<: {a: X}}", ["m:1:2: merge keys are not supported: write the values out"]),
        (mapping(_upper, UPPER), "{x: X, X: x}", ["m:1:2: it takes capitals", "m:1:11: `X` is `x`: it takes capitals"]),
        (mapping(_upper, UPPER), "[]", ["m:1:1: `key` takes a mapping, not a list"]),
        (LINE, '"a\\u202eb"', ["m:1:1: `key` is `a\\u202eb`: it holds a control character or an invisible one"]),
        (LINE, '""', ["m:1:1: `key` is empty: it takes a text of 1 to 400 characters"]),
    ],
)  # fmt: skip
def test_what_is_told(told: Any, form: Form[Any], snippet: str, problems: list[str]) -> None:
    assert told(form, snippet) == problems


@pytest.mark.parametrize("word", ["", "CON", "-x", "x.", "a+b", "a" * 65, "a/b", "a b", "é"])
def test_what_is_no_word(told: Any, word: str) -> None:
    (problem,) = told(WORD, f'"{word}"')
    assert problem.endswith("it takes a name of letters, digits, dots, dashes and underscores, at most 64 long")


def test_a_table_read_partly_knows_which_keys_are_broken(told: Any) -> None:
    seen: list[list[str]] = []
    form: Form[None] = table((A, C), lambda record, _: seen.append(sorted(record.broken)), partly=True)
    told(form, "{c: x, d: X}")
    assert seen == [["a", "c", "d"]]


def test_a_table_with_a_problem_is_not_built(told: Any) -> None:
    seen: list[object] = []
    told(table((A,), lambda record, _: seen.append(record)), "{a: x}")
    assert seen == []


def test_the_schema_of_a_table_names_its_keys() -> None:
    assert TABLE.schema["required"] == ["a"]
    assert TABLE.schema["properties"]["b"] == {**TEXT_SCHEMA, "description": "the second"}
    assert TABLE.schema["additionalProperties"] is False
