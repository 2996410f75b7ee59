"""Beside each bound of NVIDIA's tables a question just below it, at it and just above it.

The expected verdicts were copied from the vendors' pages by hand; nothing here is computed from the facts.
"""

from datetime import date

import pytest

from orchestrator.support.check import Support
from orchestrator.support.facts import load_facts

SUPPORT = Support(load_facts())
YES, PART, NO, OPEN = "supported", "degraded", "unsupported", "unknown"


def verdict(**axes: str) -> str:
    return SUPPORT.verdict(axes).value


@pytest.mark.parametrize(
    ("build", "drivers", "levels"),
    [
        ("cu118", ("450.80.01", "450.80.02", "450.80.03"), ("10.2", "11.0", "11.1")),
        ("cu126", ("525.60.12", "525.60.13", "525.60.14"), ("11.8", "12.0", "12.1")),
        ("cu130", ("580.65.05", "580.65.06", "580.65.07"), ("12.9", "13.0", "13.1")),
        ("cu132", ("580.65.05", "580.65.06", "580.65.07"), ("12.9", "13.0", "13.1")),
    ],
)
def test_a_major_version_of_cuda_has_one_driver_floor(
    build: str, drivers: tuple[str, ...], levels: tuple[str, ...]
) -> None:
    told = {"torch_build": build, "gpu": "T4", "cuda_compat": "none"}
    assert [verdict(**told, driver=driver) for driver in drivers] == [NO, YES, YES]
    assert [verdict(**told, driver_cuda=level) for level in levels] == [NO, YES, YES]


FULL = {
    "11.1": ("455.22", "455.23", "455.24"),
    "11.2.0": ("460.27.02", "460.27.03", "460.27.04"),
    "11.3": ("465.19.00", "465.19.01", "465.19.02"),
    "11.4.0": ("470.42.00", "470.42.01", "470.42.02"),
    "11.4.1": ("470.57.01", "470.57.02", "470.57.03"),
    "11.4.2": ("470.57.01", "470.57.02", "470.57.03"),
    "11.4.3": ("470.82.00", "470.82.01", "470.82.02"),
    "11.4.4": ("470.82.00", "470.82.01", "470.82.02"),
    "11.5": ("495.29.04", "495.29.05", "495.29.06"),
    "11.6.0": ("510.39.00", "510.39.01", "510.39.02"),
    "11.6.1": ("510.47.02", "510.47.03", "510.47.04"),
    "11.7.0": ("515.43.03", "515.43.04", "515.43.05"),
    "11.7.1": ("515.48.06", "515.48.07", "515.48.08"),
    "11.8": ("520.61.04", "520.61.05", "520.61.06"),
    "12.0.1": ("525.85.11", "525.85.12", "525.85.13"),
    "12.1": ("530.30.01", "530.30.02", "530.30.03"),
    "12.2.0": ("535.54.02", "535.54.03", "535.54.04"),
    "12.2.1": ("535.86.08", "535.86.09", "535.86.10"),
    "12.2.2": ("535.104.04", "535.104.05", "535.104.06"),
    "12.3.0": ("545.23.05", "545.23.06", "545.23.07"),
    "12.3.1": ("545.23.07", "545.23.08", "545.23.09"),
    "12.4.0": ("550.54.13", "550.54.14", "550.54.15"),
    "12.4.1": ("550.54.14", "550.54.15", "550.54.16"),
    "12.5.0": ("555.42.01", "555.42.02", "555.42.03"),
    "12.5.1": ("555.42.05", "555.42.06", "555.42.07"),
    "12.6.0": ("560.28.02", "560.28.03", "560.28.04"),
    "12.6.1": ("560.35.02", "560.35.03", "560.35.04"),
    "12.6.2": ("560.35.02", "560.35.03", "560.35.04"),
    "12.6.3": ("560.35.04", "560.35.05", "560.35.06"),
    "12.8.0": ("570.25", "570.26", "570.27"),
    "12.8.1": ("570.124.05", "570.124.06", "570.124.07"),
    "12.9.0": ("575.51.02", "575.51.03", "575.51.04"),
    "12.9.1": ("575.57.07", "575.57.08", "575.57.09"),
    "13.0.1": ("580.82.06", "580.82.07", "580.82.08"),
    "13.0.2": ("580.95.04", "580.95.05", "580.95.06"),
    "13.1.0": ("590.44.00", "590.44.01", "590.44.02"),
    "13.1.1": ("590.48.00", "590.48.01", "590.48.02"),
    "13.2.0": ("595.45.03", "595.45.04", "595.45.05"),
    "13.2.1": ("595.58.02", "595.58.03", "595.58.04"),
    "13.3.0": ("610.43.01", "610.43.02", "610.43.03"),
    "13.3.1": ("610.43.01", "610.43.02", "610.43.03"),
}


