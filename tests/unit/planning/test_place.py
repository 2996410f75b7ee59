# ruff: noqa: RUF001 - reasons count devices with a multiplication sign

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from orchestrator import axes
from orchestrator.planning.place import gpus_of, place, runner_for, takes_gpu

DIGEST = "sha256:" + "0" * 64


@pytest.fixture
def runners(make: SimpleNamespace) -> tuple[Any, ...]:
    return (
        make.runner("h100-535", {"driver": "535", "gpu": "H100", "gpus": "8"}),
        make.runner("h100-580", {"driver": "580", "gpu": "H100", "gpus": "8"}),
        make.runner("mi300x", {"driver": "30.20", "gpu": "MI300X", "gpus": "8"}),
        make.runner("cpu", {}),
        make.runner("arm", {"host_arch": "aarch64"}),
    )


@pytest.mark.parametrize(
    ("changed", "runner"),
    [
        ({}, "h100-580"),
        ({"driver": "535"}, "h100-535"),
        ({"gpus": "1"}, "h100-580"),
        ({"gpu": "h100"}, "h100-580"),
        ({"torch_build": "cpu", "driver": None, "gpu": None, "gpus": None}, "cpu"),
        ({"torch_build": "cpu", "driver": None, "gpu": None, "gpus": None, "host_arch": "aarch64"}, "arm"),
        ({"driver": None, "gpu": None, "gpus": None}, "h100-535"),
        ({"torch_build": "rocm7.1", "driver": "30", "gpu": "MI300X"}, None),
    ],
)
def test_a_cell_goes_to_the_first_class_that_has_what_it_needs(
    make: SimpleNamespace, runners: Any, changed: dict[str, str | None], runner: str | None
) -> None:
    cell = axes.complete({name: value for name, value in {**make.cuda, **changed}.items() if value is not None})
    if runner is None:
        runner = "mi300x"  # driver 30 is any 30.x
    placement = place(cell, None, runners)
    assert (placement.placed, placement.runner, placement.reason) == (True, runner, f"runner class {runner}")


@pytest.mark.parametrize(
    ("changed", "needs"),
    [
        ({"driver": "590"}, "driver 590 and 8 × H100"),
        ({"driver": "580.65"}, "driver 580.65 and 8 × H100"),
        ({"gpus": "16"}, "driver 580 and 16 × H100"),
        ({"gpu": "B200", "partition": "mig-1g"}, "driver 580, partition mig-1g and 8 × B200"),
        ({"host_arch": "aarch64"}, "driver 580, 8 × H100 and aarch64"),
    ],
)
def test_a_cell_that_no_class_fits_is_unplaced(
    make: SimpleNamespace, runners: Any, changed: dict[str, str], needs: str
) -> None:
    placement = place(axes.complete({**make.cuda, **changed}), None, runners)
    assert (placement.placed, placement.runner) == (False, None)
    assert placement.reason == f"needs {needs}; no runner class of the matrix has them"


def test_a_cpu_cell_runs_on_any_machine_when_no_class_is_for_it(make: SimpleNamespace) -> None:
    gpu_only = (make.runner("h100", {"gpu": "H100"}),)
    placement = place(axes.complete(make.cpu), None, gpu_only)
    assert (placement.placed, placement.runner, placement.reason) == (True, "here", "any machine with an engine")
    other = place(axes.complete({**make.cpu, "host_arch": "s390x"}), None, gpu_only)
    assert (other.placed, other.reason) == (False, "needs s390x; no runner class of the matrix has them")


def test_the_sentence_of_an_unplaced_gpu_cell(make: SimpleNamespace, runners: Any) -> None:
    placement = place(axes.complete(make.cuda), make.host(), runners)
    assert placement.reason == (
        "needs driver 580 and 8 × H100; this machine has no NVIDIA driver (runner class h100-580 has them)"
    )
    nowhere = place(axes.complete(make.cuda), make.host(), ())
    assert nowhere.reason.endswith("this machine has no NVIDIA driver (no runner class of the matrix has them)")


@pytest.mark.parametrize(
    ("changed", "machine", "lacks"),
    [
        ({"torch_build": "rocm7.1", "gpu": "MI300X", "driver": "30.20"}, {}, "this machine has no AMD driver"),
        ({"torch_build": "xpu", "gpu": "B580", "driver": None}, {}, "this machine has no GPU"),
        ({}, {"driver": "580.65.06"}, "this machine has no GPU"),
        ({}, {"driver": "535.104.05", "gpu": "H100", "gpus": "8"}, "this machine has driver 535.104.05"),
        ({}, {"driver": "580.65.06", "gpu": "A100", "gpus": "8"}, "this machine has gpu A100"),
        ({}, {"driver": "580.65.06", "gpu": "H100", "gpus": "4"}, "this machine has 4 × H100"),
        ({}, {"driver": "580.65.06", "gpu": "H100"}, "this machine has 1 × H100"),
        ({"firmware": "1.2"}, {"driver": "580", "gpu": "H100", "gpus": "8"}, "this machine has no firmware"),
        ({"host_arch": "aarch64"}, {"driver": "580", "gpu": "H100", "gpus": "8"}, "this machine is x86_64"),
    ],
)
def test_what_this_machine_lacks_for_a_gpu_cell(
    make: SimpleNamespace, changed: dict[str, str | None], machine: dict[str, str], lacks: str
) -> None:
    cell = {name: value for name, value in {**make.cuda, **changed}.items() if value is not None}
    placement = place(axes.complete(cell), make.host(**machine), ())
    assert (placement.placed, placement.runner) == (False, None)
    assert placement.reason.split("; ", 1)[1].startswith(lacks)


