"""Beside each bound of the lists of wheels and of ROCm a question just below it, at it and just above it.

The expected verdicts were copied from file lists, build scripts and vendors' pages by hand.
"""

import pytest

from orchestrator.support.check import Support
from orchestrator.support.facts import load_facts

SUPPORT = Support(load_facts())
YES, PART, NO, OPEN = "supported", "degraded", "unsupported", "unknown"


def verdict(**axes: str) -> str:
    return SUPPORT.verdict(axes).value


@pytest.mark.parametrize(
    ("told", "versions"),
    [
        ({"torch": "2.5.1", "torch_build": "cu124"}, ("2.16", "2.17", "2.18")),
        ({"torch": "2.6.0", "torch_build": "cu124"}, ("2.16", "2.17", "2.18")),
        ({"torch": "2.6.0", "torch_build": "cu126"}, ("2.27", "2.28", "2.29")),
        ({"torch": "2.6.0", "torch_build": "rocm6.2.4"}, ("2.27", "2.28", "2.29")),
        ({"torch": "2.7.0", "torch_build": "cu118"}, ("2.27", "2.28", "2.29")),
        ({"torch": "2.14.1", "torch_build": "cpu"}, ("2.27", "2.28", "2.29")),
        ({"torch": "2.15.0", "channel": "pypi"}, ("2.27", "2.28", "2.29")),
        ({"torch": "2.5.1", "channel": "pypi", "host_arch": "aarch64"}, ("2.16", "2.17", "2.18")),
        ({"torch": "2.6.0", "channel": "pypi", "host_arch": "aarch64"}, ("2.27", "2.28", "2.29")),
    ],
)
def test_a_wheel_has_a_floor_of_glibc(told: dict[str, str], versions: tuple[str, ...]) -> None:
    assert [verdict(**told, glibc=version) for version in versions] == [NO, YES, YES]


@pytest.mark.parametrize(
    ("distro", "expected"),
    [
        ("centos-7", NO),
        ("rhel-8.10", YES),
        ("amazonlinux-2", NO),
        ("amazonlinux-2023", YES),
        ("ubuntu-18.04", NO),
        ("ubuntu-18.10", YES),
        ("ubuntu-20.04", YES),
        ("debian-9", NO),
        ("debian-10", YES),
        ("fedora-29", YES),
    ],
)
def test_a_distribution_is_old_enough_or_not_for_manylinux_2_28(distro: str, expected: str) -> None:
    assert verdict(torch="2.13.0", channel="pypi", distro=distro) == expected


PYTHONS = {
    "2.0.0": ("3.7", "3.8", "3.11", "3.12"),
    "2.0.1": ("3.7", "3.8", "3.11", "3.12"),
    "2.1.2": ("3.7", "3.8", "3.11", "3.12"),
    "2.2.2": ("3.7", "3.8", "3.12", "3.13"),
    "2.3.1": ("3.7", "3.8", "3.12", "3.13"),
    "2.4.1": ("3.7", "3.8", "3.12", "3.13"),
    "2.5.1": ("3.8", "3.9", "3.13", "3.14"),
    "2.6.0": ("3.8", "3.9", "3.13", "3.14"),
    "2.7.1": ("3.8", "3.9", "3.13", "3.14"),
    "2.8.0": ("3.8", "3.9", "3.13", "3.14"),
    "2.9.1": ("3.9", "3.10", "3.14", "3.15"),
    "2.10.0": ("3.9", "3.10", "3.14", "3.15"),
    "2.11.0": ("3.9", "3.10", "3.14", "3.15"),
    "2.12.1": ("3.9", "3.10", "3.14", "3.15"),
    "2.13.0": ("3.9", "3.10", "3.14", "3.15"),
    "2.14.1": ("3.9", "3.10", "3.14", "3.15"),
    "2.15.0": ("3.10", "3.11", "3.15", "3.16"),
}


@pytest.mark.parametrize(("torch", "pythons"), PYTHONS.items())
def test_a_release_has_files_for_a_range_of_pythons(torch: str, pythons: tuple[str, ...]) -> None:
    found = [verdict(torch=torch, python=python, channel="pypi", os="linux") for python in pythons]
    assert found == [NO, YES, YES, NO]


@pytest.mark.parametrize(
    ("torch", "python", "expected"),
    [
        ("2.6.0", "3.13t", NO),
        ("2.7.0", "3.13t", YES),
        ("2.12.0", "3.13t", YES),
        ("2.12.1", "3.13t", NO),
        ("2.8.0", "3.14t", NO),
        ("2.9.0", "3.14t", YES),
        ("2.15.0", "3.14t", YES),
        ("2.14.1", "3.15t", NO),
        ("2.15.0", "3.15t", YES),
    ],
)
def test_a_free_threaded_python_has_files_of_its_own(torch: str, python: str, expected: str) -> None:
    assert verdict(torch=torch, python=python, channel="pypi", os="linux") == expected


