import pytest

from orchestrator.errors import InputErrors
from orchestrator.matrix.problems import SHOWN, Problems
from orchestrator.model import Place


def at(line: int, column: int = 1) -> Place:
    return Place(file="m.yaml", line=line, column=column)


def test_problems_are_raised_together_in_the_order_of_their_places() -> None:
    problems = Problems()
    for place in (at(10), at(2, 9), at(2, 1)):
        problems.add(place, "bad", cause="why")
    with pytest.raises(InputErrors) as caught:
        problems.raise_any()
    assert str(caught.value).splitlines() == [
        "m.yaml:2:1: bad (why)",
        "m.yaml:2:9: bad (why)",
        "m.yaml:10:1: bad (why)",
    ]


def test_nothing_is_raised_when_all_is_well() -> None:
    problems = Problems()
    problems.raise_any()
    assert len(problems) == 0


def test_stop_raises_what_was_gathered_too() -> None:
    problems = Problems()
    problems.add(at(3), "first")
    with pytest.raises(InputErrors) as caught:
        problems.stop(at(4), "last")
    assert [problem.fact for problem in caught.value.problems] == ["first", "last"]


def test_more_than_a_page_is_counted() -> None:
    problems = Problems()
    for line in range(SHOWN + 7):
        problems.add(at(line + 1), "bad")
    with pytest.raises(InputErrors) as caught:
        problems.raise_any()
    assert len(caught.value.problems) == SHOWN + 1
    assert str(caught.value.problems[-1]) == "m.yaml: and 7 more problems"
