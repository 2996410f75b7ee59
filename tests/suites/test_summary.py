"""The table at the end."""

from typing import Any

from suites.junit import Case
from suites.summary import WIDTH, Figures, table


def case(name: str, outcome: str, message: str = "") -> Case:
    return Case(name=name, outcome=outcome, message=message, detail="", seconds=1.0)


def figures(*rows: tuple[str, float | None, str], shapes: str = "1x2", why: str = "") -> Figures:
    """Of rows with this metric, value and unit."""
    found = Figures()
    for metric, value, unit in rows:
        found.add(row(metric, value, unit, shapes, why))
    return found


def row(
    metric: str, value: float | None, unit: str, shapes: str = "1x2", why: str = "", scope: str = ""
) -> dict[str, Any]:
    labels = {"load": "l", "shapes": shapes, "precision": "fp32", "scope": scope}
    return {**labels, "metric": metric, "value": value, "unit": unit, "why": why}


def test_each_case_with_its_figures_or_its_reason() -> None:
    cases = [case("a", "passed"), case("loads/test_x.py::test_longer[1]", "skipped", "not here")]
    found = {"a": figures(("latency", 1.0, "ms"), ("tflops", 2.0, "TFLOP/s"), ("gbps", 3.0, "GB/s"))}

    assert table(cases, found).splitlines() == [
        "",
        "case         outcome  ms       rate",
        "a            passed    1  2 TFLOP/s",
        "x.longer[1]  skipped  not here",
        "ms: of a step; rate: of its operations, or of the bytes that it moves",
        "1 passed, 1 skipped",
    ]


def test_all_that_the_layers_are_told_apart_by_is_shown_within_the_width() -> None:
    name = "loads/test_model.py::test_transformer_inference[fp32-small]"
    rows = [
        ("error_ratio", 1.051, "ratio"),
        ("compile_cold", 57.61, "s"),
        ("graph_breaks", 0, "count"),
        ("launches", 5, "count"),
        ("latency", 0.21812, "ms"),
        ("tflops", 612.4, "TFLOP/s"),
        ("roofline", 0.61243, "fraction"),
        ("mfu", 0.4, "fraction"),
        ("memory_peak", 3 << 30, "bytes"),
    ]

    _, head, line, *_, total = table([case(name, "passed")], {name: figures(*rows)}).splitlines()

    assert head.split()[2:] == ["ms", "rate", "roof", "MFU", "MiB", "compile", "breaks", "error"]
    told = ["0.218", "612", "TFLOP/s", "61.2%", "40%", "3072", "57.6", "s", "0", "1.05"]
    assert line.split() == ["model.transformer_inference[fp32-small]", "passed", *told]
    assert len(head) == len(line) <= WIDTH
    assert total == "1 passed"


def test_each_size_has_a_line_of_its_own() -> None:
    found = figures(("latency", 0.5, "ms"), ("busbw", 1.25, "GB/s"), shapes="1024 bytes on 2 ranks")
    found.add(row("latency", 7.0, "ms", "1048576 bytes on 2 ranks"))

    assert table([case("c", "passed")], {"c": found}).splitlines()[2:5] == [
        "c                           passed",
        "  1024 bytes on 2 ranks              0.5  1.25 GB/s bus",
        "  1048576 bytes on 2 ranks             7",
    ]


def test_what_could_not_be_measured_stands_beside_its_size() -> None:
    small, large = "1024 bytes on 2 ranks", "1048576 bytes on 2 ranks"
    found = figures(("latency", None, "ms"), ("busbw", None, "GB/s"), shapes=small, why="unmeasurable: noise")
    found.add(row("latency", 7.0, "ms", large))
    found.notes.append("a note")
    twice = figures(("latency", None, "ms"), shapes=small, why="unmeasurable: noise")
    twice.add(row("latency", None, "ms", large, why="unmeasurable: heat"))

    lines = table([case("c", "passed"), case("d", "passed")], {"c": found, "d": twice}).splitlines()

    assert [" ".join(line.split()) for line in lines[2:8]] == [
        "c passed a note",
        f"{small} latency unmeasurable: noise",
        f"{large} 7",
        "d passed",
        f"{small} latency unmeasurable: noise",
        f"{large} latency unmeasurable: heat",
    ]
    assert lines[-1] == "2 passed; 2 with an unmeasurable figure"


