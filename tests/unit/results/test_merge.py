"""Bundles merged into one run: idempotent, independent of order, flat in memory, whole or not at all."""

import hashlib
import itertools
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator import formats
from orchestrator.errors import InfrastructureError, InputError
from orchestrator.formats import SummaryFile
from orchestrator.model import LeftOut, Log, Placement
from orchestrator.results import merge as merge_module
from orchestrator.results.merge import merge, read_plan, results, write
from orchestrator.vocabulary import LeftOutKind, Status, Step, Tier

FAILING = '<testcase name="bad"><failure message="assert 1">why</failure></testcase>'
OUTPUTS = ("junit.xml", "metrics.parquet", "summary.json")


def cases_of(number: int) -> tuple[str, ...]:
    return tuple(f'<testcase name="t{at}" time="0.1"/>' for at in range(number))


@pytest.fixture
def plan(make: SimpleNamespace) -> object:
    unplaced = Placement(placed=False, runner=None, reason="needs gpu=H100")
    return make.plan(
        make.cell(),
        make.cell(id="c2", name="two"),
        make.cell(id="c3", name="three", placement=unplaced, tier=Tier.EDGE),
        make.cell(id="c4", name="four"),
    )


@pytest.fixture
def bundles(tmp_path: Path, make: SimpleNamespace) -> list[Path]:
    run = tmp_path / "run" / "cells"
    return [
        make.bundle(run / "c1" / "attempt-1", attempt=make.attempt(1, problem="gone", step=Step.WAIT)),
        make.bundle(run / "c1" / "attempt-2", attempt=make.attempt(2)),
        make.bundle(tmp_path / "job", cell="c2", cases=(*cases_of(3), FAILING), exit_code=1),
        make.bundle(tmp_path / "stranger", cell="c9"),
    ]


def merged(plan: object, folders: list[Path], out: Path) -> dict[str, bytes]:
    out.mkdir(exist_ok=True)
    run = merge(plan, folders, run_id="r1")  # type: ignore[arg-type]
    write(run, folders, out)
    assert sorted(path.name for path in out.iterdir()) == sorted(OUTPUTS)
    return {name: (out / name).read_bytes() for name in OUTPUTS}


def test_a_number_that_no_column_holds_costs_one_cell_and_not_the_run(
    tmp_path: Path, plan: object, make: SimpleNamespace
) -> None:
    large = msgspec.json.encode(make.attempt(1)).replace(b'"number":1', b'"number":' + b"1" + b"0" * 40)
    folders = [
        make.bundle(tmp_path / "seed", metrics=({**make.metric, "seed": 10**40},)),
        make.bundle(tmp_path / "number", cell="c2", files={formats.ATTEMPT: large}),
        make.bundle(tmp_path / "good", cell="c4"),
    ]

    summary = json.loads(merged(plan, folders, tmp_path / "out")["summary.json"])

    assert [cell["status"] for cell in summary["cells"]] == ["passed", "error", "unplaced", "passed"]
    assert summary["cells"][0]["notes"] == [
        "metrics.jsonl: 1 metric row rejected: Expected `int` <= 9007199254740991: `seed` (1)"
    ]
    assert "attempt.json cannot be read" in summary["cells"][1]["reason"]


def test_every_planned_cell_has_one_result(plan: object, bundles: list[Path]) -> None:
    run = merge(plan, bundles, run_id="r1")  # type: ignore[arg-type]

    assert {result.id: result.status for result in run.results} == {
        "c1": Status.PASSED,
        "c2": Status.FAILED,
        "c3": Status.UNPLACED,
        "c4": Status.NOT_RUN,
    }
    assert not run.complete
    assert run.notes == ("1 bundle of `c9`, which is not in the plan",)


def test_the_same_bytes_in_every_order_and_any_number_of_times(
    tmp_path: Path, plan: object, bundles: list[Path]
) -> None:
    first = merged(plan, bundles, tmp_path / "out")

    for order in itertools.permutations(bundles):
        assert merged(plan, [*order, order[0]], tmp_path / "out") == first
    assert merged(plan, [tmp_path], tmp_path / "out") == first  # with the merged files themselves below it


