"""What follows from what was asked: a device's architecture, a distribution's glibc, a build's CUDA version.

A few things follow by form and are code; the rest are the derivations of the facts. What was given is never changed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from orchestrator.support import conditions, spans, written
from orchestrator.support.axes import cuda_of_build, is_version, vendor_of_build
from orchestrator.support.conditions import Value
from orchestrator.support.devices import Devices
from orchestrator.support.question import Question
from orchestrator.support.rows import AmdgpuRelease, Derivation, Device
from orchestrator.support.selector import Selector, indices

_ARCH = re.compile(r"sm_|gfx|ptx_")
_LIST = re.compile(r"\s*(?:[,;]|\band\b|\bor\b)\s*")
_PARTS = re.compile(r"/|,|\+|\bor\b|\band\b", re.IGNORECASE)
_PASSES = 3
_SAID_TWICE = ("driver_cuda", "glibc")
_ONE_OF_THESE = frozenset({"geforce", "consumer", "jetson", "datacenter"})
_DEFAULTS: Mapping[str, str] = {"os": "linux", "torch_from": "wheel"}
_CLASS_VENDOR: Mapping[str, str] = {"geforce": "nvidia", "jetson": "nvidia"}


class Derivations:
    """The derivations of the facts, by the axis that they give, best fitting first."""

    def __init__(self, rows: Sequence[Derivation]) -> None:
        given: dict[str, list[Derivation]] = {}
        for row in sorted(rows, key=lambda row: -_closeness(row)):
            for axis in row.gives:
                given.setdefault(axis, []).append(row)
        self._by_axis = {
            axis: (rows, Selector([row.when for row in rows]), [_value(axis, row.gives[axis]) for row in rows])
            for axis, rows in given.items()
        }

    def contradictions(self, question: Question) -> Iterator[tuple[str, str, str]]:
        """Each given axis that another given axis says otherwise: (axis, the other, what that one says)."""
        for axis in _SAID_TWICE:
            given = question.values.get(axis)
            if given is None or axis in question.origin or axis not in self._by_axis or not given.spans:
                continue
            rows, selector, values = self._by_axis[axis]
            if sure := selector.select(question)[0]:
                best = next(indices(sure))
                if not spans.overlap(given.spans, values[best].spans):
                    yield axis, next(iter(rows[best].when)), values[best].text

    def apply(self, question: Question) -> bool:
        """Adds what follows; True when something did."""
        before = len(question.values)
        for axis, (rows, selector, values) in self._by_axis.items():
            if axis not in question.values and (sure := selector.select(question)[0]):
                best = next(indices(sure))
                question.derive(axis, values[best], tuple(rows[best].when))
        return len(question.values) > before


def derive(question: Question, devices: Devices, derivations: Derivations, drivers: Sequence[AmdgpuRelease]) -> None:
    """Completes a question with all that follows from it."""
    _device(question, devices)
    for axis, word in _DEFAULTS.items():
        _assume(question, axis, word)
    if "distro" in question.values and question.values["os"].text == "windows":
        del question.values["distro"]
    for _ in range(_PASSES):
        before = len(question.values)
        _by_form(question)
        if not derivations.apply(question) and len(question.values) == before:
            break
    if question.values["os"].text != "macos":
        _assume(question, "host_arch", "x86_64")
        derivations.apply(question)
        _by_form(question)
    question.contradictions = (*question.contradictions, *derivations.contradictions(question))
    build = question.values.get("torch_build")
    if build is not None and question.own_build not in {"", build.text}:
        question.contradictions = (*question.contradictions, ("torch_build", "torch", question.own_build))
    _kernel_driver(question, drivers)


def _device(question: Question, devices: Devices) -> None:
    _generation(question, devices)
    name = question.values.get("gpu")
    device = devices.find(name.text) if name and not _are_several(name.text, devices) else None
    if name is None:
        return
    if device is None or len({each.arch for each in _named(name.text, devices)}) > 1:
        if "gpu_arch" not in question.values:
            question.ignored = (*question.ignored, "gpu")
        return
    question.values["gpu"] = Value(device.family, words=(device.family,))
    kind = question.values.get("gpu_class")
    if kind and kind.text != device.class_ and {kind.text, device.class_} <= _ONE_OF_THESE:
        question.contradictions = (("gpu_class", "gpu", device.class_),)
    alternatives = tuple(device.arch.split("|")) if device.arch else ()
    if alternatives:
        question.derive("gpu_arch", Value(device.arch, words=alternatives), ("gpu",))
    for axis, word in (("gpu_class", device.class_), ("gpu_vendor", device.vendor), ("host_arch", device.host_arch)):
        if word:
            question.derive(axis, Value(word, words=(word,)), ("gpu",))
    if partition := question.values.get("partition"):
        known = partition.text in {"whole", *(profile.lower() for profile in device.partitions)}
        word = ("yes" if known else "no") if device.partitions else "unlisted"
        question.derive("partition_known", Value(word, words=(word,)), ("gpu", "partition"))


def _named(text: str, devices: Devices) -> list[Device]:
    """The devices of a list of names; one answer cannot speak of cards that differ."""
    return [device for part in _LIST.split(text) if (device := devices.find(part)) is not None]


def _generation(question: Question, devices: Devices) -> None:
    """An architecture that is told by the name of its generation, such as Ampere."""
    arch = question.values.get("gpu_arch")
    device = devices.find(arch.text) if arch and not _ARCH.match(arch.text) else None
    if device is not None and device.arch:
        question.values["gpu_arch"] = Value(device.arch, words=tuple(device.arch.split("|")))


def _are_several(name: str, devices: Devices) -> bool:
    """Whether a name such as `H100/K80` tells of devices that are not alike; `MI250X / MI250` is what torch prints."""
    parts = _PARTS.split(name)
    found = [devices.find(part.strip()) for part in parts] if len(parts) > 1 else []
    return len({device.arch for device in found if device is not None}) > 1


def _by_form(question: Question) -> None:
    """What a value says by the way it is written."""
    values = question.values
    if arch := values.get("gpu_arch"):
        vendor = "nvidia" if arch.text.startswith("sm_") else "amd" if arch.text.startswith("gfx") else "intel"
        question.derive("gpu_vendor", Value(vendor, words=(vendor,)), ("gpu_arch",))
        if vendor == "amd":
            _override(question, arch)
    if build := values.get("torch_build"):
        _of_build(question, build.text)
    elif (image := values.get("container_cuda")) and "torch" not in values:
        question.derive("cuda_runtime", image, ("container_cuda",))
    for axis, vendor in (
        *((name, "nvidia") for name in ("driver_cuda", "cuda_runtime", "cuda_toolkit", "container_cuda")),
        *((name, "amd") for name in ("rocm_userspace", "amdgpu_driver")),
        *((name, "intel") for name in ("oneapi", "intel_sycl_rt", "libze1")),
    ):
        if axis in values:
            question.derive("gpu_vendor", Value(vendor, words=(vendor,)), (axis,))
    if (kind := values.get("gpu_class")) and kind.text in _CLASS_VENDOR:
        vendor = _CLASS_VENDOR[kind.text]
        question.derive("gpu_vendor", Value(vendor, words=(vendor,)), ("gpu_class",))
    if (driver := values.get("driver")) and (maker := values.get("gpu_vendor")) and maker.text == "amd":
        question.derive("amdgpu_driver", driver, ("driver",))


def _of_build(question: Question, build: str) -> None:
    """The runtime that a build brings, and whose devices it is for."""
    if cuda := cuda_of_build(build):
        question.derive("cuda_runtime", _value("cuda_runtime", cuda), ("torch_build",))
    if build.startswith("rocm"):
        question.derive("rocm_userspace", _value("rocm_userspace", build[4:]), ("torch_build",))
    if vendor := vendor_of_build(build):
        question.derive("gpu_vendor", Value(vendor, words=(vendor,)), ("torch_build",))


def _override(question: Question, arch: Value) -> None:
    """`HSA_OVERRIDE_GFX_VERSION=10.3.0` makes a card claim gfx1030; steppings are hexadecimal."""
    override = question.values.get("hsa_override")
    if override is None:
        question.derive("gfx_as", arch, ("gpu_arch",))
        return
    number = (*spans.lowest(override.spans), 0, 0)[:3]
    claimed = f"gfx{number[0]}{number[1]:x}{number[2]:x}"
    question.derive("gfx_as", Value(claimed, words=(claimed,)), ("hsa_override",))
    if claimed == arch.text:
        family = "itself"
    elif claimed[:-1] == arch.text[:-1]:
        family = "same"
    else:
        family = "other-minor" if claimed[:-2] == arch.text[:-2] else "other-major"
    question.derive("override_family", Value(family, words=(family,)), ("hsa_override", "gpu_arch"))


def _kernel_driver(question: Question, drivers: Sequence[AmdgpuRelease]) -> None:
    """A module prints another number than the release that it came with; where both could be meant, both are."""
    value = question.values.get("amdgpu_driver")
    if value is None or not value.exact:
        return
    found = list(dict.fromkeys(_releases(value.text, drivers)))
    if not found:
        return
    together = spans.union(span for text in found for span in spans.read(text))
    text = "|".join(found)
    question.values["amdgpu_driver"] = Value(text, together, exact=len(found) == 1)


def _releases(text: str, drivers: Sequence[AmdgpuRelease]) -> Iterator[str]:
    """The releases that a number may mean; early drivers bear the number of their ROCm release."""
    modules = [each for each in drivers if each.module and _prints(text, each)]
    yield from (each.release.removesuffix(".x") for each in modules)
    if modules and any(text in each.rocm for each in drivers):
        yield text


def _prints(text: str, driver: AmdgpuRelease) -> bool:
    return text == driver.module or any(text == package.split("-")[0] for package in driver.packages)


def _assume(question: Question, axis: str, word: str) -> None:
    if axis not in question.values and axis not in question.undecided:
        question.values[axis] = Value(word, words=(word,))
        question.origin[axis] = ()


def _value(axis: str, text: str) -> Value:
    found = written.version(axis, text) if is_version(axis) else Value(text, words=(text,))
    if found is None:
        raise ValueError(f"`{text}` is no value of `{axis}`")
    return found


def _closeness(row: Derivation) -> int:
    """A row that says more closely what it speaks of is believed before one that says less."""
    return sum(10 + max(text.count(".") for text in conditions.alternatives(each)) for each in row.when.values())
