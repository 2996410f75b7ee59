"""The environment: is what was asked for there, and does the device compute at all?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Dict

import pytest

from suites import backends
from suites.bundle import ENVIRONMENT
from suites.exits import MISMATCH
from suites.observe import COMPANIONS
from suites.versions import agrees

if TYPE_CHECKING:
    from suites.bench import Bench


@pytest.mark.parametrize("axis", ["torch", "torch_build", "python"])
def test_requested_is_observed(bench: Bench, axis: str) -> None:
    """The version that was asked for is the one that is here."""
    wanted = bench.cell.axes.get(axis)
    if wanted is None:
        pytest.skip(f"not applicable: the cell does not say its {axis}")
    observed = _observed(bench).get(axis, "none")
    assert agrees(wanted, observed), f"{MISMATCH}: {axis} {wanted} was requested, {observed} is here"


def test_companions(bench: Bench) -> None:
    """Each companion that was asked for is here, in its version."""
    observed = _observed(bench)
    wanted = {axis: bench.cell.axes[axis] for axis in COMPANIONS if axis in bench.cell.axes}
    wrong = [
        f"{axis} {version} was requested, {observed.get(axis, 'none')} is here"
        for axis, version in wanted.items()
        if not agrees(version, observed.get(axis, "none"))
    ]
    assert not wrong, f"{MISMATCH}: {'; '.join(wrong)}"


def test_device_health(bench: Bench) -> None:
    """A tiny exact computation on each device."""
    bench.device.health()


def test_backend_known(bench: Bench) -> None:
    """The compile backend is registered with torch."""
    backends.ready(bench.backend)


def _observed(bench: Bench) -> Dict[str, str]:
    axes: Dict[str, str] = json.loads((bench.bundle.folder / ENVIRONMENT).read_text(encoding="utf-8"))["axes"]
    return axes