def test_the_place_of_a_bundle_does_not_matter(tmp_path: Path, plan: object, bundles: list[Path]) -> None:
    first = merged(plan, bundles, tmp_path / "out")
    shutil.move(tmp_path / "run", tmp_path / "elsewhere")
    shutil.copytree(tmp_path / "job", tmp_path / "copy")

    assert merged(plan, [tmp_path], tmp_path / "out") == first


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_set_of_bundles_merges_to_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, make: SimpleNamespace, data: st.DataObject
) -> None:
    root = tmp_path_factory.mktemp("law")
    plan = make.plan(*(make.cell(id=f"c{number}") for number in range(3)))
    folders = []
    for at in range(data.draw(st.integers(0, 4))):
        cell = f"c{data.draw(st.integers(0, 3))}"
        attempt = data.draw(
            st.none()
            | st.builds(
                lambda number, code: msgspec.structs.replace(make.attempt(number, code=code), cell=cell),  # noqa: B023
                st.integers(1, 2),
                st.sampled_from([0, 1, 139]),
            )
        )
        cases = data.draw(st.sampled_from([cases_of(1), cases_of(2), (FAILING,)]))
        folders.append(make.bundle(root / f"b{at}", cell=cell, cases=cases, exit_code=0, attempt=attempt))

    first = merged(plan, folders, root / "out")

    assert merged(plan, data.draw(st.permutations(folders)), root / "out") == first
    totals = json.loads(first["summary.json"])["totals"]
    assert sum(totals.values()) == 3


def test_the_summary_is_as_its_schema_says_and_adds_up(tmp_path: Path, plan: object, bundles: list[Path]) -> None:
    left_out = LeftOut(name="x", tier=Tier.EDGE, axes={}, kind=LeftOutKind.BUDGET, reason="budget")
    plan = msgspec.structs.replace(plan, left_out=(left_out,))  # type: ignore[type-var]

    summary = msgspec.json.decode(
        merged(plan, bundles, tmp_path / "out")["summary.json"], type=SummaryFile, strict=True
    )

    assert (summary.complete, summary.planned) == (False, 4)
    assert set(summary.totals) == set(Status)
    assert sum(summary.totals.values()) == summary.planned == len(summary.cells)
    assert summary.left_out == (left_out,)
    two = summary.cells[1]
    assert (two.id, two.name, two.status, two.counts.passed, two.counts.failed) == ("c2", "two", "failed", 3, 1)
    assert two.requested["torch"] == "2.13.0"
    assert two.observed["torch"] == "2.13.0+cpu"
    assert summary.cells[0].attempts == 2


def test_the_run_keeps_what_needs_reading_and_the_file_has_all(
    tmp_path: Path, plan: object, bundles: list[Path]
) -> None:
    run = merge(plan, bundles, run_id="r1")  # type: ignore[arg-type]
    everything = {result.id: len(result.cases) for result in results(plan, bundles)}  # type: ignore[arg-type]

    assert [case.name for case in run.results[1].cases] == ["bad"]
    assert run.results[1].counts.passed == 3
    assert run.results[0].cases == ()
    assert everything == {"c1": 2, "c2": 4, "c3": 0, "c4": 0}
    assert merged(plan, bundles, tmp_path / "out")["junit.xml"].count(b"<testcase ") == 2 + 4 + 1 + 1


def test_kept_cases_are_bounded_failures_first(
    tmp_path: Path, make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge_module, "MAX_CASES", 3)
    skips = tuple(f'<testcase name="s{at}"><skipped message="no"/></testcase>' for at in range(5))
    detail = f'<testcase name="bad"><failure>{"d" * 10_000}</failure></testcase>'
    make.bundle(tmp_path / "b", cases=(*skips, detail), exit_code=1)

    (result,) = merge(make.plan(make.cell()), [tmp_path], run_id="r").results

    assert [case.name for case in result.cases] == ["s0", "s1", "bad"]
    assert result.counts.skipped == 5
    assert len(result.cases[2].detail) == merge_module.MAX_DETAIL


