"""The one axis registry: every axis that matrix, check, facts, plan, record and history speak of.

An axis has a name, a grammar, a default, a condition and a place. The names of cells and images are made here, from
the axes that are not at their default, so an axis that is added later renames nothing.
"""

import fnmatch
import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any

from msgspec import Struct

from orchestrator import text
from orchestrator.errors import InputError

Axes = Mapping[str, str]


class Where(StrEnum):
    """Which part of the world an axis belongs to."""

    IMAGE = "image"
    HOST = "host"
    RUN = "run"
    ASKED = "asked"


class Grammar(StrEnum):
    """How a value is written."""

    PYPI = "a version as PyPI has it, such as 2.13.0"
    DOTTED = "numbers with dots, such as 535.104.05"
    PYTHON = "a Python version, such as 3.12"
    BUILD = "cpu, cuXYZ, rocmX.Y or xpu"
    WORD = "a word of letters, digits, dots, dashes and underscores"
    COUNT = "a whole number from 1 to 1024"
    DIGEST = "an image by digest (repo@sha256:…) or a local image id (sha256:…)"
    ENV = "NAME=value pairs"
    CHOICE = "one of a closed set"
    FREE = "text"
    VERSION = "a version or a range of versions, such as 12.4 or >=570.26"


# Whose values are older and newer, and not just different.
ORDERED = frozenset({Grammar.PYPI, Grammar.DOTTED, Grammar.PYTHON, Grammar.BUILD, Grammar.VERSION})


class Axis(Struct, frozen=True, kw_only=True):
    """One axis. `label` is how a value shows in a cell's name; `package` is its name on PyPI."""

    name: str
    where: Where
    grammar: Grammar
    default: str | None = None
    when: Axes = {}
    label: str = ""
    package: str = ""
    choices: tuple[str, ...] = ()


def _companion(name: str, package: str = "") -> Axis:
    return Axis(name=name, where=Where.IMAGE, grammar=Grammar.PYPI, label=name + "{}", package=package or name)


def _asked(grammar: Grammar, names: str) -> tuple[Axis, ...]:
    return tuple(Axis(name=name, where=Where.ASKED, grammar=grammar) for name in names.split())


# What people state and no cell sets: `check` reads these.
_ASKED_VERSIONS = """glibc driver_cuda cuda_runtime cuda_toolkit container_cuda amdgpu_driver rocm_userspace tensorrt
    cudnn cudnn_compiled cudnn_runtime nccl nccl_system oneapi intel_sycl_rt libze1 libze_intel_gpu1 xformers
    docker_engine hsa_override"""
_ASKED_WORDS = """distro os libc channel ext scope gpu_arch gpu_class gpu_vendor torch_arch_list kernel_modules
    require_check needs_ptx_jit nccl_installed wheel_platform"""


