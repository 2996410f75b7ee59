"""How a driver serves a runtime, by made-up numbers: each mode just below, at and above its floor."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from orchestrator.support.modes import Modes
from orchestrator.support.rows import Accepted, Compatibility, Entitled, FullDriver, MinorFloor
from orchestrator.support.said import Said
from orchestrator.vocabulary import Verdict

YES, PART, NO, OPEN = Verdict.SUPPORTED, Verdict.DEGRADED, Verdict.UNSUPPORTED, Verdict.UNKNOWN
ROWS = Compatibility(
    full=(
        FullDriver(toolkit="12.0.0", driver="520.10", source="doc"),
        FullDriver(toolkit="12.4.0", driver="540.20", source="doc"),
        FullDriver(toolkit="12.4.1", driver="540.30", source="doc"),
        FullDriver(toolkit="13.0.0", driver="580.40", source="doc"),
    ),
    minor=(
        MinorFloor(major="12", driver="520.05", level="12.0", source="metadata"),
        MinorFloor(major="13", driver="580.35", level="13.0", source="metadata"),
    ),
    entitled=(
        Entitled(class_="datacenter", verdict="yes", source="doc"),
        Entitled(class_="geforce", verdict="no", source="doc"),
    ),
    accepted=(Accepted(branch="535", cuda=("13.0",), source="doc"),),
    limited_scopes=("torch.compile",),
)
Ask = Callable[..., list[Said]]


@pytest.fixture
def said(world: SimpleNamespace) -> Ask:
    modes = Modes(ROWS, lambda key: (key, ""), lambda branch: "")

    def ask(asked: Mapping[str, str] = {}, builds: tuple[str, ...] = (), **axes: str) -> list[Said]:
        return list(modes.said(world.question({**asked, **axes}), builds))

    return ask


def told(found: list[Said]) -> list[tuple[str, Verdict]]:
    return [(each.rule, each.verdict) for each in found]


@pytest.mark.parametrize(
    ("build", "driver", "rule", "verdict"),
    [
        ("cu124", "540.21", "driver-floor", YES),
        ("cu124", "540.20", "driver-floor", YES),
        ("cu124", "540.19", "minor-compat", YES),
        ("cu124", "520.06", "minor-compat", YES),
        ("cu124", "520.05", "minor-compat", YES),
        ("cu124", "520.04", "driver-floor", NO),
        ("cu130", "580.40", "driver-floor", YES),
        ("cu130", "580.39", "minor-compat", YES),
        ("cu130", "580.34", "driver-floor", NO),
        ("cu124", "590", "driver-floor", YES),
        ("cu124", "540", "driver-floor", YES),  # a branch is the newest of its drivers
        ("cu124", "520", "minor-compat", YES),
        ("cu124", "519", "driver-floor", NO),
        ("cu124", ">=540.20", "driver-floor", YES),
        ("cu124", ">=520.05", "minor-compat", YES),
        ("cu124", ">=500", "driver-floor", OPEN),
        ("cu124", "<520", "driver-floor", NO),
    ],
)
def test_a_driver_serves_a_runtime_natively_by_its_major_or_not(
    said: Ask, build: str, driver: str, rule: str, verdict: Verdict
) -> None:
    assert told(said(torch_build=build, driver=driver)) == [(rule, verdict)]


@pytest.mark.parametrize(
    ("build", "level", "rule", "verdict"),
    [
        ("cu124", "12.5", "driver-floor", YES),
        ("cu124", "12.4", "driver-floor", YES),
        ("cu124", "12.3", "minor-compat", YES),
        ("cu124", "12.0", "minor-compat", YES),
        ("cu124", "11.8", "driver-floor", NO),
        ("cu130", "13.0", "driver-floor", YES),
        ("cu130", "12.9", "driver-floor", NO),
        ("cu124", "12", "driver-floor", YES),
    ],
)
def test_the_level_that_a_driver_reports_tells_as_much(
    said: Ask, build: str, level: str, rule: str, verdict: Verdict
) -> None:
    assert told(said(torch_build=build, driver_cuda=level)) == [(rule, verdict)]


@pytest.mark.parametrize(("driver", "rule"), [("540.29", "minor-compat"), ("540.30", "driver-floor")])
def test_a_patch_of_a_toolkit_has_a_driver_of_its_own(said: Ask, driver: str, rule: str) -> None:
    assert told(said(cuda_runtime="12.4.1", driver=driver)) == [(rule, YES)]


def test_a_runtime_without_a_driver_misses_one(said: Ask) -> None:
    (found,) = said(torch_build="cu124")
    assert (found.because, found.missing) == ("", ("driver",))


@pytest.mark.parametrize(
    "asked",
    [
        {"torch_build": "cpu", "driver": "400"},
        {"torch_build": "rocm6.2", "driver": "400"},
        {"torch_build": "xpu", "driver": "400"},
        {"driver": "400", "gpu_vendor": "nvidia"},
        {"torch_build": "cu109", "driver": "400"},
    ],
)
def test_nothing_is_said_where_there_is_no_runtime_of_this_vendor_or_no_row(said: Ask, asked: dict[str, str]) -> None:
    assert said(asked) == []


def test_the_number_of_a_windows_driver_is_not_compared(said: Ask) -> None:
    (found,) = said(torch_build="cu124", driver="400", os="windows")
    assert found.missing == ("driver",)
    assert told(said(torch_build="cu124", driver="400", os="wsl2")) == [("driver-floor", NO)]


# what minor-version compatibility does not give


def test_ptx_of_a_newer_toolkit_is_refused_by_an_older_driver(said: Ask) -> None:
    jit = {"torch_build": "cu124", "needs_ptx_jit": "yes"}
    assert told(said(jit, driver="540.20")) == [("driver-floor", YES)]
    assert told(said(jit, driver="540.19")) == [("minor-compat", NO)]
    assert told(said(jit, driver="540.19", needs_ptx_jit="no")) == [("minor-compat", YES)]
    assert told(said(jit, driver=">=530")) == [("minor-compat", OPEN)]


# ranges of runtimes


@pytest.mark.parametrize(
    ("runtime", "driver", "expected"),
    [
        (">=12.0,<13", "540.20", [YES]),
        (">=12.0,<13", "520.05", [YES]),
        (">=12.0,<13", "520.04", [NO]),
        (">=12.4", "540.20", [OPEN]),
        (">=12.4", "580.40", [YES]),
        (">=12.4", "519", [NO]),
        ("12.4|13.0", "540.20", [OPEN]),
        (">=14", "590", []),
        ("12.4|12.9", "540.20", [YES]),
        ("12.4|13.9", "540.20", [OPEN]),
    ],
)
def test_of_several_runtimes_all_must_be_served(said: Ask, runtime: str, driver: str, expected: list[Verdict]) -> None:
    assert [each.verdict for each in said(cuda_runtime=runtime, driver=driver)] == expected


@pytest.mark.parametrize(("driver", "verdict"), [("540.20", YES), ("520.04", NO)])
def test_any_12_is_served_by_the_floor_of_the_major(said: Ask, driver: str, verdict: Verdict) -> None:
    assert [each.verdict for each in said(cuda_runtime="12.x", driver=driver)] == [verdict]


@pytest.mark.parametrize(
    ("builds", "driver", "expected"),
    [
        (("cu124", "cu130"), "580.40", [YES]),
        (("cu124", "cu130"), "540.20", [OPEN]),
        (("cu124", "cu130"), "519", [NO]),
        (("cu124",), "540.20", [YES]),
        ((), "540.20", []),
    ],
)
def test_of_a_release_without_a_build_every_build_is_meant(
    said: Ask, builds: tuple[str, ...], driver: str, expected: list[Verdict]
) -> None:
    found = said({"torch": "2.8.0", "driver": driver, "gpu_vendor": "nvidia"}, builds)
    assert [each.verdict for each in found] == expected
    assert [each.missing for each in found] == ([("torch_build",)] if expected == [OPEN] else [()] * len(expected))


# a second runtime beside torch's


def test_a_runtime_beside_torch_restricts_and_refuses_nothing(said: Ask) -> None:
    beside = {"torch_build": "cu124", "driver": "540.20", "cuda_runtime": "13.0"}
    assert told(said(beside)) == [("driver-floor", YES), ("driver-floor", PART)]
    assert told(said(beside, cuda_runtime="12.4")) == [("driver-floor", YES)]


# a compatibility package


@pytest.mark.parametrize(
    ("kind", "driver", "package", "rule", "verdict"),
    [
        ("datacenter", "535.1", "13.0", "forward-compat", YES),
        ("datacenter", "535.1", "active", "forward-compat", YES),
        ("geforce", "535.1", "13.0", "forward-compat", NO),
        ("workstation", "535.1", "13.0", "forward-compat", OPEN),
        ("datacenter", "530.1", "13.0", "forward-compat", OPEN),
        ("datacenter", "535.1", "none", "driver-floor", NO),
        ("geforce", "580.40", "13.0", "driver-floor", YES),
    ],
)
def test_a_package_serves_entitled_devices_on_accepted_branches(
    said: Ask, kind: str, driver: str, package: str, rule: str, verdict: Verdict
) -> None:
    found = said(torch_build="cu130", driver=driver, cuda_compat=package, gpu_class=kind)
    assert told(found) == [(rule, verdict)]


def test_what_may_use_no_package_is_not_refused_for_one(said: Ask) -> None:
    asked = {"torch_build": "cu124", "gpu_class": "geforce", "cuda_compat": "active"}
    assert told(said(asked, driver_cuda="12.3")) == [("forward-compat", NO)]
    assert told(said(asked, driver_cuda="<12.6")) == [("forward-compat", OPEN)]
    assert told(said(asked, driver_cuda="<12.4")) == [("forward-compat", NO)]


def test_which_of_several_packages_is_meant_must_be_told(said: Ask) -> None:
    asked = {"torch_build": "cu130", "driver": "535.1", "gpu_class": "datacenter"}
    assert told(said(asked, cuda_compat=">=12.8")) == [("forward-compat", OPEN)]


@pytest.mark.parametrize(("level", "verdict"), [("12.4", YES), ("12.0", OPEN), (">=12.0,<12.5", OPEN)])
def test_a_branch_is_known_by_the_level_that_it_reports(world: SimpleNamespace, level: str, verdict: Verdict) -> None:
    rows = replace(ROWS, accepted=(Accepted(branch="540", cuda=("13.0",), source="doc"),))
    asked = {"torch_build": "cu130", "driver_cuda": level, "cuda_compat": "13.0", "gpu_class": "datacenter"}
    modes = Modes(rows, lambda key: (key, ""), lambda branch: "")
    assert told(list(modes.said(world.question(asked), ()))) == [("forward-compat", verdict)]


def test_a_driver_as_new_as_the_package_does_not_use_it(said: Ask) -> None:
    found = said(torch_build="cu124", driver_cuda="12.3", cuda_compat="12.3", gpu_class="geforce")
    assert told(found) == [("minor-compat", YES)]


def test_an_image_may_bring_a_package_and_a_wheel_never_does(said: Ask) -> None:
    (wheel,) = said(torch_build="cu130", driver="535.1", gpu_class="datacenter")
    assert (wheel.verdict, wheel.missing) == (NO, ())
    skipped = {"driver": "535.1", "container_cuda": "13.0", "require_check": "skipped"}
    (image,) = said(skipped, gpu_class="datacenter")
    assert (image.verdict, image.missing) == (OPEN, ("cuda_compat",))
    (consumer,) = said(skipped, gpu_class="geforce")
    assert (consumer.verdict, consumer.missing) == (NO, ())


def test_each_word_has_the_source_of_its_number(said: Ask) -> None:
    assert [each.source for each in said(torch_build="cu124", driver="520.05")] == ["metadata"]
    assert [each.axes for each in said(torch_build="cu124", driver="520.05")] == [("torch_build", "driver")]
