"""From a wheel or an image to rows of facts."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from orchestrator.errors import InputError
from orchestrator.support.facts import Facts, load_facts
from orchestrator.support.learn import build_of, from_image, from_wheel
from orchestrator.support.learned import Learned
from orchestrator.support.wheel import Wheel, read
from orchestrator.vocabulary import RuleKind, Verdict


@pytest.fixture(scope="module")
def facts() -> Facts:
    return load_facts()


def needs(rows: tuple[Learned, ...]) -> dict[tuple[str, str], object]:
    return {(one.rule, axis): need for one in rows for axis, need in one.needs.items()}


@pytest.fixture
def torch(make: SimpleNamespace, tmp_path: Path) -> Wheel:
    return read(make.torch_wheel(tmp_path))


def test_everything_that_a_torch_wheel_says_becomes_a_row(torch: Wheel) -> None:
    rows = from_wheel(torch)
    assert len(rows) == len(needs(rows)) + 1  # two rows speak of Python: the wheel's own, and what it asks for
    assert needs(rows) == {
        ("index-mapping", "torch_build"): "cu141",
        ("python-wheel", "python"): ">=3.12",
        ("glibc", "glibc"): ">=2.28",
        ("arch-binary", "gpu_arch"): ("sm_90", "sm_150", "ptx_150"),
        ("companion-pin", "triton"): "4.2",
        ("companion-pin", "nccl"): ">=2.40,<3",
    }
    (one,) = [one for one in rows if one.rule == "python-wheel" and one.kind is RuleKind.MAPPING]
    assert one.row.need == {"python": ("3.13t",)}
    assert one.row.when == {
        "torch": "2.99.0",
        "os": ("linux", "wsl2"),
        "host_arch": "x86_64",
        "torch_from": "wheel",
    }
    assert one.row.partial


def test_only_a_list_that_is_whole_can_refuse(torch: Wheel) -> None:
    partial = {(one.rule, one.kind.value): one.row.partial for one in from_wheel(torch)}
    assert partial == {
        ("index-mapping", "mapping"): True,
        ("python-wheel", "mapping"): True,
        ("python-wheel", "interval"): False,
        ("glibc", "interval"): False,
        ("arch-binary", "binary-compatibility"): False,
        ("companion-pin", "pin"): False,
    }


def test_a_pin_asks_nothing_of_who_lacks_the_package(torch: Wheel) -> None:
    pins = {axis: one.row for one in from_wheel(torch) for axis in one.needs if one.rule == "companion-pin"}
    assert {axis: row.when[axis] for axis, row in pins.items()} == {"triton": ">=0", "nccl": ">=0"}
    assert {axis: row.otherwise for axis, row in pins.items()} == {
        "triton": Verdict.DEGRADED,
        "nccl": Verdict.UNKNOWN,
    }


@pytest.mark.parametrize(
    ("local", "said", "build"),
    [
        ("cpu", {}, "cpu"),
        ("cu130", {"cuda": "12.4"}, "cu130"),
        ("rocm6.2.4", {"hip": "6.2.41134-65d174c3e"}, "rocm6.2.4"),
        ("", {"cuda": "12.4"}, "cu124"),
        ("internal.1", {"hip": "7.1.25424-abc"}, "rocm7.1"),
        ("", {"xpu": "20250301"}, "xpu"),
        ("", {}, "cpu"),
        ("", {"cuda": "None"}, "cpu"),
    ],
)
def test_the_build_is_the_local_version_or_what_was_compiled_with(local: str, said: dict[str, str], build: str) -> None:
    assert build_of(local, said) == build


@pytest.mark.parametrize(
    ("platforms", "place"),
    [
        (("linux_x86_64", "manylinux1_x86_64"), ("linux", "x86_64")),
        (("manylinux_2_28_aarch64",), ("linux", "aarch64")),
        (("macosx_11_0_arm64",), ("macos", "aarch64")),
        (("win_amd64",), ("windows", "x86_64")),
        (("manylinux2014_x86_64", "win_amd64"), None),
        (("any",), None),
    ],
)
def test_rows_are_for_the_platform_of_the_tags(
    torch: Wheel, platforms: tuple[str, ...], place: tuple[str, str] | None
) -> None:
    rows = [one for one in from_wheel(replace(torch, platforms=platforms)) if one.rule == "index-mapping"]
    found = [(one.example.get("os"), one.example.get("host_arch")) for one in rows]
    assert found == [place or (None, None)]


@pytest.mark.parametrize(
    ("platforms", "measured", "needed"),
    [
        (("manylinux_2_28_x86_64",), "2.17", (">=2.28", "metadata")),
        (("manylinux_2_17_x86_64", "manylinux2014_x86_64"), "2.28", (">=2.28", "measured")),
        (("manylinux_2_28_x86_64",), "2.28", (">=2.28", "measured")),
        (("manylinux_2_28_x86_64", "manylinux_2_17_x86_64"), "", (">=2.17", "metadata")),
        (("manylinux1_x86_64", "linux_x86_64"), "2.9", (">=2.9", "measured")),
        (("linux_x86_64",), "", None),
    ],
)
def test_glibc_is_what_the_tag_and_the_libraries_ask_for(
    torch: Wheel, platforms: tuple[str, ...], measured: str, needed: tuple[str, str] | None
) -> None:
    rows = from_wheel(replace(torch, platforms=platforms, glibc=measured))
    found = [((one.row.need or {})["glibc"], one.row.source) for one in rows if one.rule == "glibc"]
    assert found == ([needed] if needed else [])


def test_glibc_is_nothing_to_windows(torch: Wheel) -> None:
    assert "glibc" not in {one.rule for one in from_wheel(replace(torch, platforms=("win_amd64",)))}


def test_code_that_could_not_be_opened_makes_no_list(torch: Wheel) -> None:
    assert "arch-binary" not in {one.rule for one in from_wheel(replace(torch, compressed=1))}


def test_hip_code_is_told_apart(torch: Wheel) -> None:
    hip = replace(torch, local="rocm7.9", code={"gfx1100": 4, "gfx942": 4, "gfx90a": 4, "gfx803": 1}, containers=5)
    assert needs(from_wheel(hip))["rocm", "gfx_as"] == ("gfx90a", "gfx942", "gfx1100")


def test_a_companion_says_which_torch_it_asks_for(make: SimpleNamespace, tmp_path: Path) -> None:
    files = {"torchvision/_C.so": make.elf(glibc=("2.28",))}
    metadata = "Name: torchvision\nVersion: 0.99.1+cu141\nRequires-Dist: torch (==2.99.0)"
    path = make.wheel(tmp_path, "torchvision-0.99.1-cp312-cp312-manylinux_2_28_x86_64.whl", metadata, files)
    rows = from_wheel(read(path))
    assert needs(rows) == {
        ("companion-pin", "torch"): "2.99.0",
        ("torchvision-wheel", "python"): ("3.12",),
        ("glibc", "glibc"): ">=2.28",
    }
    assert all(one.row.when["torchvision"] == "0.99.1" for one in rows)


def test_a_package_that_no_axis_is_for_is_told(make: SimpleNamespace, tmp_path: Path) -> None:
    path = make.wheel(tmp_path, "flask-3.0-py3-none-any.whl", "Name: flask\nVersion: 3.0")
    with pytest.raises(InputError, match="no facts speak of `flask`"):
        from_wheel(read(path))


SEEN = {
    "torch": "2.99.0+cu141",
    "torch_build": "cu141",
    "torch_from": "wheel",
    "python": "3.13.5",
    "host_arch": "x86_64",
    "base": "debian12",
    "torch_arch_list": "sm_90 sm_120 compute_120",
    "torchvision": "0.99.1+cu141",
    "onnxruntime": "1.99.0",
}


def test_an_image_says_what_it_holds(facts: Facts) -> None:
    rows = from_image(SEEN, facts)
    assert needs(rows) == {
        ("index-mapping", "torch_build"): "cu141",
        ("python-wheel", "python"): ("3.13",),
        ("arch-binary", "gpu_arch"): ("sm_90", "sm_120", "ptx_120"),
        ("companion-pin", "torch"): "2.99.0",
    }
    assert {one.row.source for one in rows} == {"measured"}
    (pin,) = [one for one in rows if one.rule == "companion-pin"]
    assert (pin.row.when, pin.row.partial) == ({"torchvision": "0.99.1"}, True)


def test_a_distributions_torch_is_no_wheel(facts: Facts) -> None:
    rows = from_image({**SEEN, "torch_from": "distribution", "torch_arch_list": "", "torchvision": ""}, facts)
    assert needs(rows) == {
        ("distribution", "torch"): "2.99.0",
        ("distribution", "python"): "3.13",
        ("distribution", "torch_build"): "cu141",
    }
    assert rows[0].row.when == {"torch_from": "distribution", "distro": "debian-12"}
    unknown = from_image({**SEEN, "torch_from": "distribution", "base": ""}, facts)
    assert "distribution" not in {one.rule for one in unknown}


def test_an_image_without_torch_is_told(facts: Facts) -> None:
    with pytest.raises(InputError, match="names no torch"):
        from_image({"python": "3.13.5"}, facts)
