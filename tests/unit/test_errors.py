"""The exceptions: their exit codes, and a text that says fact, place, cause and hint."""

import pytest

from orchestrator import errors
from orchestrator.errors import ExitCode, InputError, InputErrors, TorchmatrixError


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.TorchmatrixError, 70),
        (errors.InputError, 2),
        (errors.InputErrors, 2),
        (errors.NothingSelected, 3),
        (errors.InfrastructureError, 4),
        (errors.Interrupted, 130),
    ],
)
def test_every_error_has_its_exit_code(kind: type[TorchmatrixError], code: int) -> None:
    assert kind.exit_code == code
    assert issubclass(kind, TorchmatrixError)


def test_no_error_is_missing_from_the_table_above() -> None:
    kinds = {value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)}
    assert len(kinds) == 6


def test_exit_codes_are_those_that_scripts_rely_on() -> None:
    assert {code.name: int(code) for code in ExitCode} == {
        "GOOD": 0,
        "NOT_PASSED": 1,
        "BAD_INPUT": 2,
        "NOTHING_SELECTED": 3,
        "INFRASTRUCTURE": 4,
        "REGRESSION": 5,
        "OUR_BUG": 70,
        "INTERRUPTED": 130,
    }


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({}, "no axis is named `torhc`"),
        ({"place": "matrix.yaml:4:3"}, "matrix.yaml:4:3: no axis is named `torhc`"),
        ({"cause": "a typo"}, "no axis is named `torhc` (a typo)"),
        ({"hint": "did you mean `torch`?"}, "no axis is named `torhc`\nhint: did you mean `torch`?"),
        (
            {"place": "matrix.yaml:4:3", "cause": "a typo", "hint": "did you mean `torch`?"},
            "matrix.yaml:4:3: no axis is named `torhc` (a typo)\nhint: did you mean `torch`?",
        ),
    ],
)
def test_an_error_tells_what_it_knows(parts: dict[str, str], told: str) -> None:
    assert str(TorchmatrixError("no axis is named `torhc`", **parts)) == told


def test_problems_of_one_input_are_told_together_in_their_order() -> None:
    both = InputErrors([InputError("one", place="m:1:1"), InputError("two", place="m:2:1", hint="h")])
    assert str(both) == "m:1:1: one\nm:2:1: two\nhint: h"
    assert [problem.fact for problem in both.problems] == ["one", "two"]
