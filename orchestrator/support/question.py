"""What was asked: the value of each axis, which of them follow from others, and what could not be read."""

from collections.abc import Mapping

from msgspec import Struct

from orchestrator.support.axes import INHERENT, VENDOR_OF
from orchestrator.support.conditions import Value


class Question(Struct):
    """The values of a combination. `origin` names, for an axis that was not given, the given axes that it follows from.

    It is filled by `reading.py` and `derive.py` and changed by nothing afterwards.
    """

    values: dict[str, Value]
    origin: dict[str, tuple[str, ...]]
    scope: frozenset[str]
    ignored: tuple[str, ...]
    nightly: bool = False

    def given(self, axes: tuple[str, ...] | list[str]) -> tuple[str, ...]:
        """The axes that were given among these, or that these follow from, each once and in order."""
        return tuple(dict.fromkeys(name for axis in axes for name in self._sources(axis)))

    def _sources(self, axis: str) -> tuple[str, ...]:
        if axis in self.origin:
            return self.origin[axis]
        return (axis,) if axis in self.values else ()

    def derive(self, axis: str, value: Value, sources: tuple[str, ...]) -> None:
        """Adds what follows from other axes; what was given stays."""
        if axis not in self.values:
            self.values[axis] = value
            self.origin[axis] = self.given(sources)

    def is_told(self, axis: str) -> bool:
        """Whether an axis was given or follows from one that was; a default was not told."""
        return axis in self.values and self.origin.get(axis) != ()

    def may_have(self, axis: str) -> bool:
        """Whether an axis that was not given may still be there, with a value that nobody told."""
        if axis not in INHERENT:
            return False
        vendor = self.values.get("gpu_vendor")
        return axis not in VENDOR_OF or (vendor is not None and VENDOR_OF[axis] in vendor.words)

    def shown(self) -> Mapping[str, str]:
        """Axis -> text of its value, for sentences."""
        return {axis: value.text for axis, value in self.values.items()}