@pytest.mark.parametrize(("toolkit", "drivers"), FULL.items())
def test_below_the_driver_of_a_toolkit_minor_version_compatibility_serves_it(
    toolkit: str, drivers: tuple[str, ...]
) -> None:
    answers = [SUPPORT.answer({"cuda_runtime": toolkit, "driver": driver}) for driver in drivers]
    rules = [[r.rule for r in answer.reasons if r.kind == "compatibility-mode"] for answer in answers]
    assert rules == [["minor-compat"], ["driver-floor"], ["driver-floor"]]
    assert [answer.verdict for answer in answers] == [YES, YES, YES]


@pytest.mark.parametrize(
    ("toolkit", "drivers"),
    [
        ("11.0.2", ("450.51.04", "450.51.05", "450.51.06")),
        ("12.0.0", ("525.60.12", "525.60.13", "525.60.14")),
        ("13.0.0", ("580.65.05", "580.65.06", "580.65.07")),
    ],
)
def test_the_first_toolkit_of_a_major_version_has_nothing_below_its_driver(
    toolkit: str, drivers: tuple[str, ...]
) -> None:
    found = [verdict(cuda_runtime=toolkit, driver=driver, cuda_compat="none") for driver in drivers]
    assert found == [NO, YES, YES]


@pytest.mark.parametrize(
    ("arch", "last", "next_"),
    [
        ("sm_35", "470.256.02", "495.29.05"),
        ("sm_37", "470.256.02", "495.29.05"),
        ("sm_52", "580.95.05", "590.44.01"),
        ("sm_60", "580.178.04", "590.48.01"),
        ("sm_61", "580.65.06", "595.45.04"),
        ("sm_70", "580.95.05", "610.43.02"),
    ],
)
def test_a_driver_branch_is_the_last_for_an_architecture(arch: str, last: str, next_: str) -> None:
    assert [verdict(gpu_arch=arch, driver=driver) for driver in (last, next_)] == [YES, NO]


@pytest.mark.parametrize(
    ("arch", "last", "next_"),
    [
        ("sm_30", "10.2", "11.0"),
        ("sm_35", "11.8", "12.0"),
        ("sm_37", "11.8", "12.0"),
        ("sm_50", "12.9", "13.0"),
        ("sm_61", "12.9", "13.0"),
        ("sm_70", "12.9", "13.0"),
    ],
)
def test_a_toolkit_is_the_last_for_an_architecture(arch: str, last: str, next_: str) -> None:
    assert [verdict(gpu_arch=arch, cuda_runtime=cuda) for cuda in (last, next_)] == [YES, NO]


@pytest.mark.parametrize(
    ("arch", "before", "first"), [("sm_80", "10.2", "11.0"), ("sm_90", "11.7", "11.8"), ("sm_100", "12.6", "12.8")]
)
def test_a_toolkit_is_the_first_for_an_architecture(arch: str, before: str, first: str) -> None:
    assert [verdict(gpu_arch=arch, cuda_runtime=cuda) for cuda in (before, first)] == [NO, YES]


@pytest.mark.parametrize("arch", ["sm_103", "sm_121"])
def test_of_a_later_blackwell_only_the_driver_of_its_own_first_toolkit_is_known(arch: str) -> None:
    drivers = ("570.25", "570.26", "575.51.02", "575.51.03")
    assert [verdict(gpu_arch=arch, driver=driver) for driver in drivers] == [NO, OPEN, OPEN, YES]


@pytest.mark.parametrize("arch", ["sm_100", "sm_120"])
def test_blackwell_has_a_first_driver(arch: str) -> None:
    assert [verdict(gpu_arch=arch, driver=d) for d in ("570.25", "570.26", "570.27")] == [NO, YES, YES]
    assert [verdict(gpu_arch=arch, driver_cuda=level) for level in ("12.7", "12.8", "12.9")] == [NO, YES, YES]