_DEVICE = {"torch_build": "cu*|rocm*|xpu"}
AXES: Mapping[str, Axis] = {
    axis.name: axis
    for axis in (
        Axis(name="torch", where=Where.IMAGE, grammar=Grammar.PYPI, label="torch{}", package="torch"),
        Axis(name="torch_build", where=Where.IMAGE, grammar=Grammar.BUILD, label="{}"),
        Axis(
            name="torch_from",
            where=Where.IMAGE,
            grammar=Grammar.CHOICE,
            default="wheel",
            label="{}",
            choices=("wheel", "distribution"),
        ),
        Axis(name="python", where=Where.IMAGE, grammar=Grammar.PYTHON, label="py{}"),
        Axis(name="base", where=Where.IMAGE, grammar=Grammar.WORD, default="debian12", label="{}"),
        Axis(
            name="host_arch",
            where=Where.IMAGE,
            grammar=Grammar.CHOICE,
            default="x86_64",
            label="{}",
            choices=("x86_64", "aarch64", "s390x", "ppc64le"),
        ),
        Axis(name="image", where=Where.IMAGE, grammar=Grammar.DIGEST, label="image-{}"),
        Axis(
            name="cuda_compat",
            where=Where.IMAGE,
            grammar=Grammar.DOTTED,
            when={"torch_build": "cu*"},
            label="compat{}",
        ),
        Axis(
            name="compute_runtime",
            where=Where.IMAGE,
            grammar=Grammar.DOTTED,
            when={"torch_build": "xpu"},
            label="neo{}",
        ),
        Axis(name="level_zero", where=Where.IMAGE, grammar=Grammar.DOTTED, when={"torch_build": "xpu"}, label="ze{}"),
        _companion("triton"),
        _companion("torchvision"),
        _companion("torchaudio"),
        _companion("torchao"),
        _companion("numpy"),
        _companion("openvino"),
        _companion("torch_tensorrt", "torch-tensorrt"),
        _companion("ipex", "intel-extension-for-pytorch"),
        _companion("onnxruntime"),
        _companion("onnxscript"),
        Axis(name="driver", where=Where.HOST, grammar=Grammar.DOTTED, when=_DEVICE, label="driver{}"),
        Axis(name="gpu", where=Where.HOST, grammar=Grammar.WORD, when=_DEVICE, label="{}"),
        Axis(name="gpus", where=Where.HOST, grammar=Grammar.COUNT, default="1", when=_DEVICE, label="x{}"),
        Axis(name="partition", where=Where.HOST, grammar=Grammar.WORD, default="whole", when=_DEVICE, label="{}"),
        Axis(name="firmware", where=Where.HOST, grammar=Grammar.WORD, when=_DEVICE, label="fw{}"),
        Axis(name="container_toolkit", where=Where.HOST, grammar=Grammar.DOTTED, when=_DEVICE, label="toolkit{}"),
        Axis(name="backend", where=Where.RUN, grammar=Grammar.WORD, default="eager", label="{}"),
        Axis(
            name="matmul_precision",
            where=Where.RUN,
            grammar=Grammar.CHOICE,
            default="highest",
            label="{}",
            choices=("highest", "high", "medium"),
        ),
        Axis(name="env", where=Where.RUN, grammar=Grammar.ENV, default="", label="env"),
        *_asked(Grammar.VERSION, _ASKED_VERSIONS),
        *_asked(Grammar.FREE, _ASKED_WORDS),
    )
}

_BUILD = re.compile(r"cpu|cu\d{2,3}|rocm\d{1,2}\.\d{1,2}(\.\d{1,2})?|xpu", re.ASCII)
_ENV = re.compile(
    r"([A-Z][A-Z0-9_]{0,63}=[A-Za-z0-9._:,/+-]{0,120})?( [A-Z][A-Z0-9_]{0,63}=[A-Za-z0-9._:,/+-]{0,120})*"
)
_PATTERNS: Mapping[Grammar, re.Pattern[str]] = {
    Grammar.DOTTED: re.compile(r"\d{1,6}(\.\d{1,6}){0,5}", re.ASCII),
    Grammar.PYTHON: re.compile(r"3\.(0|[1-9]\d?)(\.(0|[1-9]\d?))?t?", re.ASCII),
    Grammar.BUILD: _BUILD,
    Grammar.WORD: re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII),
    Grammar.COUNT: re.compile(r"[1-9]\d{0,2}|10[01]\d|102[0-4]", re.ASCII),
    Grammar.DIGEST: re.compile(r"([a-z0-9][a-z0-9.:/_-]{0,200}@)?sha256:[0-9a-f]{64}", re.ASCII),
    Grammar.ENV: _ENV,
    Grammar.FREE: re.compile(r"[^\x00-\x1f\x7f]{0,200}"),
    Grammar.VERSION: re.compile(r"[^\x00-\x1f\x7f]{0,200}"),
}


_ALIAS = re.compile(r"(?:newest|latest)(?: (?P<within>\d{1,4}(?:\.\d{1,4}){0,2})\.x)?", re.ASCII)


def is_alias(axis: Axis, value: str) -> bool:
    """Whether a value of a version axis is `newest`, `latest`, or one of them within a series, as in `newest 2.x`."""
    return axis.grammar in {Grammar.PYPI, Grammar.DOTTED, Grammar.PYTHON} and _ALIAS.fullmatch(value) is not None


