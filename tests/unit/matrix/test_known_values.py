import pytest

from orchestrator.errors import InputErrors
from orchestrator.matrix.known_values import check_possible, known_values
from orchestrator.matrix.parse import parse
from orchestrator.matrix.problems import Problems
from orchestrator.model import AxisValues, Place, Row

HERE = Place(file="m", line=1, column=1)
SECTION = (AxisValues(axis="torch", values=("2.6.0", "2.13.0"), when={}, place=HERE),)
CELL = {"torch": "2.14.1", "torch_build": "cpu", "python": "3.11"}
ROWS = (Row(name="a", owner="", axes=CELL, allow_fallback=False, timeout_s=None, place=HERE),)


def told(when: dict[str, str], broken: str = "") -> str:
    problems = Problems()
    nodes = [parse(broken, "m", problems)] if broken else []
    check_possible(when, known_values(SECTION, ROWS, nodes), HERE, problems)
    try:
        problems.raise_any()
    except InputErrors as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    "when", [{"torch": ">=2.13"}, {"torch": "2.14.*"}, {"backend": "eager"}, {"torch": "9|2.6.0", "python": "3.1?"}]
)
def test_a_condition_that_a_declared_a_named_or_a_default_value_fits(when: dict[str, str]) -> None:
    assert told(when) == ""


def test_a_condition_that_nothing_fits_names_the_values_that_there_are() -> None:
    assert told({"torch": ">=3"}) == (
        "m:1:1: `torch: >=3` matches nothing in this file (values of `torch`: 2.13.0, 2.14.1, 2.6.0)"
    )
    assert told({"driver": "580"}).endswith("(values of `driver`: none)")


@pytest.mark.parametrize(
    "broken",
    ["torch: [3.0.0, $]", "torch: {when: {x: y}, values: [3.0.0]}", "[{tourch: 3.0.0}]", "[{torch: 3.0.0, x: y}]"],
)
def test_a_value_that_stands_in_a_broken_part_may_be_meant(broken: str) -> None:
    assert told({"torch": ">=3"}, broken) == ""


@pytest.mark.parametrize("broken", ["python: [3.0.0]", "[{python: 3.0.0}]", "torch: {when: {torch: 3.0.0}}"])
def test_a_value_of_another_axis_is_not_meant(broken: str) -> None:
    assert told({"torch": ">=3"}, broken) != ""
