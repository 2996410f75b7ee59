"""A new value for an axis: which rows move, where the value goes, and that nothing else changes."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from orchestrator.errors import InputError
from orchestrator.matrix import parse, schema
from orchestrator.matrix.bump import Bump, bump
from orchestrator.matrix.problems import Problems
from orchestrator.model import Matrix

MATRIX = """\
# The matrix.
version: 1
axes:
  torch: ["2.6.0", "2.13.0", '2.14.1']   # oldest first
  torch_build: [cpu, cu126, cu130, rocm7.1]
  python: ["3.11", "3.12"]
  driver:
    - {when: {torch_build: "cu*"}, values: ["535", "580"]} # branches
    - when: {torch_build: "rocm*"}
      values:
        - "30.20"   # AMD
  gpu: [{when: {torch_build: "cu*"}, values: [H100]}, {when: {torch_build: "rocm*"}, values: [MI300X]}]
production:
  - {name: train, torch: 2.13.0, torch_build: cu130, python: "3.12", driver: "580", gpu: H100}
  - name: next
    torch: "2.14.1"   # the newest
    torch_build: cu130
    python: '3.12'
    driver: "580"
    gpu: H100
  - {name: amd, torch: 2.13.0, torch_build: rocm7.1, python: "3.12", driver: "30.20", gpu: MI300X}
  - {name: newest, torch: newest 2.x, torch_build: cpu, python: "3.11"}
  - {name: debian, torch: 2.6.0, torch_from: distribution, torch_build: cpu, base: debian13, python: "3.11"}
"""


def matrix_of(content: str) -> Matrix:
    problems = Problems()
    return schema.matrix_of(parse.parse(content, "matrix.yaml", problems), Path(), problems)


def bumped(*words: str, content: str = MATRIX, **how: Any) -> Bump:
    name, value = words
    done = bump(content, matrix_of(content), name, value, **how)
    matrix_of(done.content)  # it is read again without a problem
    return done


def changed_lines(done: Bump, content: str = MATRIX) -> list[str]:
    before = content.splitlines()
    return [line for line in done.content.splitlines() if line not in before]


def test_the_rows_on_the_newest_older_value_move_and_the_value_is_listed() -> None:
    done = bumped("torch", "2.15.0")
    assert [move.row for move in done.moves] == ["next"]
    assert changed_lines(done) == [
        "  torch: [\"2.6.0\", \"2.13.0\", '2.14.1', '2.15.0']   # oldest first",
        '    torch: "2.15.0"   # the newest',
    ]
    (move,) = done.moves
    assert (move.before["torch"], move.after["torch"]) == ("2.14.1", "2.15.0")


@pytest.mark.parametrize(
    ("words", "how", "rows"),
    [
        (("torch", "2.14.0"), {}, ["train", "amd"]),
        (("torch", "2.15.0"), {"old": "2.13.0"}, ["train", "amd"]),
        (("torch", "2.15.0"), {"old": "2.13"}, ["train", "amd"]),
        (("torch", "2.15.0"), {"rows": ["amd", "next"]}, ["amd", "next"]),
        (("torch", "2.15.0"), {"rows": ["amd", "next"], "old": "2.14.1"}, ["next"]),
        (("torch", "2.13.0"), {"rows": ["next"]}, ["next"]),
        (("torch", "2.6.0"), {}, []),
        (("torch_build", "cu132"), {}, ["train", "next"]),
        (("torch_build", "rocm7.2"), {}, ["amd"]),
        (("driver", "590"), {}, ["train", "next"]),
        (("driver", "30.30"), {}, ["amd"]),
        (("python", "3.13"), {}, ["train", "next", "amd"]),
        (("gpu", "H200"), {"old": "H100"}, ["train", "next"]),
    ],
)
def test_which_rows_are_meant(words: tuple[str, str], how: dict[str, Any], rows: list[str]) -> None:
    assert [move.row for move in bumped(*words, **how).moves] == rows


def test_a_value_goes_into_the_entry_of_the_rows_that_move() -> None:
    done = bumped("driver", "30.30")
    assert changed_lines(done)[0] == '        - "30.30"'
    assert '        - "30.20"   # AMD\n        - "30.30"\n' in done.content
    assert '{when: {torch_build: "cu*"}, values: ["535", "580"]}' in done.content


@pytest.mark.parametrize(
    ("value", "listed"),
    [
        ("2.5.1", '"2.5.1", "2.6.0", "2.13.0", \'2.14.1\''),
        ("2.10.0", '"2.6.0", "2.10.0", "2.13.0", \'2.14.1\''),
        ("2.14.2", "\"2.6.0\", \"2.13.0\", '2.14.1', '2.14.2'"),
    ],
)
def test_a_value_stands_in_its_place(value: str, listed: str) -> None:
    assert f"torch: [{listed}]" in bumped("torch", value).content


def test_lists_in_another_order_keep_it() -> None:
    newest_first = MATRIX.replace('["2.6.0", "2.13.0", \'2.14.1\']', "[2.14.1, 2.13.0, 2.6.0]")
    assert "[2.15.0, 2.14.1, 2.13.0, 2.6.0]" in bumped("torch", "2.15.0", content=newest_first).content
    none = MATRIX.replace('["2.6.0", "2.13.0", \'2.14.1\']', "[2.13.0, 2.14.1, 2.6.0]")
    assert "[2.13.0, 2.14.1, 2.6.0, 2.15.0]" in bumped("torch", "2.15.0", content=none).content


def test_a_value_that_is_listed_is_not_listed_twice() -> None:
    done = bumped("torch", "2.14.1", old="2.13.0")
    assert not done.added
    assert [move.row for move in done.moves] == ["train", "amd"]


@pytest.mark.parametrize(
    ("words", "how", "row", "why"),
    [
        (("torch", "2.15.0"), {"rows": ["debian"]}, "debian", "it comes with the base"),
        (("python", "3.13"), {"old": "3.11"}, "debian", "it comes with the base"),
        (("torch", "2.15.0"), {"rows": ["newest"]}, "newest", "`newest 2.x` is an alias"),
        (("torch", "2.15.0"), {"rows": ["train"], "old": "2.14.1"}, "train", "has torch=2.13.0"),
        (("torch", "2.13.0"), {"rows": ["train"]}, "train", "has torch=2.13.0 already"),
        (("base", "debian13"), {"old": "debian12"}, "train", "does not write out `base`"),
        (("gpu", "H200"), {"old": "H100", "rows": ["newest"]}, "newest", "has no gpu"),
    ],
)
def test_a_row_that_stays_says_why(words: tuple[str, str], how: dict[str, Any], row: str, why: str) -> None:
    stays = {stay.row: stay.why for stay in bumped(*words, **how).stays}
    assert why in stays[row]


@pytest.mark.parametrize(
    ("words", "how", "says"),
    [
        (("torhc", "2.15.0"), {}, "no axis is named `torhc`"),
        (("torch", "2.15"), {"rows": ["trian"]}, "no row is named `trian`"),
        (("torch", "v2"), {}, "`v2` is not a version"),
        (("gpu", "H200"), {}, "values of `gpu` have no order"),
        (("env", "A=1"), {}, "no axis that a row moves along"),
        (("glibc", "2.31"), {}, "no axis that a row moves along"),
    ],
)
def test_what_cannot_be_done_is_told(words: tuple[str, str], how: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        bumped(*words, **how)


def test_an_axis_without_values_is_not_given_any() -> None:
    content = re.sub(r"  python: .*\n", "", MATRIX, count=1)
    done = bumped("python", "3.13", content=content)
    assert not done.added
    assert [move.row for move in done.moves] == ["train", "next", "amd"]


# --- any matrix -------------------------------------------------------------------------------------------------------

VERSIONS = ("1.13", "2.6.0", "2.7.1", "2.13.0", "2.14.1")
QUOTES = st.sampled_from(['"{}"', "'{}'", "{}"])
COMMENT = st.sampled_from(["", "  # a note", " #", "   # [x] {y: z}"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A small matrix in some style: flow or block, any quotes, comments, either line ending, an end or none."""

    def written(value: str) -> str:
        return draw(QUOTES).format(value)

    def listed(values: list[str], indent: str) -> str:
        if draw(st.booleans()):
            return " [" + ", ".join(map(written, values)) + "]" + draw(COMMENT) + "\n"
        return "\n" + "".join(f"{indent}- {written(value)}{draw(COMMENT)}\n" for value in values)

    values = draw(st.lists(st.sampled_from(VERSIONS), min_size=1, unique=True))
    text = f"# top\nversion: 1{draw(COMMENT)}\naxes:\n  torch:{listed(values, '    ')}  python: ['3.11']\nproduction:\n"
    for at in range(draw(st.integers(1, 4))):
        pairs = {"name": f"r{at}", "torch": draw(st.sampled_from(values)), "torch_build": "cpu", "python": "3.11"}
        keys = draw(st.permutations(list(pairs)))
        if draw(st.booleans()):
            text += "  - {" + ", ".join(f"{key}: {written(pairs[key])}" for key in keys) + "}" + draw(COMMENT) + "\n"
        else:
            lines = [f"{key}: {written(pairs[key])}{draw(COMMENT)}\n" for key in keys]
            text += "  - " + "    ".join(lines)
    text = text if draw(st.booleans()) else text.removesuffix("\n")
    return text if draw(st.booleans()) else text.replace("\n", "\r\n")