def meant_by(alias: str, known: Sequence[str]) -> str:
    """The newest of some known values, oldest first, that an alias takes; an empty text when there is none.

    A free-threaded Python is another build and no newer version.
    """
    found = _ALIAS.fullmatch(alias)
    within = ((found and found["within"]) or "").split(".")
    versions = [value for value in known if not value.endswith("t")]
    fits = [value for value in versions if within == [""] or _is_prefix(within, value.split("."))]
    return fits[-1] if fits else ""


def problem_with(axis: Axis, value: str) -> str:
    """What is wrong with a value by the axis's grammar, or an empty text."""
    shown = text.shown(value)
    if axis.grammar is Grammar.CHOICE:
        return "" if value in axis.choices else f"`{shown}` is not a value of `{axis.name}`: {', '.join(axis.choices)}"
    if axis.grammar is Grammar.PYPI:
        canonical = _canonical_version(value)
        if canonical and canonical == value:
            return ""
        return f"`{shown}` is not {axis.grammar.value}" + (f", did you mean `{canonical}`?" if canonical else "")
    if _PATTERNS[axis.grammar].fullmatch(value) is None or ".." in value:
        return f"`{shown}` is not a value of `{axis.name}`: it takes {axis.grammar.value}"
    return ""


def _canonical_version(value: str) -> str:
    """The version as packaging writes it, or an empty text; `v2.6` and a trailing newline are not canonical."""
    from packaging.version import InvalidVersion, Version

    try:
        return str(Version(value)) if value.isascii() and len(value) <= 80 else ""  # noqa: PLR2004 - longer than any
    except InvalidVersion:
        return ""


def platform(axes: Axes) -> str:
    """The platform of a cell, by its torch build: cpu, cuda, rocm or xpu; `ready` for a ready image."""
    build = axes.get("torch_build", "")
    if build.startswith("cu"):
        return "cuda"
    if build.startswith("rocm"):
        return "rocm"
    if build in {"cpu", "xpu"}:
        return build
    return "ready"


def applies(axis: Axis, axes: Axes) -> bool:
    """Whether the axis has a meaning in this combination."""
    return all(matches_any(pattern, axes.get(name, "")) for name, pattern in axis.when.items())


def matches_any(pattern: str, value: str) -> bool:
    """Whether a value fits one of the `|`-separated globs or version ranges of a condition."""
    return any(_matches_one(part.strip(), value) for part in pattern.split("|"))


@lru_cache(maxsize=65536)  # planning asks the same few conditions of a few values again and again
def _matches_one(pattern: str, value: str) -> bool:
    if not value:
        return False
    if pattern[:1] in "<>=!~" and pattern:
        from packaging.specifiers import InvalidSpecifier, SpecifierSet
        from packaging.version import InvalidVersion

        try:
            return SpecifierSet(pattern).contains(value, prereleases=True)
        except (InvalidSpecifier, InvalidVersion):
            return False
    return fnmatch.fnmatchcase(value, pattern)


def selects(when: Axes, axes: Axes) -> bool:
    """Whether a condition on axes (axis -> glob, `|` alternatives, or version range) holds for a cell."""
    return all(matches_any(pattern, axes.get(name, "")) for name, pattern in when.items())


def complete(axes: Axes) -> dict[str, str]:
    """The combination in registry order, with the default of each axis that applies and is not given."""
    full: dict[str, str] = {}
    for axis in AXES.values():
        if axis.name in axes:
            full[axis.name] = axes[axis.name]
        elif axis.default is not None and _takes_default(axis, {**axes, **full}):
            full[axis.name] = axis.default
    return full


def _takes_default(axis: Axis, axes: Axes) -> bool:
    """A ready image keeps its image axes unsaid; that it takes a GPU is known from the row naming one."""
    if "image" not in axes:
        return applies(axis, axes)
    return axis.where is Where.RUN or (axis.where is Where.HOST and "gpu" in axes)