@pytest.mark.parametrize(
    ("torch", "last", "next_", "beyond"),
    [
        ("2.0.1", "3.10", "3.11", PART),
        ("2.1.2", "3.11", "3.12", NO),
        ("2.2.2", "3.11", "3.12", PART),
        ("2.3.1", "3.11", "3.12", PART),
        ("2.4.1", "3.12", "3.13", NO),
        ("2.5.1", "3.12", "3.13", PART),
        ("2.6.0", "3.13", "3.14", NO),
        ("2.7.1", "3.13", "3.14", NO),
        ("2.8.0", "3.13", "3.14", NO),
        ("2.9.1", "3.13", "3.14", PART),
        ("2.10.0", "3.14", "3.15", NO),
        ("2.14.1", "3.14", "3.15", NO),
        ("2.15.0", "3.15", "3.16", NO),
    ],
)
def test_torch_compile_has_a_last_python(torch: str, last: str, next_: str, beyond: str) -> None:
    told = {"torch": torch, "channel": "pypi", "os": "linux", "scope": "torch.compile"}
    assert [verdict(**told, python=python) for python in (last, next_)] == [YES, beyond]


@pytest.mark.parametrize(("torch", "expected"), [("2.0.1", PART), ("2.1.2", PART), ("2.4.1", PART)])
def test_inductor_came_to_windows_with_2_5(torch: str, expected: str) -> None:
    told = {"os": "windows", "python": "3.11", "backend": "inductor", "scope": "torch.compile"}
    assert verdict(torch=torch, **told) == expected
    assert SUPPORT.verdict({"torch": "2.5.1", **told}) not in {PART, NO}


