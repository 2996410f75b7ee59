from types import SimpleNamespace

from orchestrator import axes
from orchestrator.model import ContainerNeeds, Limits
from orchestrator.planning.expand import cells_of, forbidding, left_out
from orchestrator.vocabulary import LeftOutKind, Status, Tier


def test_a_row_is_a_cell(make: SimpleNamespace) -> None:
    matrix = make.matrix(make.row("cpu", make.cpu, 21, owner="infra@team", timeout_s=60.0, allow_fallback=True))
    (cell,), again = cells_of(matrix.production, matrix, None)
    assert again == []
    assert cell.id == axes.cell_id(make.cpu)
    assert (cell.name, cell.owner, cell.tier, cell.allow_fallback) == ("cpu", "infra@team", Tier.PRODUCTION, True)
    assert cell.why == "production row `cpu` (matrix.yaml:21)"
    assert cell.axes == axes.complete(make.cpu)
    assert cell.axes["backend"] == "eager"
    assert cell.image == axes.image_id(make.cpu)
    assert cell.limits == Limits(timeout_s=60.0)


def test_a_row_without_a_timeout_has_the_matrix_limits(make: SimpleNamespace) -> None:
    limits = Limits(timeout_s=5.0, memory=1 << 30, shm=1 << 20, pids=99)
    matrix = make.matrix(make.row("cpu", make.cpu), limits=limits)
    assert cells_of(matrix.production, matrix, None)[0][0].limits == limits


def test_a_ready_image_is_its_own_name(make: SimpleNamespace) -> None:
    reference = "registry.example.org/torch@sha256:" + "0" * 64
    matrix = make.matrix(make.row("ready", {"image": reference}))
    (cell,), _ = cells_of(matrix.production, matrix, None)
    assert cell.image == reference


def test_two_rows_of_one_cell_are_one_cell_with_both_names(make: SimpleNamespace) -> None:
    rows = (
        make.row("a", make.cpu, 3, owner="one", allow_fallback=True, timeout_s=10.0),
        make.row("b", {**make.cpu, "backend": "eager"}, 4, owner="two", timeout_s=30.0),
        make.row("c", {**make.cpu, "backend": "inductor"}, 5),
    )
    cells, again = cells_of(rows, make.matrix(*rows), None)
    assert [cell.name for cell in cells] == ["a, b", "c"]
    first = cells[0]
    assert first.why == "production row `a` (matrix.yaml:3) and production row `b` (matrix.yaml:4)"
    assert (first.owner, first.allow_fallback, first.limits.timeout_s) == ("one, two", False, 30.0)
    (entry,) = again
    assert (entry.name, entry.kind) == ("b", LeftOutKind.DUPLICATE)
    assert entry.reason == f"is the same cell as production row `a`: {first.id}"


def test_known_issues_are_those_of_the_completed_axes(make: SimpleNamespace) -> None:
    issues = (
        make.known("*conv*", backend="eager", torch=">=2.13"),
        make.known("*x*", backend="inductor"),
        make.known(status=Status.CRASHED_AT_EXIT, torch_build="cpu"),
        make.known("*x*", driver="*"),
    )
    matrix = make.matrix(make.row("cpu", make.cpu), known_issues=issues)
    (cell,), _ = cells_of(matrix.production, matrix, None)
    assert [(known.test, known.status) for known in cell.known_issues] == [("*conv*", None), ("", "crashed-at-exit")]
    assert cell.known_issues[0].until == "2027-03-01"


def test_a_cell_has_the_container_needs_of_its_runner_class(make: SimpleNamespace) -> None:
    needs = ContainerNeeds(ipc="host", memlock="unlimited")
    h100 = make.runner("h100", {"driver": "580", "gpu": "H100", "gpus": "8"}, container=needs)
    matrix = make.matrix(make.row("train", make.cuda), make.row("cpu", make.cpu), runners=(h100,))
    for machine in (None, make.host(), make.host(driver="580", gpu="H100", gpus="8")):
        cells, _ = cells_of(matrix.production, matrix, machine)
        assert [cell.container for cell in cells] == [needs, ContainerNeeds()]


def test_the_first_rule_that_forbids_a_row_is_found(make: SimpleNamespace) -> None:
    rules = (make.rule(1, torch="<2"), make.rule(2, backend="eager", python="3.1?"), make.rule(3, torch_build="cpu"))
    found = forbidding(make.row("cpu", make.cpu), rules)
    assert found is rules[1]
    assert forbidding(make.row("cpu", make.cpu), rules[:1]) is None


def test_what_is_left_out_keeps_all_its_axes(make: SimpleNamespace) -> None:
    entry = left_out(make.row("cpu", make.cpu), LeftOutKind.RULE, "why")
    assert (entry.name, entry.tier, entry.kind, entry.reason) == ("cpu", Tier.PRODUCTION, LeftOutKind.RULE, "why")
    assert entry.axes == axes.complete(make.cpu)
