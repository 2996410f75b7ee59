"""The table at the end."""

from suites.junit import Case
from suites.summary import table


def test_each_case_with_its_figures_or_its_reason() -> None:
    cases = [
        Case(name="a", outcome="passed", message="", detail="", seconds=1.0),
        Case(name="longer", outcome="skipped", message="not here", detail="", seconds=0.0),
    ]
    assert table(cases, {"a": ["latency 1 ms", "tflops 2"]}).splitlines() == [
        "",
        "case    outcome  figures",
        "a       passed   latency 1 ms, tflops 2",
        "longer  skipped  not here",
        "1 passed, 1 skipped",
    ]


def test_nothing_ran_is_said() -> None:
    assert table([], {}).splitlines()[-1] == "no case ran"