def test_a_machine_that_a_class_describes_is_of_that_class(make: SimpleNamespace, runners: Any) -> None:
    machine = make.host(driver="580.65.06", gpu="H100", gpus="8")
    placement = place(axes.complete(make.cuda), machine, runners)
    assert (placement.placed, placement.runner, placement.reason) == (True, "h100-580", "this machine: docker engine")
    small = place(axes.complete({**make.cuda, "gpus": "2"}), make.host(driver="580", gpu="H100", gpus="2"), runners)
    assert (small.placed, small.runner) == (True, "here")


@pytest.mark.parametrize(
    ("engine", "changed", "machine", "lacks"),
    [
        ("docker", {}, {}, ""),
        ("docker", {"torch_from": "distribution", "base": "debian13"}, {}, ""),
        ("docker", {"host_arch": "aarch64"}, {}, "this machine is x86_64"),
        ("none", {}, {}, "this machine has no engine: why"),
        ("process", {}, {}, ""),
        ("process", {"python": "3.13"}, {}, "this machine has Python 3.11.2, 3.12.1"),
        ("process", {"python": "3.1"}, {}, "this machine has Python 3.11.2, 3.12.1"),
        ("process", {"torch_from": "distribution"}, {}, "the process engine takes torch from wheels only"),
        ("process", {}, {"base": "ubuntu24.04"}, ""),
        ("process", {}, {"base": ""}, ""),
        ("process", {"base": "debian13"}, {}, "without a container it runs on this machine's own system, debian12"),
        ("process", {"base": "debian13"}, {"base": "debian13"}, ""),
        ("process", {"base": "debian13"}, {"base": ""},
         "without a container it runs on this machine's own system, which does not say what it is"),
        ("here", {"base": "debian13"}, {"torch": "2.13.0", "python": "3.11.7"},
         "without a container it runs on this machine's own system, debian12"),
        ("here", {}, {"torch": "2.13.0+cpu", "torch_build": "cpu", "python": "3.11.7"}, ""),
        ("here", {}, {"torch": "2.13.0", "python": "3.11.7"}, ""),
        ("here", {}, {"python": "3.11.7"}, "the interpreter here has no torch"),
        ("here", {}, {"torch": "2.12.1", "python": "3.11.7"}, "the interpreter here has torch 2.12.1"),
        ("here", {}, {"torch": "2.13.0", "torch_build": "cu130", "python": "3.11"},
         "the interpreter here has torch build cu130"),
        ("here", {}, {"torch": "2.13.0", "python": "3.12.1"}, "the interpreter here has python 3.12.1"),
    ],
)  # fmt: skip
def test_what_each_engine_can_run_here(
    make: SimpleNamespace, engine: str, changed: dict[str, str], machine: dict[str, str], lacks: str
) -> None:
    cell = axes.complete({**make.cpu, **changed})
    placement = place(cell, make.host(engine, ("3.11.2", "3.12.1"), **machine), ())
    assert placement.placed is (not lacks)
    assert (
        placement.reason == f"this machine: {engine} engine" if not lacks else placement.reason.endswith(f"; {lacks}")
    )


def test_a_machine_without_any_python_says_so(make: SimpleNamespace) -> None:
    placement = place(axes.complete(make.cpu), make.host("process"), ())
    assert placement.reason == (
        "needs torch 2.13.0 (cpu) with Python 3.11 on debian12; this machine has Python in no version that was found"
    )


@pytest.mark.parametrize(
    ("engine", "more", "reason"),
    [
        ("docker", {}, "this machine: docker engine"),
        ("process", {}, "needs a ready image; the process engine runs no images"),
        ("docker", {"host_arch": "aarch64"}, "needs aarch64; this machine is x86_64"),
        ("docker", {"gpu": "H100"}, "needs 1 × H100; this machine has no GPU (no runner class of the matrix has them)"),
        ("docker", {"driver": "580"},
         "needs driver 580 and 1 × GPU; this machine has no GPU driver (no runner class of the matrix has them)"),
    ],
)  # fmt: skip
def test_a_ready_image(make: SimpleNamespace, engine: str, more: dict[str, str], reason: str) -> None:
    assert place(axes.complete({"image": DIGEST, **more}), make.host(engine), ()).reason == reason


def test_devices_are_counted_for_device_builds_only(make: SimpleNamespace) -> None:
    assert (gpus_of(axes.complete(make.cuda)), gpus_of(axes.complete(make.cpu))) == (8, 0)
    assert takes_gpu({"image": DIGEST, "gpu": "H100"})
    assert not takes_gpu({"image": DIGEST})


def test_a_class_that_does_not_fit_this_host_is_not_its_class(make: SimpleNamespace, runners: Any) -> None:
    cell = axes.complete(make.cuda)
    assert runner_for(cell, runners, make.host(driver="580", gpu="H100", gpus="4")) is None
    assert runner_for(cell, runners).name == "h100-580"


@pytest.mark.parametrize("engine", ["process", "here"])
def test_without_a_compiler_only_inductor_on_the_processor_is_unplaced(make: SimpleNamespace, engine: str) -> None:
    machine = {"torch": "2.13.0", "python": "3.11.2"}
    host = replace(make.host(engine, ("3.11.2",), **machine), without_compiler="this machine has no C++ compiler")
    assert place(axes.complete(make.cpu), host, ()).placed
    unplaced = place(axes.complete({**make.cpu, "backend": "inductor"}), host, ())
    assert not unplaced.placed
    assert "this machine has no C++ compiler" in unplaced.reason
