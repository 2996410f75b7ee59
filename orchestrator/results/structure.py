"""Structure: how two cells differ in what they did, exactly and from one run a side. Time is not compared here.

What is compared are counts and members, so a kernel that only has another name is no difference. Operators are aligned
by their scope (operator and shapes), fused kernels by their members.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from orchestrator.formats import LoadStructure, OperatorScope, StructureFile
from orchestrator.results import fingerprints
from orchestrator.results.change import ChangeKind, StructureChange
from orchestrator.results.fusion import Members, regroupings

SUMMED = frozenset({"housekeeping", "outside operators", "other"})
"""Scopes of the suite that are no operator."""

FUSED = "fused "  # what the scope of a fused kernel begins with
COLLECTIVES = ("c10d::", "_c10d_functional::", "c10d_functional::")


def differences(before: StructureFile, after: StructureFile) -> tuple[StructureChange, ...]:
    """Every difference, load by load in the order of their names; of equal files none.

    A side without any load was not profiled: then nothing is said of loads, and likewise of fingerprints.
    """
    left, right = ({_name(load): load for load in side.loads} for side in (before, after))
    found: list[StructureChange] = []
    for name in sorted(left.keys() | right.keys() if left and right else ()):
        one, other = left.get(name), right.get(name)
        if one is None or other is None:
            kind, told = (ChangeKind.NEW_LOAD, "new") if one is None else (ChangeKind.LOST_LOAD, "not run any more")
            found.append(
                StructureChange(kind=kind, load=name, scope="", before=(), after=(), sentence=f"{name}: {told}")
            )
        else:
            found += _of_load(name, one, other)
    return (*found, *fingerprints.differences(before.fingerprints, after.fingerprints))


def marked(changes: Iterable[StructureChange], same_image: Iterable[StructureChange]) -> tuple[StructureChange, ...]:
    """The changes, with those marked unstable that two runs of one image differ in as well."""
    shaky = {(change.load, change.scope) for change in same_image}
    return tuple(
        msgspec.structs.replace(change, unstable=change.unstable or (change.load, change.scope) in shaky)
        for change in changes
    )


def _of_load(name: str, one: LoadStructure, other: LoadStructure) -> Iterator[StructureChange]:
    scopes = _Scopes(name, one, other)
    yield from _of_work(name, one, other)
    yield from _of_fusion(scopes, one, other)
    yield from _of_operators(scopes)
    yield from _of_compiling(name, one, other)
    shaky = bool(one.unstable or other.unstable)
    for kind, before, after in (
        (ChangeKind.LAUNCHES, one.launches, other.launches),
        (ChangeKind.COPIES, one.copies, other.copies),
    ):
        if before != after:
            told = f"{name}: {before} {kind} a step became {after}"
            yield _load_change(kind, name, (str(before),), (str(after),), told, unstable=shaky)
    yield from _of_fallbacks(name, one, other)


def _of_fallbacks(name: str, one: LoadStructure, other: LoadStructure) -> Iterator[StructureChange]:
    """What one side lacks is a difference only where that side knows all of its own."""
    before, after = one.fallbacks or (), other.fallbacks or ()
    more = () if one.fallbacks_unknown else sorted(set(after) - set(before))
    fewer = () if other.fallbacks_unknown else sorted(set(before) - set(after))
    if more or fewer:
        told = f"ran elsewhere than asked: {', '.join(more)}" if more else "fewer operators ran elsewhere than asked"
        yield _load_change(ChangeKind.FALLBACKS, name, before, after, f"{name}: {told}")


def _of_work(name: str, one: LoadStructure, other: LoadStructure) -> Iterator[StructureChange]:
    """Another number of operations, counted alike, is another computation: all else of the load says little then."""
    if one.formula and one.formula == other.formula and one.flops != other.flops:
        told = f"{name}: {one.flops} operations a step became {other.flops}: it is not the same work any more"
        yield _load_change(ChangeKind.WORK, name, (str(one.flops),), (str(other.flops),), told)


def _of_compiling(name: str, one: LoadStructure, other: LoadStructure) -> Iterator[StructureChange]:
    if one.graphs != other.graphs:
        told = f"{name}: {one.graphs} graphs became {other.graphs}"
        yield _load_change(ChangeKind.GRAPHS, name, (str(one.graphs),), (str(other.graphs),), told)
    for kind, before, after, reasons, others in (
        (ChangeKind.GRAPH_BREAKS, one.graph_breaks, other.graph_breaks, one.break_reasons, other.break_reasons),
        (ChangeKind.RECOMPILES, one.recompiles, other.recompiles, one.recompile_reasons, other.recompile_reasons),
    ):
        new = sorted(set(others) - set(reasons))
        if before != after or set(reasons) != set(others):
            told = f"{name}: {before} {kind} became {after}{': ' if new else ''}{'; '.join(new)}"
            yield _load_change(kind, name, (str(before), *reasons), (str(after), *others), told)


def _of_fusion(scopes: "_Scopes", one: LoadStructure, other: LoadStructure) -> Iterator[StructureChange]:
    alone = [{_operator(scope) for scope in side} for side in (scopes.before, scopes.after)]
    found = regroupings(one.fused, other.fused, frozenset(alone[0] - alone[1]), frozenset(alone[1] - alone[0]))
    for change in found:
        before, after = tuple(map(_told, change.before)), tuple(map(_told, change.after))
        scope = FUSED + _told(tuple(sorted({name for kernel in (*change.before, *change.after) for name in kernel})))
        told = (
            f"{' and '.join(before) or 'no kernel of its own'} became {' and '.join(after) or 'no kernel of its own'}"
        )
        yield StructureChange(
            kind=change.kind,
            load=scopes.load,
            scope=scope,
            before=before,
            after=after,
            sentence=f"{scopes.load}: {change.kind}: {told}",
            share=scopes.share_of_fused(change.before, change.after),
            unstable=scopes.is_unstable(FUSED),
        )


def _of_operators(scopes: "_Scopes") -> Iterator[StructureChange]:
    for name in sorted(scopes.before.keys() | scopes.after.keys()):
        one, other = scopes.before.get(name), scopes.after.get(name)
        if one is not None and other is not None:
            yield from _of_operator(scopes, name, one, other)
        elif not name.startswith(FUSED):  # what became of fused kernels is told by their members
            kind, told = (
                (ChangeKind.NEW_OPERATOR, "is new")
                if one is None
                else (ChangeKind.LOST_OPERATOR, "is not run any more")
            )
            kind = ChangeKind.COLLECTIVES if name.startswith(COLLECTIVES) else kind
            yield scopes.change(kind, name, told)


def _of_operator(scopes: "_Scopes", name: str, one: OperatorScope, other: OperatorScope) -> Iterator[StructureChange]:
    before, after = _launched(one), _launched(other)
    if one.calls != other.calls:
        kind = ChangeKind.COLLECTIVES if name.startswith(COLLECTIVES) else ChangeKind.CALLS
        yield scopes.change(kind, name, f"is called {other.calls} times a step, and was {one.calls} times")
    elif before != after:
        kind = ChangeKind.MORE_KERNELS if after > before else ChangeKind.FEWER_KERNELS
        yield scopes.change(kind, name, f"launches {after} kernels a step, and launched {before}")


class _Scopes:
    """The operators of both sides of one load, by scope; those without a kernel do no work and are left out."""

    def __init__(self, load: str, one: LoadStructure, other: LoadStructure) -> None:
        self.load = load
        self.before, self.after = _working(one), _working(other)
        self._times = (sum(scope.self_ns for scope in one.scopes), sum(scope.self_ns for scope in other.scopes))
        self._unstable = (*one.unstable, *other.unstable)

    def change(self, kind: ChangeKind, name: str, told: str) -> StructureChange:
        one, other = self.before.get(name), self.after.get(name)
        return StructureChange(
            kind=kind,
            load=self.load,
            scope=name,
            before=_kernels(one),
            after=_kernels(other),
            sentence=f"{self.load}: {name} {told}",
            share=max(self._share([one], 0), self._share([other], 1)),
            unstable=self.is_unstable(name),
        )

    def is_unstable(self, beginning: str) -> bool:
        return any(one.startswith(beginning) for one in self._unstable)

    def share_of_fused(self, before: Sequence[Members], after: Sequence[Members]) -> float:
        return max(
            self._share([scope for name, scope in side.items() if _members(name) in kernels], at)
            for at, (side, kernels) in enumerate(((self.before, set(before)), (self.after, set(after))))
        )

    def _share(self, scopes: Iterable[OperatorScope | None], side: int) -> float:
        spent = sum(scope.self_ns for scope in scopes if scope is not None)
        return spent / self._times[side] if self._times[side] else 0.0


def _working(load: LoadStructure) -> Mapping[str, OperatorScope]:
    return {scope.scope: scope for scope in load.scopes if scope.kernels and scope.scope not in SUMMED}


def _launched(scope: OperatorScope) -> int:
    return sum(kernel.count for kernel in scope.kernels)


def _kernels(scope: OperatorScope | None) -> tuple[str, ...]:
    return () if scope is None else tuple(sorted(f"{kernel.count} x {kernel.name}" for kernel in scope.kernels))


def _operator(scope: str) -> str:
    """`mm` of `aten::mm(float32[4x4])`, as a fused kernel names its members."""
    return scope.split("(", 1)[0].rpartition("::")[2]


def _members(scope: str) -> Members:
    return tuple(sorted(scope.removeprefix(FUSED).split("(", 1)[0].split("+"))) if scope.startswith(FUSED) else ()


def _told(members: Members) -> str:
    return "+".join(members)


def _name(load: LoadStructure) -> str:
    return f"{load.load} {load.shapes} {load.precision}"


def _load_change(
    kind: ChangeKind, load: str, before: Sequence[str], after: Sequence[str], told: str, *, unstable: bool = False
) -> StructureChange:
    return StructureChange(
        kind=kind, load=load, scope="", before=tuple(before), after=tuple(after), sentence=told, unstable=unstable
    )
