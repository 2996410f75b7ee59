"""The nearest combinations that work: the fewest changes, then the smallest, each of them checked itself."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

from orchestrator.model import Alternative
from orchestrator.support import choices
from orchestrator.support.choices import Asked
from orchestrator.support.said import Said
from orchestrator.vocabulary import WORKS, Verdict

_MOST = 5  # alternatives told
_TRIES = 700  # combinations checked
_NEAR = 12  # values tried of each axis when two change together
_TOGETHER = (("torch_build", "torch"), ("channel", "torch_build"), ("channel", "torch"), ("torch", "triton"))
# What was said of the same component in another way changes with it.
_GOES_WITH: Mapping[str, tuple[str, ...]] = {
    "driver": ("driver_cuda",),
    "distro": ("glibc", "libc"),
    "base": ("glibc", "libc", "distro"),
    "torch": ("torch_arch_list", "intel_sycl_rt"),
    "torch_build": ("torch_arch_list", "cuda_runtime", "rocm_userspace"),
}
_ANY = "any"


def find_nearest(
    support: Asked,
    combination: Mapping[str, object],
    verdict: Verdict,
    reasons: Sequence[Said],
    missing: Sequence[str],
) -> tuple[Alternative, ...]:
    """At most a handful of changes that make the combination supported (or, from worse, degraded)."""
    if verdict is Verdict.SUPPORTED:
        return ()
    deciding = [axis for each in reasons if each.verdict is verdict for axis in each.axes]
    search = _Search(support, combination, verdict, choices.changeable(combination, (*deciding, *missing)))
    found = [*search.alone(), *search.together()]
    if not any(each.verdict is Verdict.SUPPORTED for each in found):
        found += search.pairs()
    found = [each for each in found if not any(_more_than(each, other) for other in found)]
    found.sort(key=lambda each: (each.verdict is not Verdict.SUPPORTED, len(each.change)))
    return tuple(found[:_MOST])


def _more_than(each: Alternative, other: Alternative) -> bool:
    """Whether an alternative only changes more than another that is as good."""
    good = other.verdict is Verdict.SUPPORTED or each.verdict is not Verdict.SUPPORTED
    return good and each.change.items() > other.change.items()


def whole(support: Asked, combination: Mapping[str, object], change: Mapping[str, str]) -> dict[str, str]:
    """The change with what was said of the changed components in another way: a new driver has a new CUDA level."""
    follows = {
        name for axis in change for name in _GOES_WITH.get(axis, ()) if name in combination and name not in change
    }
    if not follows:
        return dict(change)
    values = support.question(change).values
    return {**change, **{name: values[name].text if name in values else _ANY for name in sorted(follows)}}


class _Search:
    def __init__(
        self, support: Asked, combination: Mapping[str, object], verdict: Verdict, axes: Sequence[str]
    ) -> None:
        self._support = support
        self._combination = combination
        self._good = WORKS - {verdict}
        self._tries = 0
        self._axes = axes
        self._values = {axis: tuple(choices.values(support, combination, axis)) for axis in axes}
        self._tried: set[tuple[str, ...]] = set()

    def alone(self) -> Iterator[Alternative]:
        """For each axis the nearest of its values that works."""
        for axis in self._axes:
            if best := self._best({axis: value} for value in self._values[axis]):
                yield best

    def together(self) -> Iterator[Alternative]:
        """The pairs of axes that belong together."""
        for pair in _TOGETHER:
            if set(pair) <= set(self._axes) and (best := self._pair(pair)):
                yield best

    def pairs(self) -> list[Alternative]:
        """Any other pair of axes."""
        found: list[Alternative] = []
        for pair in combinations(self._axes, 2):
            if len(found) < _MOST and self._tries < _TRIES and (best := self._pair(pair)):
                found.append(best)
        return found

    def _pair(self, pair: tuple[str, str]) -> Alternative | None:
        key = tuple(sorted(pair))
        if key in self._tried:
            return None
        self._tried.add(key)
        near = [enumerate(choices.apart(axis, self._values[axis])[:_NEAR]) for axis in pair]
        both = sorted(product(*near), key=lambda at: at[0][0] + at[1][0])
        return self._best({pair[0]: first[1], pair[1]: second[1]} for first, second in both)

    def _best(self, changes: Iterator[dict[str, str]]) -> Alternative | None:
        """The first change that is supported, else the first that is degraded."""
        second: Alternative | None = None
        for change in changes:
            self._tries += 1
            if self._tries > _TRIES:
                break
            made = whole(self._support, self._combination, change)
            verdict = self._support.verdict({**self._combination, **made})
            if verdict is Verdict.SUPPORTED:
                return Alternative(change=made, verdict=verdict)
            if second is None and verdict in self._good:
                second = Alternative(change=made, verdict=verdict)
        return second
