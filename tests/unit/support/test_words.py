import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.axes import AXES
from orchestrator.support import words
from orchestrator.support.axes import is_version

AXES_OF_WORDS = [axis for axis in AXES if not is_version(axis)]


@given(st.sampled_from(AXES_OF_WORDS), st.text(max_size=200))
def test_no_text_is_an_error(axis: str, text: str) -> None:
    value = words.word(axis, text)
    assert value is None or (value.words and not value.spans)


@pytest.mark.parametrize(
    ("axis", "text", "meant"),
    [
        ("torch_build", "CUDA 12.4", "cu124"),
        ("torch_build", "cu128", "cu128"),
        ("torch_build", "ROCm 6.2.4", "rocm6.2.4"),
        ("torch_build", "cpu only", "cpu"),
        ("torch_build", "XPU", "xpu"),
        ("os", "WSL 2", "wsl2"),
        ("os", "Windows 11", "windows"),
        ("os", "Darwin", "macos"),
        ("host_arch", "AMD64", "x86_64"),
        ("host_arch", "arm64", "aarch64"),
        ("distro", "Ubuntu 22.04 LTS", "ubuntu-22.04"),
        ("distro", "ubuntu24.04", "ubuntu-24.04"),
        ("distro", "RHEL 9.3", "rhel-9.3"),
        ("distro", "Red Hat Enterprise Linux 8", "rhel-8"),
        ("distro", "AL2023", "amazonlinux-2023"),
        ("distro", "SLES 15 SP4", "sles-15.4"),
        ("gpu_arch", "9.0", "sm_90"),
        ("gpu_arch", "compute_90", "sm_90"),
        ("gpu_arch", "sm_90a", "sm_90"),
        ("gpu_arch", "12.0", "sm_120"),
        ("gpu_arch", "gfx90a:sramecc+:xnack-", "gfx90a"),
        ("gpu_arch", "xe_hpg", "xe_hpg"),
        ("gpu_class", "data center", "datacenter"),
        ("channel", "whl index", "pytorch-index"),
        ("scope", "torch.compile", "torch.compile"),
        ("scope", "DDP over NCCL", "multi-gpu"),
        ("backend", "torch.compile", "inductor"),
        ("backend", "tensorrt", "torch_tensorrt"),
        ("partition", "MIG 1g.10gb", "1g.10gb"),
        ("wheel_platform", "manylinux_2_28_x86_64", "manylinux_2_28"),
        ("wheel_platform", "manylinux2014_x86_64", "manylinux2014"),
        ("require_check", "disabled", "skipped"),
        ("needs_ptx_jit", "True", "yes"),
        ("libc", "musl", "musl"),
        ("gpu_vendor", "Radeon", "amd"),
    ],
)
def test_a_word_has_one_form(axis: str, text: str, meant: str) -> None:
    value = words.word(axis, text)
    assert value is not None
    assert (value.text, value.words) == (meant, (meant,))


@pytest.mark.parametrize(
    ("axis", "text"),
    [("torch_build", "fastest"), ("os", "freebsd"), ("distro", "my own"), ("gpu_arch", "90!"), ("libc", "uclibc")],
)
def test_a_word_that_nobody_knows_is_none(axis: str, text: str) -> None:
    assert words.word(axis, text) is None


@pytest.mark.parametrize("axis", AXES_OF_WORDS)
def test_a_form_is_read_as_itself(axis: str) -> None:
    """What was read once is read the same again: the nearest alternatives are told in these forms."""
    for text in ("cu128", "ubuntu-24.04", "sm_90", "gfx1100", "linux", "pypi", "open", "skipped", "yes", "nvidia"):
        first = words.word(axis, text)
        assert first is None or words.word(axis, first.text) == first


def test_several_scopes_are_all_asked() -> None:
    value = words.word("scope", "torch.compile, multi-gpu")
    assert value is not None
    assert set(value.words) == {"torch.compile", "multi-gpu"}
