"""Words as people write them to each other, each to the one form that facts use."""

import re
from collections.abc import Callable, Mapping

from orchestrator.support.conditions import Value

_SYSTEMS = (
    (r"\bwsl", "wsl2"),
    (r"(?<!dar)win", "windows"),
    (r"mac|darwin|os ?x", "macos"),
    (r"linux|\bmanylinux", "linux"),
)
_MACHINES = (
    (r"x86[_-]?64|amd64|\bx64\b|intel 64", "x86_64"),
    (r"aarch64|arm64|sbsa|armv8|grace", "aarch64"),
    (r"s390x", "s390x"),
    (r"ppc64le|power", "ppc64le"),
    (r"\bi[3-6]86\b|x86\b|32[ -]?bit", "i686"),
)
_CHANNELS = (
    (r"pypi|\bpip\b", "pypi"),
    (r"pytorch|whl|wheel index|\bindex\b", "pytorch-index"),
    (r"conda", "conda"),
    (r"container|docker|ngc|image", "container"),
    (r"source|built|jetson", "source"),
)
_CLASSES = (
    (r"data ?cent|datacenter|server|tesla|hgx|dgx", "datacenter"),
    (r"geforce|gaming", "geforce"),
    (r"consumer|client", "consumer"),
    (r"workstation|quadro|professional|rtx pro", "workstation"),
    (r"jetson|embedded|tegra", "jetson"),
)
_MODULES = ((r"open", "open"), (r"proprietary|closed", "proprietary"))
_CHECKS = ((r"disab|skip|off|\bno|false|none|ignored", "skipped"), (r"enforc|on\b|true|yes|active|default", "enforced"))
_FLAGS = ((r"^(true|yes|1|on|needed|required)$", "yes"), (r"^(false|no|0|off|none)$", "no"))
_SCOPES = (
    (r"compil|inductor|dynamo", "torch.compile"),
    (r"multi|distribut|nccl|collective|ddp|fsdp", "multi-gpu"),
    (r"third|extension|custom.?(op|kernel)|prebuilt", "third-party-kernels"),
    (r"triton", "triton-kernels"),
    (r"numpy", "numpy-bridge"),
    (r"eager|install|import|basic", "eager"),
)
_LIBCS = ((r"musl", "musl"), (r"glibc|gnu", "glibc"))
_VENDORS = ((r"nvidia|cuda", "nvidia"), (r"\bamd\b|rocm|radeon", "amd"), (r"intel|xpu", "intel"))
_TABLES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "os": _SYSTEMS,
    "host_arch": _MACHINES,
    "channel": _CHANNELS,
    "gpu_class": _CLASSES,
    "kernel_modules": _MODULES,
    "require_check": _CHECKS,
    "needs_ptx_jit": _FLAGS,
    "libc": _LIBCS,
    "gpu_vendor": _VENDORS,
}
_DISTRIBUTIONS = (
    (r"ubuntu", "ubuntu"),
    (r"debian", "debian"),
    (r"red ?hat|rhel|ubi", "rhel"),
    (r"centos", "centos"),
    (r"rocky", "rocky"),
    (r"alma", "almalinux"),
    (r"amazon|amzn|\bal(?=2)", "amazonlinux"),
    (r"fedora", "fedora"),
    (r"sles|suse linux enterprise", "sles"),
    (r"opensuse", "opensuse"),
    (r"alpine", "alpine"),
    (r"oracle", "oraclelinux"),
    (r"\bmint", "linuxmint"),
    (r"\bpop\b|pop!", "pop"),
    (r"manjaro", "manjaro"),
    (r"gentoo", "gentoo"),
    (r"kali", "kali"),
    (r"arch", "arch"),
    (r"nixos", "nixos"),
)
_BUILD = re.compile(
    r"(?:cu(?:da)?)[ _-]?(\d{1,2})\.?(\d)(?:\.\d+)?|(?:rocm|hip)[ _-]?(\d+\.\d+(?:\.\d+)?)|(cpu)(?: only)?|(xpu)"
)
_PLATFORM = re.compile(r"manylinux(?:\d+|_\d+_\d+)|musllinux_\d+_\d+|macosx_\d+_\d+|win_\w+")
_CUDA_ARCH = re.compile(r"(?:sm|compute|cc)?[_ ]?(\d{1,2})[._]?(\d)[af]?")
_GFX_ARCH = re.compile(r"(gfx[0-9]{1,2}[0-9a-f]{2})(?::.*)?")


