from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.planning.asking import Asking
from orchestrator.planning.neighbours import Candidate, neighbours
from orchestrator.planning.space import by_axis
from orchestrator.vocabulary import LeftOutKind, Verdict

ALL = ("oldest", "previous", "next", "newest")


def around(make: SimpleNamespace, row: Any, section: Any, *told: Any, wanted: tuple[str, ...] = ALL) -> list[Candidate]:
    return neighbours(Asking(make.vendor(*told), ()), by_axis(section), [row], wanted)


def test_each_value_beyond_the_own_one_is_a_candidate_once(make: SimpleNamespace) -> None:
    section = (make.values("torch", "2.14.1", "2.6.0", "2.9.1", "2.13.0"), make.values("python", "3.11", "3.12"))
    found = around(make, make.row("cpu", make.cpu), section)
    assert [(one.name, one.cell["torch"], one.cell["python"]) for one in found] == [
        ("cpu+next-torch", "2.14.1", "3.11"),
        ("cpu+previous-torch", "2.9.1", "3.11"),
        ("cpu+oldest-torch", "2.6.0", "3.11"),
        ("cpu+next-python", "2.13.0", "3.12"),
    ]
    assert found[0].why == "next and newest torch after production row `cpu`: 2.13.0 -> 2.14.1"


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (("next",), ["cpu+next-torch"]),
        (("newest",), ["cpu+newest-torch"]),
        (("previous",), []),
        ((), []),
        (("oldest", "newest"), ["cpu+newest-torch"]),
    ],
)
def test_only_what_is_wanted_is_tried(make: SimpleNamespace, wanted: tuple[str, ...], names: list[str]) -> None:
    section = (make.values("torch", "2.13.0", "2.14.1", "2.15.0"),)
    found = around(make, make.row("cpu", make.cpu), section, wanted=wanted)
    assert [one.name for one in found] == names


def test_an_axis_that_hangs_on_another_comes_and_goes_with_it(make: SimpleNamespace) -> None:
    section = (
        make.values("backend", "eager", "inductor", "openvino"),
        make.values("openvino", "2025.4.1", "2026.0.0", backend="openvino"),
    )
    (eager, openvino) = around(
        make, make.row("cpu", make.cpu | {"backend": "inductor"}), section, wanted=("next", "previous")
    )
    assert eager.cell["backend"] == "openvino"
    assert eager.why.endswith(": inductor -> openvino, and openvino 2026.0.0 comes along")
    back = around(make, make.row("ov", eager.cell), section, wanted=("previous",))
    assert [one.name for one in back] == ["ov+previous-openvino", "ov+previous-backend"]
    assert "openvino" not in back[1].cell
    assert back[1].why.endswith(": openvino -> inductor, and openvino 2026.0.0 goes")
    assert openvino.cell["backend"] == "eager"


def test_machines_have_neighbours_too(make: SimpleNamespace) -> None:
    section = (
        make.values("driver", "535", "580", "595", torch_build="cu*"),
        make.values("gpu", "A100", "H100", torch_build="cu*"),
        make.values("gpu", "MI300X", torch_build="rocm*"),
    )
    found = around(make, make.row("gpu", make.cuda), section, wanted=("next", "previous"))
    assert [one.name for one in found] == ["gpu+next-driver", "gpu+previous-driver", "gpu+previous-gpu"]
    assert {one.cell["gpus"] for one in found} == {"8"}


def test_a_neighbour_says_what_had_to_move_with_it(make: SimpleNamespace) -> None:
    section = (make.values("torch", "2.13.0", "2.14.1"), make.values("torch_build", "cu126", "cu130"))
    row = make.row("gpu", make.cuda | {"torch_build": "cu126"})
    rule = make.says(Verdict.UNSUPPORTED, "index-mapping", torch="2.14.1", torch_build="cu126")
    torch, build = around(make, row, section, rule)
    assert torch.why == (
        "next and newest torch after production row `gpu`: 2.13.0 -> 2.14.1; "
        "torch_build had to move cu126 -> cu130 (index-mapping says unsupported; index-mapping)"
    )
    assert (torch.cell["torch"], torch.cell["torch_build"], torch.against) == ("2.14.1", "cu130", None)
    assert build.cell["torch"] == "2.13.0"


def test_a_neighbour_that_nothing_repairs_says_why(make: SimpleNamespace) -> None:
    section = (make.values("torch", "2.13.0", "2.14.1"),)
    (one,) = around(make, make.row("cpu", make.cpu), section, make.says(Verdict.UNSUPPORTED, "glibc", torch="2.14.1"))
    assert one.against is not None
    assert (one.against.kind, one.against.rule) == (LeftOutKind.NO_WHEEL, "glibc")
    assert one.cell["torch"] == "2.14.1"


def test_what_upgrades_move_to_ranks_first(make: SimpleNamespace) -> None:
    section = (
        make.values("torch", "2.6.0", "2.9.1", "2.13.0", "2.14.1", "2.15.0"),
        make.values("python", "3.11", "3.12"),
    )
    ranked = sorted(around(make, make.row("cpu", make.cpu), section), key=lambda one: one.rank)
    assert [one.name.split("+")[1] for one in ranked] == [
        "next-torch", "next-python", "previous-torch", "newest-torch", "oldest-torch",
    ]  # fmt: skip


def test_a_ready_image_moves_among_machines_only(make: SimpleNamespace) -> None:
    row = make.row("ready", {"image": "sha256:" + "0" * 64, "driver": "580", "gpu": "H100"})
    section = (make.values("torch", "2.13.0", "2.14.1"), make.values("driver", "535", "580", torch_build="cu*"))
    assert [one.name for one in around(make, row, section)] == ["ready+previous-driver"]
