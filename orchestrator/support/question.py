"""What was asked: the value of each axis, which of them follow from others, and what could not be read."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from orchestrator.support.axes import INHERENT, VENDOR_OF
from orchestrator.support.conditions import Value


class Question(Struct):
    """The values of a combination. `origin` names, for an axis that was not given, the given axes that it follows from.

    It is filled by `reading.py` and `derive.py` and changed by nothing afterwards. `texts` and `told` say the same in
    the form that rules are looked up by: the text of each value, and the axes that are no mere default. An `undecided`
    axis was not given and still may be: no default is assumed for it. `contradictions` are (axis, other axis, the value
    that the other asks for); `own_build` is the build that a torch version names itself.
    """

    values: dict[str, Value]
    origin: dict[str, tuple[str, ...]]
    scope: frozenset[str]
    ignored: tuple[str, ...]
    nightly: bool = False
    own_build: str = ""
    undecided: frozenset[str] = frozenset()
    contradictions: tuple[tuple[str, str, str], ...] = ()
    texts: Mapping[str, str] = {}
    told: frozenset[str] = frozenset()

    def given(self, axes: Iterable[str]) -> tuple[str, ...]:
        """The axes that were given among these, or that these follow from, each once and in order."""
        found: dict[str, None] = {}
        for axis in axes:
            if (sources := self.origin.get(axis)) is not None:
                found.update(dict.fromkeys(sources))
            elif axis in self.values:
                found[axis] = None
        return tuple(found)

    def derive(self, axis: str, value: Value, sources: tuple[str, ...]) -> None:
        """Adds what follows from other axes; what was given stays."""
        if axis not in self.values:
            self.values[axis] = value
            self.origin[axis] = self.given(sources)

    def close(self) -> None:
        """Nothing is added any more."""
        self.texts = {axis: value.text for axis, value in self.values.items()}
        self.told = frozenset(axis for axis in self.values if self.origin.get(axis) != ())

    def may_have(self, axis: str) -> bool:
        """Whether an axis that was not given may still be there, with a value that nobody told."""
        if axis not in INHERENT:
            return axis in self.undecided
        vendor = self.values.get("gpu_vendor")
        return axis not in VENDOR_OF or (vendor is not None and VENDOR_OF[axis] in vendor.words)