def bare(content: str) -> dict[str, Any]:
    """The matrix without the places in its file."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(part) for key, part in value.items() if key != "place"}
        return [without(part) for part in value] if isinstance(value, list | tuple) else value

    found: dict[str, Any] = without(to_builtins(matrix_of(content)))
    return found


@given(documents(), st.sampled_from([*VERSIONS, "2.15.0", "2.0.0", "1.0"]))
def test_only_the_intended_scalars_differ(content: str, value: str) -> None:
    done = bump(content, matrix_of(content), "torch", value)
    before, after = bare(content), bare(done.content)
    moved = {move.row for move in done.moves}
    for row in before["production"]:
        if row["name"] in moved:
            row["axes"]["torch"] = value
    (torch, _) = before["axes"]
    if done.added:
        assert value not in torch["values"]
        at = after["axes"][0]["values"].index(value)
        torch["values"].insert(at, value)
    assert after == before
    assert re.findall("#.*", done.content) == re.findall("#.*", content)
    assert ("\r" in done.content) is ("\r" in content)
    assert done.content.count("\r\n") in {0, done.content.count("\n")}
    longer = re.sub(r"[\"']?\b[\d.]+\b[\"']?", "", done.content)
    shorter = re.sub(r"[\"']?\b[\d.]+\b[\"']?", "", content)
    assert len(longer) - len(shorter) <= len("\r\n    - ") * done.added
    assert done.added or longer == shorter


@given(documents())
def test_a_bump_twice_is_a_bump_once(content: str) -> None:
    first = bump(content, matrix_of(content), "torch", "2.15.0")
    again = bump(first.content, matrix_of(first.content), "torch", "2.15.0", old="2.14.1")
    rows = {row.name: row.axes["torch"] for row in matrix_of(first.content).production}
    if "2.14.1" not in rows.values():
        assert again.content == first.content