@pytest.mark.parametrize(
    ("vision", "torches", "expected"),
    [
        ("0.15.2", ("1.13.1", "2.0.1", "2.1.0"), (NO, YES, NO)),
        ("0.16.2", ("2.0.1", "2.1.2", "2.2.0"), (NO, YES, NO)),
        ("0.17.2", ("2.1.2", "2.2.2", "2.3.0"), (NO, YES, NO)),
        ("0.18.1", ("2.2.2", "2.3.1", "2.4.0"), (NO, YES, NO)),
        ("0.19.1", ("2.3.1", "2.4.1", "2.5.0"), (NO, YES, NO)),
        ("0.20.1", ("2.4.1", "2.5.1", "2.6.0"), (NO, YES, NO)),
        ("0.21.0", ("2.5.1", "2.6.0", "2.7.0"), (NO, YES, NO)),
        ("0.22.1", ("2.6.0", "2.7.1", "2.8.0"), (NO, YES, NO)),
        ("0.23.0", ("2.7.1", "2.8.0", "2.9.0"), (NO, YES, NO)),
        ("0.24.1", ("2.8.0", "2.9.1", "2.10.0"), (NO, YES, NO)),
        ("0.25.0", ("2.9.1", "2.10.0", "2.11.0"), (NO, YES, NO)),
        ("0.26.0", ("2.10.0", "2.11.0", "2.12.0"), (NO, YES, NO)),
        ("0.27.1", ("2.11.0", "2.12.1", "2.13.0"), (NO, YES, NO)),
        ("0.28.0", ("2.12.1", "2.13.0", "2.14.0"), (NO, YES, NO)),
        ("0.29.0", ("2.13.0", "2.14.0", "2.14.1"), (NO, YES, NO)),
        ("0.29.1", ("2.13.0", "2.14.0", "2.15.0"), (NO, YES, YES)),
        ("0.29.2", ("2.13.0", "2.14.1", "2.15.0"), (NO, YES, YES)),
    ],
)
def test_torchvision_belongs_to_one_torch(vision: str, torches: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert tuple(verdict(torchvision=vision, torch=torch) for torch in torches) == expected


@pytest.mark.parametrize(
    ("audio", "torches", "expected"),
    [
        ("2.10.0", ("2.9.1", "2.10.0", "2.11.0"), (NO, YES, NO)),
        ("2.11.0", ("2.10.0", "2.11.0", "2.12.0"), (NO, YES, YES)),
        ("2.11.1", ("2.10.0", "2.11.0", "2.15.0"), (NO, YES, YES)),
    ],
)
def test_torchaudio_belongs_to_one_torch_until_2_11(
    audio: str, torches: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert tuple(verdict(torchaudio=audio, torch=torch) for torch in torches) == expected


@pytest.mark.parametrize(
    ("vision", "expected"), [("0.29.0", (YES, NO, YES)), ("0.25.0", (YES, YES, YES)), ("0.26.0", (YES, NO, YES))]
)
def test_torchvision_leaves_out_one_python(vision: str, expected: tuple[str, ...]) -> None:
    torch = {"0.29.0": "2.14.0", "0.25.0": "2.10.0", "0.26.0": "2.11.0"}[vision]
    found = [verdict(torch=torch, torchvision=vision, python=python) for python in ("3.14.0", "3.14.1", "3.14.2")]
    assert tuple(found) == expected


@pytest.mark.parametrize(
    ("driver", "rocms", "expected"),
    [
        ("5.3", ("5.0", "5.1", "5.5", "5.6"), (NO, YES, YES, NO)),
        ("5.4", ("5.1", "5.2", "5.6", "5.7"), (NO, YES, YES, NO)),
        ("5.5", ("5.2", "5.3", "5.7", "6.0"), (NO, YES, YES, NO)),
        ("5.6", ("5.3", "5.4", "6.0", "6.1"), (NO, YES, YES, NO)),
        ("5.7", ("5.4", "5.5", "6.1", "6.2"), (NO, YES, YES, NO)),
        ("6.0", ("5.5", "5.6", "6.2", "6.3"), (NO, YES, YES, NO)),
        ("6.1", ("5.6", "5.7", "6.4", "7.0"), (NO, YES, YES, NO)),
        ("6.2", ("5.7", "6.0", "7.0", "7.1"), (NO, YES, YES, OPEN)),
        ("6.3", ("6.0", "6.1", "7.0", "7.1"), (NO, YES, YES, OPEN)),
        ("6.4", ("6.0", "6.1", "7.0", "7.14"), (NO, YES, YES, OPEN)),
        ("30.10", ("6.1", "6.2", "7.0", "7.14"), (NO, YES, YES, OPEN)),
        ("30.30", ("6.2", "6.3", "7.2", "7.14"), (NO, YES, YES, OPEN)),
    ],
)
def test_a_kernel_driver_serves_a_window_of_rocm(
    driver: str, rocms: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert tuple(verdict(rocm_userspace=rocm, amdgpu_driver=driver) for rocm in rocms) == expected


@pytest.mark.parametrize(
    ("module", "rocm", "expected"),
    [
        ("6.7.0", "7.0", NO),
        ("6.8.5", "7.0", YES),
        ("6.10.5", "6.0", NO),
        ("6.12.12", "7.0", YES),
        ("6.14.14", "6.1", NO),
        ("6.16.13", "7.2", YES),
    ],
)
def test_a_module_number_is_read_as_the_release_it_came_with(module: str, rocm: str, expected: str) -> None:
    assert verdict(rocm_userspace=rocm, amdgpu_driver=module) == expected


@pytest.mark.parametrize(
    ("arch", "before", "first"),
    [
        ("gfx1100", ("2.0.1", "rocm5.4.2"), ("2.1.2", "rocm5.6")),
        ("gfx942", ("2.3.1", "rocm5.7"), ("2.3.1", "rocm6.0")),
        ("gfx1101", ("2.4.1", "rocm6.1"), ("2.8.0", "rocm6.4")),
        ("gfx1200", ("2.4.1", "rocm6.1"), ("2.8.0", "rocm6.4")),
        ("gfx1201", ("2.4.1", "rocm6.1"), ("2.9.1", "rocm6.4")),
        ("gfx950", ("2.9.1", "rocm6.4"), ("2.10.0", "rocm7.0")),
        ("gfx1150", ("2.9.1", "rocm6.4"), ("2.10.0", "rocm7.1")),
        ("gfx1151", ("2.9.1", "rocm6.4"), ("2.10.0", "rocm7.1")),
    ],
)
def test_an_isa_came_to_the_wheels_with_a_release(arch: str, before: tuple[str, str], first: tuple[str, str]) -> None:
    found = [verdict(torch=torch, torch_build=build, gpu_arch=arch) for torch, build in (before, first)]
    assert found == [NO, YES]


@pytest.mark.parametrize(
    ("arch", "before", "first"),
    [
        ("gfx1103", ("2.12.1", "rocm7.2"), ("2.13.0", "rocm7.2")),
    ],
)
def test_an_isa_that_is_on_no_list_of_amd_works_in_part(
    arch: str, before: tuple[str, str], first: tuple[str, str]
) -> None:
    found = [verdict(torch=torch, torch_build=build, gpu_arch=arch) for torch, build in (before, first)]
    assert found == [NO, PART]


@pytest.mark.parametrize("arch", ["gfx803", "gfx1010", "gfx1031", "gfx1032", "gfx1036"])
def test_some_isas_are_in_no_list(arch: str) -> None:
    for torch, build in (("2.0.1", "rocm5.4.2"), ("2.4.1", "rocm6.1"), ("2.9.1", "rocm6.4"), ("2.13.0", "rocm7.2")):
        assert verdict(torch=torch, torch_build=build, gpu_arch=arch) == NO


@pytest.mark.parametrize(("host", "torch", "expected"), [("aarch64", "2.10.0", PART), ("aarch64", "2.11.0", YES)])
def test_pypi_has_cuda_for_aarch64_from_2_11(host: str, torch: str, expected: str) -> None:
    assert verdict(torch=torch, channel="pypi", host_arch=host, gpu="GH200", driver="580.95.05") == expected


@pytest.mark.parametrize(("torch", "expected"), [("2.2.2", YES), ("2.3.0", NO), ("2.14.1", NO)])
def test_macos_on_x86_64_ends_with_2_2_2(torch: str, expected: str) -> None:
    assert verdict(torch=torch, os="macos", host_arch="x86_64", python="3.11") == expected
