"""Checkpoints: what is saved here comes back bit by bit, and what another cell saved is here what it was there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from suites import checkpoints
from suites.work import Labels

if TYPE_CHECKING:
    from pathlib import Path

    from suites.bench import Bench
    from suites.request import Request

# No compiler has a part in it.
pytestmark = pytest.mark.compiled_from("standard")


def test_round_trip(bench: Bench, request_of_run: Request, tmp_path: Path) -> None:
    """Saved from the device, and loaded to the processor and to the device."""
    exact = checkpoints.content()
    path = request_of_run.save_checkpoint or tmp_path / "checkpoint.pt"
    checkpoints.save(path, {name: one.to(bench.device.place()) for name, one in exact.items()})
    for place in sorted({"cpu", bench.device.place()}):
        found = checkpoints.compare(exact, checkpoints.load(path, place))
        _figures(bench, f"to {place}", found)
        assert found.exact == 1, f"numerics: after a round trip to {place} these differ: {', '.join(found.different)}"
        assert not found.missing, f"numerics: after a round trip to {place} these are lost: {', '.join(found.missing)}"


def test_of_another_cell(bench: Bench, request_of_run: Request) -> None:
    """The checkpoint that was given: what both torches know is the same."""
    if request_of_run.checkpoint is None:
        pytest.skip("not applicable: no checkpoint of another cell was given")
    unsafe = checkpoints.unsafe()
    if unsafe:
        pytest.skip(unsafe)
    theirs = checkpoints.load(request_of_run.checkpoint, bench.device.place())
    found = checkpoints.compare(checkpoints.content(), theirs)
    _figures(bench, "other", found)
    if found.missing or found.unexpected:
        told = f"only here: {', '.join(found.missing) or 'none'}; only there: {', '.join(found.unexpected) or 'none'}"
        bench.note(told)
    assert not found.lost, f"numerics: of the other cell's checkpoint these are lost: {', '.join(found.lost)}"
    share, differ = f"{found.exact:.2%}", ", ".join(found.different)
    assert not differ, f"numerics: {share} of the elements are those of the other cell, these differ: {differ}"


def _figures(bench: Bench, whose: str, found: checkpoints.Comparison) -> None:
    work = Labels(
        f"checkpoint.{whose}", f"{checkpoints.ELEMENTS} of each dtype", "mixed", "none", str(checkpoints.VERSION)
    )
    bench.row(work, "exact_share", found.exact, "fraction", direction="higher")
    bench.row(work, "keys_missing", len(found.missing), "count", direction="equal")
    bench.row(work, "keys_unexpected", len(found.unexpected), "count", direction="equal")