def test_rubin_has_a_first_driver_branch() -> None:
    assert [verdict(gpu_arch="sm_107", driver=d) for d in ("610.57.04", "615.71.09")] == [NO, YES]


@pytest.mark.parametrize(
    ("package", "branch", "expected"),
    [
        ("13-0", "525", OPEN),
        ("13-0", "535", YES),
        ("13-0", "550", YES),
        ("13-0", "570", YES),
        ("13-0", "580", YES),
        ("12-8", "470", NO),
        ("12-8", "535", YES),
        ("12-8", "550", YES),
        ("12-8", "570", YES),
        ("12-4", "535", YES),
        ("12-4", "550", YES),
        ("12-6", "470", OPEN),
        ("12-1", "510", YES),
        ("12-1", "515", YES),
        ("13-2", "570", OPEN),
        ("13-3", "580", YES),
        ("13-2", "580", YES),
    ],
)
def test_a_compatibility_package_is_for_some_branches(package: str, branch: str, expected: str) -> None:
    told = {"cuda_runtime": package.replace("-", "."), "cuda_compat": package, "driver": branch}
    assert verdict(**told, gpu="A100") == expected


@pytest.mark.parametrize(("package", "branch"), [("13-0", "535"), ("13-0", "570"), ("12-8", "470")])
def test_a_geforce_card_takes_no_compatibility_package(package: str, branch: str) -> None:
    told = {"cuda_runtime": package.replace("-", "."), "cuda_compat": package, "driver": branch}
    assert verdict(**told, gpu="RTX 3090") == NO


IMAGES = {
    "12.8.0": (("535", "550", "560", "565", "570"), ("545", "555")),
    "12.9.1": (("535", "550", "560", "565", "570", "575"), ("470", "545", "555")),
    "13.0.2": (("535", "550", "565", "570", "575", "580"), ("470", "525", "545", "560")),
    "13.1.1": (("535", "550", "570", "575", "580", "590"), ("525", "560", "565")),
    "13.2.0": (("535", "570", "580", "590", "595"), ("525", "550", "560", "565", "575")),
    "13.3.0": (("535", "550", "560", "565", "570", "580", "610"), ("525", "575", "590", "595")),
}


@pytest.mark.parametrize(("image", "branches"), IMAGES.items())
def test_an_image_starts_on_the_branches_that_it_lists(image: str, branches: tuple[tuple[str, ...], ...]) -> None:
    starts, stops = branches
    told = {"container_cuda": image, "cuda_compat": "active", "require_check": "enforced", "gpu": "A100"}
    assert [branch for branch in starts if verdict(**told, driver=branch) == NO] == []
    assert [branch for branch in stops if verdict(**told, driver=branch) != NO] == []


@pytest.mark.parametrize(
    ("image", "below", "at"),
    [
        ("12.6.3", "12.5", "12.6"),
        ("12.8.0", "12.6", "12.8"),
        ("12.9.1", "12.8", "12.9"),
        ("13.0.2", "12.9", "13.0"),
        ("13.1.1", "13.0", "13.1"),
        ("13.2.0", "13.1", "13.2"),
        ("13.3.0", "13.2", "13.3"),
    ],
)
def test_a_geforce_card_starts_an_image_by_the_level_of_its_driver_only(image: str, below: str, at: str) -> None:
    told = {"container_cuda": image, "require_check": "enforced", "gpu": "RTX 4090"}
    assert [verdict(**told, driver_cuda=level) for level in (below, at)] == [NO, YES]


@pytest.mark.parametrize(
    ("gpu", "profile", "below", "at", "expected"),
    [
        ("A100-SXM4-80GB", "1g.10gb", "525.52", "525.53", OPEN),
        ("A30", "1g.6gb", "525.52", "525.53", OPEN),
        ("H100", "1g.10gb", "525.52", "525.53", NO),
        ("B200", "1g.23gb", "570.133.19", "570.133.20", NO),
        ("RTX PRO 6000", "1g.24gb", "575.51.02", "575.51.03", NO),
    ],
)
def test_dividing_a_device_has_a_driver_floor(gpu: str, profile: str, below: str, at: str, expected: str) -> None:
    assert [verdict(gpu=gpu, partition=profile, driver=d) for d in (below, at)] == [expected, YES]


