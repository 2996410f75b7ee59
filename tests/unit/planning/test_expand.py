from types import SimpleNamespace

from msgspec.structs import replace

from orchestrator import axes
from orchestrator.model import CellSupport, ContainerNeeds, Limits, Load, Placement, Secret, SecretSource
from orchestrator.planning.asking import Against
from orchestrator.planning.expand import cells_of, edge_cell, left_out
from orchestrator.planning.neighbours import Candidate
from orchestrator.vocabulary import LeftOutKind, Status, Tier, Verdict


def test_a_row_is_a_cell(make: SimpleNamespace) -> None:
    matrix = make.matrix(make.row("cpu", make.cpu, 21, owner="infra@team", timeout_s=60.0, allow_fallback=True))
    (cell,), again = cells_of(matrix.production, make.expansion(matrix))
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
    assert cells_of(matrix.production, make.expansion(matrix))[0][0].limits == limits


def test_a_ready_image_is_its_own_name(make: SimpleNamespace) -> None:
    reference = "registry.example.org/torch@sha256:" + "0" * 64
    matrix = make.matrix(make.row("ready", {"image": reference}))
    (cell,), _ = cells_of(matrix.production, make.expansion(matrix))
    assert cell.image == reference


def test_two_rows_of_one_cell_are_one_cell_with_both_names(make: SimpleNamespace) -> None:
    rows = (
        make.row("a", make.cpu, 3, owner="one", allow_fallback=True, timeout_s=10.0),
        make.row("b", {**make.cpu, "backend": "eager"}, 4, owner="two", timeout_s=30.0),
        make.row("c", {**make.cpu, "backend": "inductor"}, 5),
    )
    cells, again = cells_of(rows, make.expansion(make.matrix(*rows)))
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
    (cell,), _ = cells_of(matrix.production, make.expansion(matrix))
    assert [(known.test, known.status) for known in cell.known_issues] == [("*conv*", None), ("", "crashed-at-exit")]
    assert cell.known_issues[0].until == "2027-03-01"


def test_a_cell_has_the_container_needs_of_its_runner_class(make: SimpleNamespace) -> None:
    needs = ContainerNeeds(ipc="host", memlock="unlimited")
    h100 = make.runner("h100", {"driver": "580", "gpu": "H100", "gpus": "8"}, container=needs)
    matrix = make.matrix(make.row("train", make.cuda), make.row("cpu", make.cpu), runners=(h100,))
    for machine in (None, make.host(), make.host(driver="580", gpu="H100", gpus="8")):
        cells, _ = cells_of(matrix.production, make.expansion(matrix, machine))
        assert [cell.container for cell in cells] == [needs, ContainerNeeds()]


def test_what_is_left_out_keeps_all_its_axes(make: SimpleNamespace) -> None:
    entry = left_out(
        make.row("cpu", make.cpu), Against(kind=LeftOutKind.RULE, reason="why", rule="floor", source="manual")
    )
    assert (entry.name, entry.tier, entry.kind, entry.reason) == ("cpu", Tier.PRODUCTION, LeftOutKind.RULE, "why")
    assert (entry.rule, entry.source) == ("floor", "manual")
    assert entry.axes == axes.complete(make.cpu)


def test_a_row_that_is_unsupported_is_planned_and_has_no_machine(make: SimpleNamespace) -> None:
    matrix = make.matrix(make.row("cpu", make.cpu), make.row("gpu", make.cuda))
    vendor = make.vendor(
        make.says(Verdict.UNSUPPORTED, "index-mapping", torch="2.13.0", python="3.11"),
        make.says(Verdict.DEGRADED, "window", driver="580"),
    )
    (cpu, gpu), _ = cells_of(matrix.production, make.expansion(matrix, vendor=vendor))
    assert cpu.placement == Placement(
        placed=False, runner=None, reason="index-mapping says unsupported (index-mapping, manual, 2026-11-01)"
    )
    assert cpu.support == CellSupport(
        verdict=Verdict.UNSUPPORTED,
        rule="index-mapping",
        because="index-mapping says unsupported",
        source="manual",
        as_of="2026-11-01",
    )
    assert (gpu.support.verdict, gpu.support.rule) == (Verdict.DEGRADED, "window")


def test_a_cell_shows_what_its_aliases_became(make: SimpleNamespace) -> None:
    row = make.row("cpu", make.cpu, aliases={"torch": "newest 2.x"})
    section = (replace(make.values("python", "3.11", "3.14"), aliases={"3.14": "latest"}),)
    matrix = make.matrix(row, axes=section)
    (cell,), _ = cells_of(matrix.production, make.expansion(matrix))
    assert dict(cell.aliases) == {"torch": "newest 2.x"}
    assert cell.why == "production row `cpu` (matrix.yaml:1); torch 2.13.0 is `newest 2.x`"
    moved = Candidate(name="cpu+next-python", row=row, why="why", cell=make.cpu | {"python": "3.14"}, rank=())
    edge = edge_cell(moved, make.expansion(matrix))
    assert dict(edge.aliases) == {"python": "latest", "torch": "newest 2.x"}
    other = edge_cell(replace(moved, cell=make.cpu | {"torch": "2.6.0"}), make.expansion(matrix))
    assert dict(other.aliases) == {}


def test_a_cell_is_given_what_its_rows_and_the_loads_of_its_tier_name(make: SimpleNamespace) -> None:
    def secret(name: str, **where: str) -> Secret:
        return Secret(name=name, place=make.row("x", {}).place, **{"file": "", "env": "", **where})

    load = Load(path="ours", tiers=(Tier.EDGE,), data="", place=make.row("x", {}).place, secrets=("DATA",))
    matrix = make.matrix(
        make.row("a", make.cpu, secrets=("INDEX",)),
        make.row("b", make.cpu, secrets=("TOKEN", "INDEX")),
        secrets=(secret("TOKEN", env="CI_TOKEN"), secret("INDEX", file="./keys/index"), secret("DATA", file="/d")),
        loads=(load,),
    )
    (cell,), _ = cells_of(matrix.production, make.expansion(matrix))
    assert cell.secrets == (SecretSource(name="TOKEN", env="CI_TOKEN"), SecretSource(name="INDEX", file="keys/index"))
    candidate = Candidate(row=matrix.production[0], cell=axes.complete(make.cpu), name="a+x", why="why", rank=())
    assert [secret.name for secret in edge_cell(candidate, make.expansion(matrix)).secrets] == ["INDEX", "DATA"]
