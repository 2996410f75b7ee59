"""The environment: is what was asked for there, and does the device compute at all?"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Dict

import pytest

from suites import backends
from suites.bundle import ENVIRONMENT
from suites.devices import NEVER_RUN, experience
from suites.exits import MISMATCH
from suites.formulas import COPIED, MATMUL, TRAFFIC
from suites.observe import COMPANIONS
from suites.versions import agrees
from suites.work import Labels

if TYPE_CHECKING:
    from suites.bench import Bench

NEEDED = 256 << 20  # bytes, for libraries and their workspaces, beside the problems
_MEASURED = {"sustained": ("median", MATMUL), "copy": ("max", TRAFFIC), "unchecked": ("exact", "")}
"""How figures of the deep check become one (the median of the last rounds, the fastest of several copies), and what is
counted in them."""
DEEP_S = float(os.environ.get("SUITES_DEEP_HEALTH_S", "60"))


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
    wanted = {axis: bench.cell.axes[axis] for axis in COMPANIONS if axis in bench.cell.axes}
    if not wanted:
        pytest.skip("not applicable: the cell names no companion")
    observed = _observed(bench)
    wrong = [
        f"{axis} {version} was requested, {observed.get(axis, 'none')} is here"
        for axis, version in wanted.items()
        if not agrees(version, observed.get(axis, "none"))
    ]
    assert not wrong, f"{MISMATCH}: {'; '.join(wrong)}"


def test_device_health(bench: Bench) -> None:
    """A tiny exact computation on each device, and room for what this run needs. Notes are told, they fail nothing."""
    told = bench.device.health(needed=NEEDED + 16 * 8 * bench.size * bench.size)
    if experience(bench.device) == NEVER_RUN:
        told.append(f"{bench.device.__name__.rsplit('.', 1)[-1]} adapter: {NEVER_RUN}")
    bench.note(*told)


@pytest.mark.profile("deep")
def test_deep_health(bench: Bench) -> None:
    """A minute under load: finds the device that fails or throttles only then."""
    found = bench.device.deep_health(DEEP_S)
    for figure in found.figures:
        labels = Labels(f"health.{figure.metric}", figure.of, "mixed", "none", "1")
        direction = "lower" if figure.metric == "unchecked" else "higher"
        statistic, formula = _MEASURED.get(figure.metric, ("max", COPIED))
        more = {"direction": direction, "timer": "perf_counter", "statistic": statistic, "formula": formula}
        bench.row(labels, figure.metric, figure.value, figure.unit, **more)
        bench.note(f"{figure.metric} {figure.of} {figure.value:.3g} {figure.unit}")
    bench.note(*found.notes)
    assert not found.findings, found.findings[0] + "".join(f"\n{line}" for line in found.findings[1:])


def test_backend_known(bench: Bench) -> None:
    """The compile backend is registered with torch."""
    if bench.backend == "eager":
        pytest.skip("not applicable: eager is no compile backend")
    backends.ready(bench.backend)


def _observed(bench: Bench) -> Dict[str, str]:
    axes: Dict[str, str] = json.loads((bench.bundle.folder / ENVIRONMENT).read_text(encoding="utf-8"))["axes"]
    return axes
