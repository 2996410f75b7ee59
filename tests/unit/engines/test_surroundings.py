from collections.abc import Callable

import pytest

from orchestrator.engines.surroundings import platform_of, variables, visible_devices
from orchestrator.engines.task import Task


def test_the_task_has_the_last_word(make_task: Callable[..., Task]) -> None:
    made = variables(make_task(env={"USE_LIBUV": "0", "HOME": "/mine"}), scratch="/s", path="/p")
    assert made["USE_LIBUV"] == "0"
    assert made["HOME"] == "/mine"
    assert (made["TMPDIR"], made["PYTHONPATH"]) == ("/s", "/p")


def test_nothing_of_ours_is_in_it(make_task: Callable[..., Task], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_JOB_TOKEN", "secret")
    assert "secret" not in variables(make_task(), scratch="/s", path="/p").values()


@pytest.mark.parametrize(
    ("platform", "devices", "expected"),
    [
        ("cuda", ("0", "1"), {"CUDA_VISIBLE_DEVICES": "0,1"}),
        ("rocm", ("2",), {"ROCR_VISIBLE_DEVICES": "2"}),
        ("xpu", ("0",), {"ZE_AFFINITY_MASK": "0"}),
        ("rocm", ("/dev/dri/renderD128",), {}),
        ("cuda", (), {}),
        ("cpu", ("0",), {}),
    ],
)
def test_visible_devices(platform: str, devices: tuple[str, ...], expected: dict[str, str]) -> None:
    assert visible_devices(platform, devices) == expected


@pytest.mark.parametrize(
    ("axes", "platform"),
    [
        ({"torch_build": "cu130"}, "cpu"),
        ({"torch_build": "cpu"}, "cpu"),
        ({"torch_build": "cu130", "gpu": "H100"}, "cuda"),
        ({"torch_build": "rocm7.1", "gpu": "MI300X"}, "rocm"),
        ({"torch_build": "xpu", "gpu": "Max1550"}, "xpu"),
        ({"image": "x@sha256:0", "gpu": "H100"}, "cuda"),
        ({"image": "x@sha256:0", "gpu": "MI300X"}, "rocm"),
        ({"image": "x@sha256:0", "gpu": "Arc770"}, "xpu"),
        ({"image": "x@sha256:0", "gpu": "B580"}, "xpu"),
        ({"image": "x@sha256:0", "gpu": "A770"}, "xpu"),
        ({"image": "x@sha256:0", "gpu": "B300"}, "cuda"),
        ({"image": "x@sha256:0", "gpu": "A100"}, "cuda"),
        ({"image": "x@sha256:0"}, "cpu"),
    ],
)
def test_platform_of(make_task: Callable[..., Task], axes: dict[str, str], platform: str) -> None:
    assert platform_of(make_task(axes=axes)) == platform