def test_logs_are_kept_only_where_something_went_wrong(tmp_path: Path, make: SimpleNamespace) -> None:
    log = Log(head="h" * 9000, tail="end", bytes=9003)
    make.bundle(tmp_path / "a", attempt=make.attempt(log=log))
    crashed = msgspec.structs.replace(make.attempt(code=139, log=log), cell="c2")
    make.bundle(tmp_path / "b", cell="c2", attempt=crashed)

    passed, died = merge(make.plan(make.cell(), make.cell(id="c2")), [tmp_path], run_id="r").results

    assert (passed.status, passed.attempts[0].exit.log) == (Status.PASSED, Log(bytes=9003))
    assert died.status is Status.CRASHED_AT_EXIT
    assert died.attempts[0].exit.log == Log(tail=("h" * 9000 + "end")[-8000:], bytes=9003)


def test_metrics_of_each_attempt_carry_its_own_status(tmp_path: Path, make: SimpleNamespace) -> None:
    import duckdb

    make.bundle(tmp_path / "a", attempt=make.attempt(1, code=139))
    make.bundle(tmp_path / "b", attempt=make.attempt(2))
    make.bundle(tmp_path / "again", attempt=make.attempt(2))
    merged(make.plan(make.cell()), [tmp_path], tmp_path / "out")

    found = duckdb.sql(f"SELECT attempt, status FROM '{tmp_path / 'out' / 'metrics.parquet'}' ORDER BY ALL").fetchall()

    assert found == [(1, "crashed-at-exit"), (2, "passed")]


def test_a_bundle_that_changes_while_it_is_merged_is_told(
    tmp_path: Path, plan: object, bundles: list[Path], make: SimpleNamespace
) -> None:
    run = merge(plan, bundles, run_id="r1")  # type: ignore[arg-type]
    make.bundle(bundles[2], cell="c2")

    with pytest.raises(InfrastructureError, match="the bundles of `c2` changed while they were merged"):
        write(run, bundles, tmp_path)
    assert not any((tmp_path / name).exists() for name in OUTPUTS)


@pytest.mark.parametrize("at", ["junit", "rows", "table", "summary"])
def test_a_full_disk_keeps_the_old_files(
    tmp_path: Path, plan: object, bundles: list[Path], monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    old = merged(plan, bundles, tmp_path / "out")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    target = {
        "junit": (merge_module.merged_junit, "write"),
        "rows": (merge_module.metrics_table, "add"),
        "table": (merge_module.metrics_table, "write"),
        "summary": (merge_module, "summary"),
    }[at]
    monkeypatch.setattr(*target, full)

    with pytest.raises(InfrastructureError, match=r"No space left on device \(\d+ bytes are free there\)"):
        merged(plan, bundles, tmp_path / "out")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == old


def test_no_bundle_at_all(tmp_path: Path, plan: object) -> None:
    run = merge(plan, [], run_id="r1")  # type: ignore[arg-type]

    assert [result.status for result in run.results] == ["not-run", "not-run", "unplaced", "not-run"]
    assert merged(plan, [], tmp_path / "out")["junit.xml"].count(b'<testcase name="cell"') == 4


# --- plan.json is an input like any other -----------------------------------------------------------------------------


def test_a_plan_is_read_back(tmp_path: Path, plan: object) -> None:
    (tmp_path / "plan.json").write_bytes(msgspec.json.format(msgspec.json.encode(plan), indent=1))

    assert read_plan(tmp_path / "plan.json") == plan


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b'{"matrix": 1}', b"{" * 100_000, b"null"])
def test_what_is_no_plan_is_bad_input_with_its_place(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "plan.json").write_bytes(data)

    with pytest.raises(InputError, match=r"plan\.json: it is no plan: "):
        read_plan(tmp_path / "plan.json")


def test_a_missing_plan_and_a_folder_are_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such plan"):
        read_plan(tmp_path / "plan.json")
    with pytest.raises(InputError, match="is not a plain file"):
        read_plan(tmp_path)