def age(name: str, value: str) -> tuple[Any, ...]:
    """Sorts the values of an ordered axis from the oldest on; those of one kind (cu126, cu130) stay together."""
    if AXES[name].grammar is Grammar.PYPI:
        from packaging.version import Version

        return (Version(value),)
    # cu126, rocm7.1, 535.104.05, 3.13t: a word that says which kind, numbers, and a free-threaded Python after its twin
    kind = re.match(r"[a-z]*", value)
    return (kind[0] if kind else "", tuple(int(part) for part in re.findall(r"\d+", value)), value.endswith("t"))


def canonical(axes: Axes, belongs: Callable[[Axis], bool] = lambda _: True) -> dict[str, str]:
    """The combination without what is at its default: what names are made of."""
    return {
        name: value
        for name, axis in AXES.items()
        if belongs(axis) and (value := axes.get(name, axis.default)) is not None and value != axis.default
    }


def cell_id(axes: Axes) -> str:
    """`torch2.13.0-cpu-py3.11-inductor-5f1c09aa`: the one name of a cell everywhere."""
    return _name(canonical(axes))


def image_id(axes: Axes) -> str:
    """The name of a cell's image: the same form, from the image axes only. Many cells share one."""
    return _name(canonical(axes, lambda axis: axis.where is Where.IMAGE))


def image_axes(axes: Axes) -> dict[str, str]:
    """The projection of a cell onto its image axes, defaults too."""
    return {name: value for name, value in complete(axes).items() if AXES[name].where is Where.IMAGE}


def _name(short: Axes) -> str:
    parts = [
        text.slug(AXES[name].label.format(value.split("sha256:")[-1][:12] if name == "image" else value), 40)
        for name, value in short.items()
    ]
    return f"{'-'.join(parts)[:100].rstrip('-.') or 'cell'}-{text.digest(dict(short), 8)}"


@lru_cache(maxsize=4096)
def matches(axis: str, requested: str, observed: str) -> bool:
    """Whether what was observed is what was requested.

    A version matches when the requested release is a prefix, component by component, of the observed release;
    pre-release and local parts count only when they were asked for. Other values match when they are equal,
    upper and lower case alike.
    """
    grammar = AXES[axis].grammar
    if grammar is Grammar.PYPI:
        return _pypi_matches(requested, observed)
    if grammar in {Grammar.DOTTED, Grammar.PYTHON}:
        return _is_prefix(requested.split("."), observed.split("."))
    if grammar is Grammar.BUILD and requested.startswith("rocm") and observed.startswith("rocm"):
        return _is_prefix(requested[4:].split("."), observed[4:].split("."))
    return requested.lower() == observed.lower()


def _pypi_matches(requested: str, observed: str) -> bool:
    from packaging.version import InvalidVersion, Version

    try:
        want, have = Version(requested), Version(observed)
    except InvalidVersion:
        return requested == observed
    if want.epoch != have.epoch or not _is_prefix(want.release, have.release):
        return False
    if want.is_prerelease and (want.pre, want.dev) != (have.pre, have.dev):
        return False
    return want.local is None or want.local == have.local


def _is_prefix(short: tuple[int, ...] | list[str], long: tuple[int, ...] | list[str]) -> bool:
    return tuple(short) == tuple(long[: len(short)])


def differences(requested: Axes, observed: Axes) -> dict[str, tuple[str, str]]:
    """Each requested axis that was observed as something else: axis -> (requested, observed)."""
    return {
        name: (want, observed[name])
        for name, want in requested.items()
        if name in observed and name in AXES and not matches(name, want, observed[name])
    }


def axis_named(name: str) -> Axis:
    """The axis of that name; InputError with the nearest name otherwise."""
    if name in AXES:
        return AXES[name]
    raise InputError(f"no axis is named `{text.one_line(name, 60)}`", hint=suggestion(name, AXES))


def suggestion(name: str, names: Mapping[str, object]) -> str:
    """`did you mean `torch`?`, or an empty text when nothing is near."""
    import difflib

    near = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f"did you mean `{near[0]}`?" if near else ""
