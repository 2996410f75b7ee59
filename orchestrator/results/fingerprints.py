"""Fingerprints of two cells: which outputs differ, and by how much, as far as the values that were kept tell.

Bits that differ are no error: another order of the same sums gives other last bits. So the size of the difference is
told, in units in the last place of the output's largest value.
"""

import math
from collections.abc import Iterator, Sequence

from orchestrator.formats import Fingerprint
from orchestrator.results.change import ChangeKind, StructureChange

EPSILON = {  # of one unit in the last place, at 1
    "float64": 2.0**-52,
    "float32": 2.0**-23,
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float8_e4m3fn": 2.0**-3,
    "float8_e5m2": 2.0**-2,
}
LAST_BITS = 64.0
"""How many units in the last place are still the last bits; sums in another order differ by fewer on our loads."""


def differences(before: Sequence[Fingerprint], after: Sequence[Fingerprint]) -> Iterator[StructureChange]:
    """The outputs that differ, by load; of a side that kept no fingerprints nothing is said."""
    if not before or not after:
        return
    left, right = ({_key(one): one for one in side} for side in (before, after))
    for key in sorted(left.keys() | right.keys()):
        one, other = left.get(key), right.get(key)
        if one is None or other is None:
            if any(_load(there) == key[0] for there in (before if one is None else after)):
                yield _change(ChangeKind.OUTPUTS, key, _side(one), _side(other), "is there on one side only")
        elif one != other:
            yield _of_output(key, one, other)


def _of_output(key: tuple[str, int], one: Fingerprint, other: Fingerprint) -> StructureChange:
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return _change(ChangeKind.OUTPUTS, key, _side(one), _side(other), "has another dtype or shape")
    if one.nonfinite != other.nonfinite:
        told = f"has {other.nonfinite} values that are not finite, and had {one.nonfinite}"
        return _change(ChangeKind.NOT_FINITE, key, (f"{one.nonfinite}",), (f"{other.nonfinite}",), told)
    units = distance(one, other)
    kind = ChangeKind.LAST_BITS if units <= LAST_BITS else ChangeKind.VALUES
    told = f"differs by {units:.3g} units in the last place of its largest value"
    if units == 0:
        told = "differs in bits; none of the values that were kept does"
    elif math.isinf(units):
        told = "differs in whole values"
    return _change(kind, key, (one.sha256[:12],), (other.sha256[:12],), told)


def distance(one: Fingerprint, other: Fingerprint) -> float:
    """The largest difference that the two tell of, in units in the last place of the largest value; infinite: whole."""
    if one.sha256 == other.sha256:
        return 0.0
    size = max(abs(one.largest), abs(other.largest))
    if len(one.sample) != len(other.sample):
        return math.inf
    pairs = list(zip(one.sample, other.sample, strict=True))
    if any((left is None) != (right is None) for left, right in pairs):
        return math.inf
    apart = [abs(left - right) for left, right in pairs if left is not None and right is not None]
    apart.append(abs(one.largest - other.largest))
    apart.append(abs(one.mean - other.mean))
    # The norm as a share of itself: it grows with the number of values, and so does what their last bits do to it.
    scale = max(one.norm, other.norm, 1e-300) / (size or 1.0)
    apart.append(abs(one.norm - other.norm) / max(1.0, scale))
    most = max(apart)
    if not most:
        return 0.0
    unit = EPSILON.get(one.dtype, 0.0) * size
    return most / unit if unit else math.inf


def _key(one: Fingerprint) -> tuple[str, int]:
    return _load(one), one.output


def _load(one: Fingerprint) -> str:
    return f"{one.load} {one.shapes} {one.precision}"


def _side(one: Fingerprint | None) -> tuple[str, ...]:
    return () if one is None else (f"{one.dtype}[{'x'.join(map(str, one.shape))}]",)


def _change(
    kind: ChangeKind, key: tuple[str, int], before: tuple[str, ...], after: tuple[str, ...], told: str
) -> StructureChange:
    load, output = key
    sentence = f"{load}: output {output} {told}"
    return StructureChange(
        kind=kind, load=load, scope=f"output {output}", before=before, after=after, sentence=sentence
    )
