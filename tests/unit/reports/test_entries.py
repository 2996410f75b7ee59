"""What the page says about each cell, before it is a page."""

from collections.abc import Callable
from itertools import pairwise

import msgspec

from orchestrator.formats import MetricRow
from orchestrator.model import Exit, Log, Run
from orchestrator.reports import entries, overview
from orchestrator.vocabulary import Status


def test_every_result_has_its_entry_in_the_order_of_the_run(every_status: Run) -> None:
    made = entries.entries(every_status, ())
    assert [entry.result for entry in made] == list(every_status.results)
    assert all(entry.cell.id == entry.result.id for entry in made)


def test_metrics_go_to_the_cell_they_belong_to(every_status: Run, metric: Callable[[str, str], MetricRow]) -> None:
    cell = every_status.plan.cells[1].id
    made = entries.entries(
        every_status, [metric(cell, "latency"), metric("another", "latency"), metric(cell, "bandwidth")]
    )
    assert {entry.result.id: [row.metric for row in entry.metrics] for entry in made if entry.metrics} == {
        cell: ["latency", "bandwidth"]
    }


def test_requested_and_observed_stand_side_by_side(every_status: Run) -> None:
    entry = next(one for one in entries.entries(every_status, ()) if one.result.status is Status.MISMATCH)
    assert (entry.axes["torch"].requested, entry.axes["torch"].observed, entry.axes["torch"].mismatch) == (
        "2.6.0",
        "2.7.1+debian",
        True,
    )
    assert (entry.axes["python"].requested, entry.axes["python"].observed, entry.axes["python"].mismatch) == (
        "3.13",
        "3.13.5",
        False,
    )
    assert "env" not in entry.axes  # nobody asked for it, and nothing was seen


def test_what_only_a_bundle_knows_comes_after_the_axes_of_the_registry(hostile: Run) -> None:
    entry = entries.entries(hostile, ())[0]
    assert list(entry.axes) == ["torch", "torch_build", "backend", "<script>alert(1)</script>"]


def test_what_was_relaxed_is_said_once_for_all_attempts(every_status: Run) -> None:
    entry = next(one for one in entries.entries(every_status, ()) if len(one.result.attempts) == 2)
    assert entry.relaxed == ("ipc=host", "memlock=unlimited")


def test_of_a_log_the_end_of_the_last_attempt_is_kept(every_status: Run) -> None:
    long = Exit(log=Log(tail="x" * 20_000 + "the end", bytes=1 << 20))
    results = [
        msgspec.structs.replace(
            one, attempts=tuple(msgspec.structs.replace(attempt, exit=long) for attempt in one.attempts)
        )
        for one in every_status.results
    ]
    made = entries.entries(msgspec.structs.replace(every_status, results=tuple(results)), ())
    assert {(len(one.log), one.log[-7:], one.log_bytes) for one in made if one.result.attempts} == {
        (8000, "the end", 1 << 20)
    }


def test_groups_are_platforms_and_lose_no_cell(every_status: Run) -> None:
    made = entries.entries(every_status, ())
    grouped = entries.groups(made)
    assert [group.platform for group in grouped] == ["cpu", "cuda", "rocm", "xpu"]
    assert sorted(entry.result.id for group in grouped for entry in group.entries) == sorted(
        one.result.id for one in made
    )


def test_a_group_tells_what_differs_from_what_all_ask_for(every_status: Run) -> None:
    cuda = entries.groups(entries.entries(every_status, ()))[1]
    assert cuda.totals == "3 cells: 1 crashed, 2 unplaced"
    assert cuda.varying == ("driver", "gpu")
    assert cuda.common["torch"] == "2.13.0"
    assert not set(cuda.varying) & cuda.common.keys()


def test_cells_of_one_image_stand_beside_each_other(every_status: Run) -> None:
    images = [entry.cell.image for entry in entries.groups(entries.entries(every_status, ()))[0].entries]
    changes = sum(one != other for one, other in pairwise(images))
    assert changes == len(set(images)) - 1


def test_a_known_issue_counts_the_cells_where_it_was_met(every_status: Run) -> None:
    met = entries.issues(entries.entries(every_status, ()))
    assert [(issue.known.issue, issue.cells, issue.met) for issue in met] == [
        ("https://example.org/issues/1", 1, 1),
        ("tracker TM-17", 1, 1),
    ]


def test_cells_with_one_reason_are_told_together(every_status: Run) -> None:
    told = entries.by_reason(every_status, overview.NOT_HERE)
    assert [(alike.word, alike.reason, len(alike.names)) for alike in told] == [
        ("unplaced", "no machine: no machine here has gpu A100", 2),
        ("unsupported", "rule: internal wheels are not built for it", 1),
    ]


def test_what_is_left_out_is_named_by_its_axes_where_it_has_no_name(every_status: Run) -> None:
    rule, budget = entries.left_out(every_status)
    assert rule.names == ("torch 2.14.1, Python 3.11",)
    assert budget.names[0] == "torch=2.13.0 torch_build=cpu python=3.7"
    assert len(budget.names) == 8