def test_what_needs_a_look_comes_first() -> None:
    cases = [
        case("good", "passed"),
        case("skipped", "skipped", "no"),
        case("odd", "passed"),
        case("wild", "passed"),
        case("broken", "passed"),
        case("late", "passed"),
        case("wrong", "passed"),
        case("bad", "failed", "numerics: off"),
        case("worse", "error", "collection: no"),
    ]
    unmeasurable = "unmeasurable: its two halves lie 30% apart"
    found = {
        "odd": figures(("latency", None, "ms"), ("tflops", None, "TFLOP/s"), why=unmeasurable),
        "wild": Figures(notes=["not deterministic"]),
        "broken": Figures(notes=["graph break: print"]),
        "late": Figures(notes=["slow rank: 1 sends 4 GB/s at best, 20 between the others"]),
        "wrong": figures(
            ("roofline", 1.4, "fraction"), why="data error: 1.4 of what is attainable, 1.02 at most can be"
        ),
        "good": figures(("latency", 1.0, "ms")),
    }

    *lines, _, last = table(cases, found).splitlines()[2:]

    first = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert first == ["worse", "bad", "odd", "wild", "broken", "late", "wrong", "good", "skipped"]
    assert lines[2].split(maxsplit=2)[2] == f"latency {unmeasurable}", "once, not for each figure that follows from it"
    assert lines[6].split(maxsplit=2)[2].startswith("140%  roofline data error: 1.4 of what is attainable")
    counts = "1 with a data error, 1 with an unmeasurable figure, 1 not deterministic, 1 with a graph break"
    assert last == f"6 passed, 1 failed, 1 error, 1 skipped; {counts}, 1 with a slow rank"


def test_a_long_reason_is_whole_and_within_the_width_and_told_once() -> None:
    reason = "not applicable: " + " ".join(str(number) for number in range(100))
    cases = [case("one", "skipped", reason), case("two", "skipped", reason)]

    *lines, last, total = table(cases, {}).splitlines()[2:]

    assert max(map(len, lines)) <= WIDTH
    assert " ".join(" ".join(lines).split()) == f"one skipped {reason}"
    assert last.split(maxsplit=2) == ["two", "skipped", "as above"]
    assert total == "2 skipped"


def test_an_operators_error_is_not_the_loads() -> None:
    found = figures(("error_ratio", 1.0, "ratio"))
    found.add(row("error_ratio", 9.0, "ratio", shapes="3x4", scope="aten::mm"))

    assert table([case("a", "passed")], {"a": found}).splitlines()[2].split() == ["a", "passed", "1"]
    assert len(found.lines) == 1


def test_a_figure_that_is_not_shown_and_could_not_be_measured_is_a_remark() -> None:
    found = figures(("straggler", None, "ratio"), why="unmeasurable: noise")
    found.add(row("pair_gbps", None, "GB/s", why="unmeasurable: heat", scope="rank 0 -> 1"))

    assert found.told() == ["straggler unmeasurable: noise", "pair_gbps unmeasurable: heat"]


def test_a_backend_that_refuses_other_sizes_of_a_load_is_a_remark() -> None:
    found = figures(("latency", 1.0, "ms"))
    found.add(row("recompiles", None, "count", why="backend refused: inductor: no symbol s0"))

    *_, line, _, total = table([case("c", "passed")], {"c": found}).splitlines()

    assert line.split(maxsplit=3)[3] == "recompiles backend refused: inductor: no symbol s0"
    assert total == "1 passed; 1 with something refused"


def test_what_a_cache_had_is_no_cold_compile_and_no_remark() -> None:
    found = figures(("compile_cold", None, "s"), why="not measured: the compile cache of an earlier run is there")
    found.add(row("compile_cached", 0.5, "s"))

    assert table([case("a", "passed")], {"a": found}).splitlines()[2].split() == ["a", "passed", "0.5", "s,", "cached"]
    assert not found.told()


def test_the_memory_of_the_whole_process_ends_the_table() -> None:
    whole = figures(("memory_peak", 512 << 20, "bytes"))

    assert table([case("a", "passed")], {"": whole}).splitlines()[-1] == "1 passed; the process held 512 MiB at most"


def test_nothing_ran_is_said() -> None:
    assert table([], {}).splitlines()[-1] == "no case ran"
