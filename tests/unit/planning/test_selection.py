from types import SimpleNamespace

import pytest

from orchestrator import axes
from orchestrator.errors import ExitCode, NothingSelected
from orchestrator.planning.selection import check_globs, is_asked_by_name, is_selected


@pytest.mark.parametrize(
    ("globs", "selected"),
    [
        ((), True),
        (("cpu-eager",), True),
        (("cpu-*",), True),
        (("torch2.13.0-cpu-*",), True),
        (("*-f500[0-9]687",), True),
        (("no", "cpu-eager"), True),
        (("CPU-EAGER",), False),
        (("cpu",), False),
        (("",), False),
    ],
)
def test_a_glob_names_a_row_or_its_cell(make: SimpleNamespace, globs: tuple[str, ...], selected: bool) -> None:
    assert axes.cell_id(make.cpu) == "torch2.13.0-cpu-py3.11-f5005687"
    assert is_selected(("cpu-eager", axes.cell_id(make.cpu)), globs) is selected


@pytest.mark.parametrize(
    ("glob", "hint"),
    [
        ("cpu-eagr", "did you mean `cpu-eager`"),
        ("torch2.13.0-cpu-py3.12", "did you mean `torch2.13.0-cpu-py3.11-f5005687`"),
        ("\x1b[31mzzz", "did you mean `cpu-eager` or `torch2.13.0-cpu-py3.11-f5005687`"),
    ],
)
def test_a_glob_that_names_nothing_is_told_with_the_nearest_names(make: SimpleNamespace, glob: str, hint: str) -> None:
    with pytest.raises(NothingSelected) as caught:
        check_globs([("cpu-eager", axes.cell_id(make.cpu))], ("cpu-*", glob))
    assert caught.value.exit_code == ExitCode.NOTHING_SELECTED
    assert caught.value.hint.startswith(hint)
    assert caught.value.fact.isprintable()


def test_a_matrix_without_rows_is_told(make: SimpleNamespace) -> None:
    with pytest.raises(NothingSelected, match="the matrix has no production row"):
        check_globs([], ("x",))


def test_globs_that_all_name_something_are_well(make: SimpleNamespace) -> None:
    check_globs([("cpu-eager", axes.cell_id(make.cpu))], ("cpu*", "*eager"))


def test_a_hint_of_the_caller_comes_last() -> None:
    with pytest.raises(NothingSelected) as caught:
        check_globs([("cpu", "torch-1")], ("gpu",), hint="or so")
    assert caught.value.hint.endswith("; or so")


@pytest.mark.parametrize(
    ("glob", "expected"), [("cpu", True), ("torch-1", True), ("cp?", False), ("*", False), ("gpu", False), ("", False)]
)
def test_a_glob_without_a_wildcard_asks_by_name(glob: str, expected: bool) -> None:
    assert is_asked_by_name(("cpu", "torch-1"), (glob,)) is expected
