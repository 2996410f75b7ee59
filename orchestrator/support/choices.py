"""What could be chosen in place of a value: which axes a user can change, and their values from the nearest on."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Protocol

from orchestrator.support import spans, words, written
from orchestrator.support.axes import is_version, vendor_of_build
from orchestrator.support.facts import Facts
from orchestrator.support.question import Question
from orchestrator.vocabulary import Verdict


class Asked(Protocol):
    """What is asked about each choice: see `check.Support`."""

    facts: Facts

    def question(self, combination: Mapping[str, object]) -> Question:
        """A combination, read and completed."""

    def verdict(self, combination: Mapping[str, object]) -> Verdict:
        """The verdict of a combination."""


# A card, an architecture and a machine are what they are.
_CHANGEABLE = (
    *("torch_build", "torch", "python", "driver", "driver_cuda", "cuda_compat", "channel", "numpy", "torchvision"),
    *("torchaudio", "torch_tensorrt", "tensorrt", "triton", "ipex", "openvino", "cuda_runtime", "container_cuda"),
    *("cudnn", "cudnn_runtime", "nccl", "nccl_installed", "rocm_userspace", "amdgpu_driver", "intel_sycl_rt", "oneapi"),
    *("distro", "base", "glibc", "wheel_platform", "kernel_modules", "partition", "hsa_override", "require_check"),
)
_WORDS: Mapping[str, tuple[str, ...]] = {
    "channel": ("pypi", "pytorch-index"),
    "kernel_modules": ("open", "proprietary"),
    "partition": ("whole",),
    "cuda_compat": ("none",),
}
_LISTS = {"nccl_installed"}
_COMPARED: Mapping[str, str] = {"cudnn_runtime": "cudnn_compiled"}
_COMPONENTS: Mapping[str, tuple[int, int]] = {  # a version is told with at least and at most so many numbers
    "torch": (3, 3),
    "python": (2, 2),
    "driver": (2, 3),
    "driver_cuda": (2, 2),
    "cuda_runtime": (2, 2),
    "container_cuda": (2, 3),
}


def changeable(combination: Mapping[str, object], deciding: Sequence[str]) -> list[str]:
    """The axes that are worth changing: those that decided, and what belongs to them."""
    said = set(deciding)
    if said & {"torch", "torch_build", "torch_arch_list", "channel"}:
        said |= {"torch"} | ({"channel", "torch_build"} & combination.keys())
    if said & {"torch"} and {"gpu", "gpu_arch"} & combination.keys():
        said |= {"torch_build"}
    if said & {"driver", "driver_cuda"}:
        said -= {"driver_cuda"} if "driver" in combination else {"driver"}
        said |= {"cuda_compat"} & combination.keys()
    return [axis for axis in _CHANGEABLE if axis in said]


def values(support: Asked, combination: Mapping[str, object], axis: str) -> Iterator[str]:
    """The other values of an axis, the nearest first; of two as near, the newer."""
    asked = combination.get(axis)
    if axis in _LISTS:
        return iter(_single(asked, str(combination.get("torch_build", ""))))
    if axis in _WORDS:
        return iter([word for word in _WORDS[axis] if word != asked])
    if axis == "torch_build":
        return _builds(support, combination)
    known = list(support.facts.values(axis))
    if axis == "distro":
        return iter(_distributions(known, str(asked)))
    if not is_version(axis):
        return iter([value for value in known if value != asked])
    value = written.version(axis, str(asked)) if asked is not None else None
    beside = _COMPARED.get(axis, "")
    other = written.version(beside, str(combination[beside])) if beside in combination else None
    known += [other.text] if other and other.exact else []
    known = [each for each in _told(axis, known) if each.endswith("t") == bool(value and value.tag)]
    return _outwards(known, spans.lowest(value.spans) if value else ())


def _single(asked: object, build: str) -> list[str]:
    """Each one of several packages, those for the build's own CUDA first."""
    items = [str(item) for item in asked] if isinstance(asked, list | tuple) else []
    return sorted(items, key=lambda item: build[:4] not in item)


def _told(axis: str, known: Sequence[str]) -> list[str]:
    """The versions that one would name: not `3.6` where `3.6.0` is known, no branch where a driver is meant."""
    least, most = _COMPONENTS.get(axis, (1, 6))
    fit = [each for each in spans.order(known) if least <= each.count(".") + 1 <= most]
    return [each for each in fit if not any(other.startswith(each + ".") for other in fit)]


def _outwards(known: Sequence[str], at: spans.Release) -> Iterator[str]:
    numbers = [(spans.lowest(spans.read(each.removesuffix("t"))), each) for each in known]
    above = [each for number, each in numbers if number > at]
    below = [each for number, each in numbers if number < at][::-1]
    if not at:
        return iter(above[::-1])
    return _alternating(above, below)


def _alternating(above: Sequence[str], below: Sequence[str]) -> Iterator[str]:
    return (each for pair in zip_longest(above, below) for each in pair if each is not None)


def apart(axis: str, nearest: Sequence[str]) -> Sequence[str]:
    """Of the releases of torch the last patch of each minor: two axes together leave no room for every patch."""
    if axis != "torch":
        return nearest
    last = {each.rpartition(".")[0]: each for each in spans.order(nearest)}
    return [each for each in nearest if each in last.values()]


def _builds(support: Asked, combination: Mapping[str, object]) -> Iterator[str]:
    """The builds for the same devices, from the nearest on; another vendor's build is no alternative."""
    question = support.question(combination)
    build, vendor = question.values.get("torch_build"), question.values.get("gpu_vendor")
    of = vendor.text if vendor else vendor_of_build(build.text) if build else None
    same = sorted((each for each in support.facts.values("torch_build") if vendor_of_build(each) == of), key=_number)
    at = _number(build.text) if build else ()
    above = [each for each in same if _number(each) > at]
    below = [each for each in same if _number(each) < at][::-1]
    return _alternating(above, below) if at else iter(above[::-1])


def _number(build: str) -> tuple[int, ...]:
    digits = re.findall(r"\d+", build)
    if build.startswith("cu"):
        return int(digits[0][:-1]), int(digits[0][-1])
    return tuple(map(int, digits))


def _distributions(known: Sequence[str], asked: str) -> list[str]:
    """The same distribution's releases first, the nearest before the others."""
    own = words.distribution(asked.lower())
    name = own.text.partition("-")[0] if own else ""
    good = [each for each in known if (found := words.distribution(each)) and found.text == each]
    return sorted(good, key=lambda each: (each.partition("-")[0] != name, each))
