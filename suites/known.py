"""Known issues of torch that a load excuses: each with its reason, its link, the one error it stands for, an end."""

from __future__ import annotations

import datetime as dt
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Iterator

import pytest

from suites.numerics import TooFarError


@dataclass(frozen=True)
class KnownIssue:
    """An error against fp64 that torch is known to have; `most` of the result's size, a larger one is another one.

    After the day `until` somebody must look again: the case fails until the listing is renewed or taken out.
    """

    because: str
    link: str
    most: float
    until: dt.date


class KnownError(Exception):
    """The error that a known issue stands for: what the case is expected to fail with, and nothing else."""


@contextmanager
def excused(request: pytest.FixtureRequest, issue: KnownIssue) -> Iterator[None]:
    """The case is expected to fail with the issue's error in here; with another one, or with none, it is a failure."""
    if _today() > issue.until:
        raise AssertionError(
            f"the known issue is past its date, {issue.until}: renew it, or take it out: {issue.link} ({issue.because})"
        )
    reason = f"{issue.link} (until {issue.until}): {issue.because}"
    request.applymarker(pytest.mark.xfail(raises=KnownError, strict=True, reason=reason))
    try:
        yield
    except TooFarError as far:
        if far.error.result > issue.most:
            raise
        raise KnownError(str(far)) from far


def _today() -> dt.date:
    return dt.datetime.now(dt.timezone.utc).date()
