"""The nearest combinations that work: the fewest changes, then the smallest, each of them checked itself."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING

from orchestrator.model import Alternative
from orchestrator.support import spans
from orchestrator.support.axes import is_version
from orchestrator.support.said import Said
from orchestrator.vocabulary import Verdict

if TYPE_CHECKING:
    from orchestrator.support.check import Support

_MOST = 5  # alternatives told
_TRIES = 1500  # combinations checked
_NEAR = 14  # values tried of each axis when two change together
# What a user can change; a card, an architecture and a machine are what they are.
_CHANGEABLE = (
    *("torch_build", "torch", "python", "driver", "driver_cuda", "cuda_compat", "channel", "numpy", "torchvision"),
    *("torchaudio", "torch_tensorrt", "tensorrt", "triton", "ipex", "openvino", "cuda_runtime", "container_cuda"),
    *("cudnn", "cudnn_runtime", "nccl", "nccl_installed", "rocm_userspace", "amdgpu_driver", "intel_sycl_rt", "oneapi"),
    *("distro", "base", "glibc", "wheel_platform", "kernel_modules", "partition", "hsa_override", "require_check"),
)
_TOGETHER = (("torch", "torch_build"), ("torch", "channel"), ("channel", "torch_build"), ("torch", "python"))


def find_nearest(
    support: "Support",
    combination: Mapping[str, object],
    verdict: Verdict,
    reasons: Sequence[Said],
    missing: Sequence[str],
) -> tuple[Alternative, ...]:
    """At most a handful of changes that make the combination supported (or, from worse, degraded)."""
    if verdict is Verdict.SUPPORTED:
        return ()
    search = _Search(support, combination, verdict, reasons, missing)
    found = list(search.single())
    if not any(each.verdict is Verdict.SUPPORTED for each in found):
        found += search.double()
    found.sort(key=lambda each: (each.verdict is not Verdict.SUPPORTED, len(each.change)))
    return tuple(found[:_MOST])


class _Search:
    def __init__(
        self,
        support: "Support",
        combination: Mapping[str, object],
        verdict: Verdict,
        reasons: Sequence[Said],
        missing: Sequence[str],
    ) -> None:
        self._support = support
        self._combination = combination
        self._good = {Verdict.SUPPORTED, Verdict.DEGRADED} - {verdict}
        self._tries = 0
        deciding = [axis for each in reasons if each.verdict is verdict for axis in each.axes]
        said = dict.fromkeys((*deciding, *missing))
        linked = [axis for axis in ("torch", "torch_build") if set(said) & {"torch", "torch_build"}]
        self._axes = [axis for axis in _CHANGEABLE if axis in said or axis in linked]
        self._candidates = {axis: list(self._values(axis)) for axis in self._axes}

    def single(self) -> Iterator[Alternative]:
        """For each axis the nearest of its values that works."""
        for axis in self._axes:
            if best := self._best([{axis: value} for value in self._candidates[axis]]):
                yield best

    def double(self) -> list[Alternative]:
        """Pairs of axes, those that belong together first."""
        pairs = [pair for pair in _TOGETHER if set(pair) <= set(self._axes)]
        pairs += [pair for pair in combinations(self._axes, 2) if pair not in pairs]
        found: list[Alternative] = []
        for first, second in pairs:
            near = [self._candidates[axis][:_NEAR] for axis in (first, second)]
            both = sorted(product(enumerate(near[0]), enumerate(near[1])), key=lambda at: at[0][0] + at[1][0])
            if best := self._best([{first: a[1], second: b[1]} for a, b in both]):
                found.append(best)
            if len(found) >= _MOST or self._tries > _TRIES:
                break
        return found

    def _best(self, changes: Sequence[dict[str, str]]) -> Alternative | None:
        """The first change that is supported, else the first that is degraded."""
        second: Alternative | None = None
        for change in changes:
            self._tries += 1
            if self._tries > _TRIES:
                break
            changed = {**self._combination, **change}
            verdict = self._support.verdict(changed)
            if verdict is Verdict.SUPPORTED:
                return Alternative(change=change, verdict=verdict)
            if second is None and verdict in self._good:
                second = Alternative(change=change, verdict=verdict)
        return second

    def _values(self, axis: str) -> Iterator[str]:
        """The values of an axis from the nearest on; of two as near, the newer first."""
        known = self._support.facts.choices(axis)
        asked = self._combination.get(axis)
        if not is_version(axis) or not isinstance(asked, str):
            build = str(self._combination.get("torch_build", ""))
            same = [value for value in known if axis == "torch_build" and value[:2] == build[:2]]
            return iter(
                [*reversed(same), *(value for value in reversed(known) if value not in same and value != asked)]
            )
        question = self._support.question({axis: asked})
        value = question.values.get(axis)
        at = spans.lowest(value.spans) if value else ()
        tag = value.tag if value else ""
        same = [each for each in known if each.endswith("t") == bool(tag)]
        below = [each for each in same if spans.lowest(spans.read(each.removesuffix("t"))) < at]
        above = [each for each in same if spans.lowest(spans.read(each.removesuffix("t"))) > at]
        return _outwards(below[::-1], above)


def _outwards(below: Sequence[str], above: Sequence[str]) -> Iterator[str]:
    for place in range(max(len(below), len(above))):
        if place < len(above):
            yield above[place]
        if place < len(below):
            yield below[place]
