from typing import Any

import pytest

from orchestrator.matrix.axis_values import AXES_SECTION, by_axis
from orchestrator.matrix.interactions import INTERACTIONS, check_axes
from orchestrator.matrix.problems import Problems


def test_plain_names_are_pairs_and_mappings_have_their_own_strength(read: Any) -> None:
    plain, mixed = read(INTERACTIONS, "[torch, torch_build, {axes: [torch, python, driver], strength: 3}]")
    assert (plain.axes, plain.strength, str(plain.place)) == (("torch", "torch_build"), 2, "m:1:1")
    assert (mixed.axes, mixed.strength, str(mixed.place)) == (("torch", "python", "driver"), 3, "m:1:22")
    (pairs,) = read(INTERACTIONS, "[{axes: [torch, python]}]")
    assert pairs.strength == 2
    assert read(INTERACTIONS, "[]") == ()


@pytest.mark.parametrize(
    ("snippet", "problems"),
    [
        ("torch", ["m:1:1: `key` takes a list of axes, not text"]),
        ("[torch]", ["m:1:1: 1 axes have no combinations of 2 values"]),
        ("[torch, pyhon]", ["m:1:9: `key` is `pyhon`: no axis is named `pyhon`, did you mean `python`?"]),
        ("[torch, python, torch]", ["m:1:17: `torch` is given twice in `key`"]),
        ("[{axes: [torch, python], strength: 3}]", ["m:1:2: 2 axes have no combinations of 3 values"]),
        ("[{axes: [torch, python], strength: 1}]", ["m:1:36: `strength` is `1`: it must be from 2 to 6"]),
        ("[{axes: torch}]", ["m:1:9: `axes` takes a list of axes, not text"]),
        ("[{axis: [torch, python]}]",
         ["m:1:2: `axes` is missing in `key` (the axes that are combined)",
          "m:1:3: `key` has no key `axis`, did you mean `axes`?"]),
        ("[[torch, python]]", ["m:1:2: `key` takes a mapping, not a list"]),
        ("[torch, distro]",
         ["m:1:9: `key` is `distro`: `distro` is an axis that no cell sets: only `torchmatrix check` reads it"]),
    ],
)  # fmt: skip
def test_what_is_told(told: Any, snippet: str, problems: list[str]) -> None:
    assert told(INTERACTIONS, snippet) == problems


def test_an_axis_without_values_is_told(read: Any) -> None:
    values = by_axis(read(AXES_SECTION, "torch: [2.6.0]"))
    problems = Problems()
    check_axes(read(INTERACTIONS, "[torch, python]"), values, problems)
    with pytest.raises(Exception, match=r"m:1:1: `pairwise` combines `python`, which has no values"):
        problems.raise_any()