@pytest.mark.parametrize(
    ("written", "edited", "told"),
    [
        ('"torch":"2.13.0"', '"torch":"2.13.0\\nRUN id"', r"`2.13.0\nRUN id` is not a version"),
        ('"python":"3.11"', '"python":"$(id)"', "is not a value of `python`"),
        ('"python":"3.11"', '"python":"3.11","gpus":"abc"', "`abc` is not a value of `gpus`"),
        ('"python":"3.11"', '"python":"3.11","../x":"1"', "no axis is named `../x`"),
        ('"id":"c1"', '"id":"con"', "`con` cannot name a folder"),
        ('"timeout_s":1200.0', '"timeout_s":-5', "Expected `float` > 0.0"),
        ('"pids":4096', '"pids":-1', "Expected `int` >= 1"),  # to an engine: no limit
        ('"schema_version":1', '"schema_version":2', "Invalid enum value 2"),
    ],
)
def test_a_plan_edited_by_hand_is_held_to_what_a_matrix_is(
    tmp_path: Path, make: SimpleNamespace, written: str, edited: str, told: str
) -> None:
    plan = msgspec.json.encode(make.plan(make.cell())).decode()
    assert plan.count(written) == 1
    (tmp_path / "plan.json").write_text(plan.replace(written, edited))

    with pytest.raises(InputError) as raised:
        read_plan(tmp_path / "plan.json")
    assert str(raised.value).startswith(f"{tmp_path}/plan.json: ")
    assert told in str(raised.value)


def test_a_plan_with_a_cell_twice_is_bad_input(tmp_path: Path, make: SimpleNamespace) -> None:
    (tmp_path / "plan.json").write_bytes(msgspec.json.encode(make.plan(make.cell(), make.cell())))

    with pytest.raises(InputError, match="the plan has `c1` twice"):
        read_plan(tmp_path / "plan.json")


# --- a large run ------------------------------------------------------------------------------------------------------

_MEASURE = """
import resource, sys
from pathlib import Path
import junitparser, msgspec
from orchestrator.model import Plan
from orchestrator.results import merged_junit
from orchestrator.results.merge import merge, read_plan, results

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

root = Path(sys.argv[1])
plan = read_plan(root / "plan.json")
before = peak()
run = merge(plan, [root / "bundles"], run_id="r")
totals = sum((merged_junit.totals_of(result) for result in run.results), merged_junit.Totals())
with (root / "junit.xml").open("wb") as file:
    merged_junit.write(file, totals, results(plan, [root / "bundles"]))
print(peak() - before)
"""


@pytest.mark.slow
def test_a_thousand_cells_of_five_hundred_cases_need_less_than_50_mb(tmp_path: Path, make: SimpleNamespace) -> None:
    template = make.bundle(tmp_path / "template", cases=(*cases_of(490), *(FAILING,) * 10), exit_code=1)
    names = [name for name in formats.BUNDLE_FILES if name not in {formats.CELL, formats.METRICS}]
    cells = []
    for number in range(1000):
        cell = f"c{number}"
        folder = tmp_path / "bundles" / cell
        folder.mkdir(parents=True)
        cells.append(make.cell(id=cell))
        (folder / formats.CELL).write_text(json.dumps({"id": cell, "axes": make.axes}))
        (folder / formats.METRICS).write_text(json.dumps({**make.metric, "cell": cell}) + "\n")
        for name in names:
            if name != formats.CHECKSUMS:
                shutil.copyfile(template / name, folder / name)
        sums = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}
        (folder / formats.CHECKSUMS).write_text("".join(f"{found}  {name}\n" for name, found in sums.items()))
    (tmp_path / "plan.json").write_bytes(msgspec.json.encode(make.plan(*cells)))

    measured = subprocess.run(
        [sys.executable, "-c", _MEASURE, str(tmp_path)], check=True, capture_output=True, text=True
    )

    assert int(measured.stdout) < 50_000  # KiB
    with (tmp_path / "junit.xml").open("rb") as file:
        assert sum(line.count(b"<testcase ") for line in file) == 500_000
