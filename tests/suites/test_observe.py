"""What is observed, from texts and objects that stand for the system's."""

from importlib import metadata
from types import SimpleNamespace
from typing import Any

import pytest

from suites import observe


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_ID="12"\nID=debian\n', "debian12"),
        ('NAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\nID_LIKE=debian\n', "ubuntu24.04"),
        ("ID=debian\nVERSION_CODENAME=forky\n", "debianforky"),
        ('ID="rhel"\nVERSION_ID="9.4"\n', "rhel9.4"),
        ("", ""),
    ],
)
def test_base(text: str, expected: str) -> None:
    assert observe.base(text) == expected


@pytest.mark.parametrize(
    ("version", "built", "expected"),
    [
        ("2.13.0+cpu", {"cuda": None, "hip": None}, "cpu"),
        ("1.13.0a0", {}, "cpu"),
        ("2.14.1+cu130", {"cuda": "13.0", "hip": None}, "cu130"),
        ("2.6.0", {"cuda": "12.4"}, "cu124"),
        ("2.9.0+rocm6.4", {"hip": "6.4.43484-123eb5128", "cuda": None}, "rocm6.4"),
        ("2.8.0+xpu", {"cuda": None}, "xpu"),
        ("2.9.0", {"xpu": "20250301"}, "xpu"),
    ],
)
def test_torch_build(version: str, built: dict[str, str | None], expected: str) -> None:
    assert observe.torch_build(version, SimpleNamespace(**built)) == expected


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("/usr/lib/python3/dist-packages", "distribution"),
        ("/usr/local/lib/python3.12/dist-packages", "wheel"),  # of pip on Debian and Ubuntu
        ("/opt/venv/lib/python3.11/site-packages", "wheel"),
    ],
)
def test_torch_is_from_a_wheel_or_the_distribution(folder: str, expected: str) -> None:
    torch: Any = SimpleNamespace(__version__="2.6.0", version=SimpleNamespace(), __file__=f"{folder}/torch/__init__.py")
    assert observe.torch_axes(torch)["torch_from"] == expected


def test_a_companion_counts_under_any_of_its_distributions(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = {"pytorch-triton-rocm": "3.1.0", "openvino": "2026.0.0"}

    def version(name: str) -> str:
        if name not in installed:
            raise metadata.PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr(metadata, "version", version)
    assert observe.companions() == {"triton": "3.1.0", "openvino": "2026.0.0"}


def test_only_allowed_variables_are_told_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("NCCL_DEBUG", "INFO")
    monkeypatch.setenv("TORCH_API_TOKEN", "hush")
    monkeypatch.setenv("MY_PASSWORD", "hush")
    monkeypatch.setenv("TRITON_CACHE_DIR", "/somewhere/else/each/time")
    told = observe.variables()
    assert told["env.OMP_NUM_THREADS"] == "3"
    assert told["env.NCCL_DEBUG"] == "INFO"
    assert "hush" not in told.values()
    assert "env.TRITON_CACHE_DIR" not in told


@pytest.mark.parametrize(
    "name",
    ["ATEN_CPU_CAPABILITY", "PYTORCH_JIT", "TORCHDYNAMO_DISABLE", "GOMP_CPU_AFFINITY", "PYTHONOPTIMIZE", "CXX"],
)
def test_what_changes_what_is_measured_is_told(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "1")
    assert observe.variables()[f"env.{name}"] == "1"


def test_without_torch_the_rest_is_told() -> None:
    told = observe.environment(None, None, {"backend": "eager"})
    assert "torch" not in told["axes"]
    assert told["axes"]["backend"] == "eager"
    assert told["axes"]["python"].startswith("3.")
    assert "" not in told["axes"].values()
