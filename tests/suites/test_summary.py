"""The table at the end."""

from suites.junit import Case
from suites.summary import table


def case(name: str, outcome: str, message: str = "") -> Case:
    return Case(name=name, outcome=outcome, message=message, detail="", seconds=1.0)


def test_each_case_with_its_figures_or_its_reason() -> None:
    cases = [case("a", "passed"), case("loads/test_x.py::test_longer[1]", "skipped", "not here")]

    assert table(cases, {"a": ["latency 1 ms", "tflops 2"]}).splitlines() == [
        "",
        "case         outcome  figures",
        "a            passed   latency 1 ms, tflops 2",
        "x.longer[1]  skipped  not here",
        "1 passed, 1 skipped",
    ]


def test_what_needs_a_look_comes_first() -> None:
    cases = [
        case("good", "passed"),
        case("skipped", "skipped", "no"),
        case("odd", "passed"),
        case("wild", "passed"),
        case("late", "passed"),
        case("bad", "failed", "numerics: off"),
        case("worse", "error", "collection: no"),
    ]
    figures = {"odd": ["latency unmeasurable"], "wild": ["not deterministic"], "good": ["latency 1 ms"]}
    figures["late"] = ["rank 1 sends slowly: 4 GB/s at best, 20 between the others"]

    *lines, last = table(cases, figures).splitlines()[2:]

    assert [line.split()[0] for line in lines] == ["worse", "bad", "odd", "wild", "late", "good", "skipped"]
    counts = "4 passed, 1 failed, 1 error, 1 skipped, 1 a figure unmeasurable, 1 not deterministic, 1 a slow rank"
    assert last == counts


def test_nothing_ran_is_said() -> None:
    assert table([], {}).splitlines()[-1] == "no case ran"