@pytest.mark.parametrize(
    ("cudnn", "gpu", "expected"),
    [
        ("9.10.2.21", "V100", YES),
        ("9.11.0", "V100", NO),
        ("9.12.0", "V100", NO),
        ("9.11.0", "P100", NO),
        ("9.10.2.21", "T4", YES),
    ],
)
def test_cudnn_9_11_needs_compute_capability_7_5(cudnn: str, gpu: str, expected: str) -> None:
    assert verdict(torch="2.11.0", torch_build="cu126", cudnn=cudnn, gpu=gpu) == expected


def test_cudnn_9_11_is_no_reason_against_7_5() -> None:
    refused = SUPPORT.refusal({"torch": "2.11.0", "torch_build": "cu126", "cudnn": "9.11.0", "gpu": "T4"})
    assert refused is None


@pytest.mark.parametrize(("arch", "expected"), [("sm_60", PART), ("sm_61", PART), ("sm_70", YES), ("sm_75", YES)])
def test_triton_needs_compute_capability_7_0(arch: str, expected: str) -> None:
    told = {"torch": "2.5.1", "torch_build": "cu124", "gpu_arch": arch}
    assert verdict(**told, scope="torch.compile") == expected
    assert verdict(**told) == YES


@pytest.mark.parametrize(
    ("told", "last"),
    [
        ({"gpu": "H100", "driver": "535.247.01"}, date(2026, 6, 1)),
        ({"gpu": "H100", "driver": "580.95.05"}, date(2028, 6, 30)),
        ({"torch": "2.14.1", "python": "3.10", "channel": "pypi"}, date(2026, 10, 31)),
        ({"torch": "2.8.0", "python": "3.9", "channel": "pypi"}, date(2025, 10, 31)),
        ({"torch": "2.4.1", "python": "3.8", "channel": "pypi"}, date(2024, 10, 7)),
        ({"torch": "2.14.1", "distro": "ubuntu-22.04", "channel": "pypi"}, date(2027, 4, 1)),
        ({"torch": "2.14.1", "distro": "ubuntu-20.04", "channel": "pypi"}, date(2025, 5, 31)),
        ({"torch": "2.6.0", "distro": "rhel-7.9", "channel": "pypi"}, date(2024, 6, 30)),
    ],
)
def test_what_is_past_its_end_of_life_works_outside_vendor_support(told: dict[str, str], last: date) -> None:
    days = [date.fromordinal(last.toordinal() + step) for step in (-1, 0, 1)]
    assert [Support(SUPPORT.facts, on=day).verdict(told) for day in days] == [YES, YES, PART]
    assert SUPPORT.answer(told).supported_until == last.isoformat()


def test_of_two_printed_ends_the_earlier_counts() -> None:
    told = {"gpu": "H100", "driver": "570.211.01"}
    days = (date(2026, 1, 26), date(2026, 3, 1))
    assert [Support(SUPPORT.facts, on=day).verdict(told) for day in days] == [YES, PART]


@pytest.mark.parametrize(
    ("companion", "release", "torch", "other"),
    [
        ("torchvision", "0.20.1", "2.5.1", "2.5.0"),
        ("torchvision", "0.24.0", "2.9.0", "2.9.1"),
        ("torchvision", "0.24.1", "2.9.1", "2.9.0"),
        ("torchvision", "0.27.1", "2.12.1", "2.12.0"),
        ("torchaudio", "2.0.2", "2.0.1", "2.0.0"),
        ("torchaudio", "2.9.1", "2.9.1", "2.9.0"),
    ],
)
def test_a_companion_pins_one_patch_of_torch(companion: str, release: str, torch: str, other: str) -> None:
    assert [verdict(**{companion: release, "torch": which}) for which in (torch, other)] == [YES, NO]


@pytest.mark.parametrize(
    ("triton", "torch", "other"),
    [("3.3.0", "2.7.0", "2.7.1"), ("3.5.0", "2.9.0", "2.9.1"), ("3.5.1", "2.9.1", "2.9.0")],
)
def test_another_triton_than_the_pinned_breaks_only_what_is_compiled(triton: str, torch: str, other: str) -> None:
    assert [verdict(triton=triton, torch=which) for which in (torch, other)] == [YES, PART]