def word(axis: str, text: str) -> Value | None:
    """What a text says of an axis of words, or None when it says nothing that can be read."""
    plain = " ".join(text.lower().split())
    if axis == "scope":
        return _scopes(plain)
    if axis in _TABLES:
        return _known(_TABLES[axis], plain)
    if reader := _READERS.get(axis):
        return reader(plain)
    return Value(plain, words=(plain,)) if plain else None


def _known(table: tuple[tuple[str, str], ...], plain: str) -> Value | None:
    found = next((name for form, name in table if re.search(form, plain)), "")
    return Value(found, words=(found,)) if found else None


def _scopes(plain: str) -> Value | None:
    """Each of the scopes that are named: what is asked of one is not answered by another."""
    parts = [_known(_SCOPES, part) for part in re.split(r"[,;|]", plain)]
    found = tuple(dict.fromkeys(part.text for part in parts if part is not None))
    return Value("|".join(found), words=found) if found and None not in parts else None


def build(plain: str) -> Value | None:
    """A build of torch: `cu124`, `CUDA 12.4`, `rocm6.2`, `xpu`, `cpu`."""
    found = _BUILD.match(plain.removeprefix("+"))
    if found is None:
        return None
    cuda, rocm = found[1] and f"cu{found[1]}{found[2]}", found[3] and f"rocm{found[3]}"
    text = cuda or rocm or found[4] or found[5]
    return Value(text, words=(text,))


def distribution(plain: str) -> Value | None:
    """`Ubuntu 22.04 LTS`, `ubuntu22.04`, `rhel-9.3`: the name and the version, joined by a dash."""
    name = next((name for form, name in _DISTRIBUTIONS if re.search(form, plain)), "")
    if not name:
        return None
    number = re.search(r"\d+(?:\.\d+)*", plain)
    service_pack = re.search(r"\bsp ?(\d)", plain)
    text = f"{name}-{number[0]}" if number else name
    if service_pack:
        text += f".{service_pack[1]}"
    return Value(text, words=(text,))


def architecture(plain: str) -> Value | None:
    """An architecture: `sm_90a`, `9.0`, `compute_90` are one, `gfx90a:sramecc+` is gfx90a."""
    if found := _GFX_ARCH.fullmatch(plain):
        return Value(found[1], words=(found[1],))
    if found := _CUDA_ARCH.fullmatch(plain):
        text = f"sm_{found[1]}{found[2]}"
        return Value(text, words=(text,))
    return Value(plain, words=(plain,)) if re.fullmatch(r"[a-z][a-z0-9_]{1,20}", plain) else None


def _platform(plain: str) -> Value | None:
    found = _PLATFORM.search(plain)
    return Value(found[0], words=(found[0],)) if found else None


def _backend(plain: str) -> Value | None:
    text = "inductor" if re.search(r"inductor|torch\.?compile|^compile", plain) else plain
    text = {"tensorrt": "torch_tensorrt", "torch-tensorrt": "torch_tensorrt"}.get(text, text)
    return Value(text, words=(text,)) if text else None


def _partition(plain: str) -> Value | None:
    text = re.sub(r"^mig[ _-]*", "", plain)
    return Value(text, words=(text,)) if text else None


_READERS: Mapping[str, Callable[[str], Value | None]] = {
    "torch_build": build,
    "distro": distribution,
    "gpu_arch": architecture,
    "wheel_platform": _platform,
    "backend": _backend,
    "partition": _partition,
}
