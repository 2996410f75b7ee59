from typing import Any

import pytest

from orchestrator.matrix.conditions import CONDITION, cell_axis


@pytest.mark.parametrize(
    ("snippet", "condition"),
    [
        ("{torch_build: cu*|rocm*}", {"torch_build": "cu*|rocm*"}),
        ("{torch: '>=2.6,<3', python: 3.1?}", {"torch": ">=2.6,<3", "python": "3.1?"}),
        ("{torch: '<2.6 | >=2.13'}", {"torch": "<2.6 | >=2.13"}),
        ("{image: 'nvcr.io/nvidia/pytorch@sha256:*'}", {"image": "nvcr.io/nvidia/pytorch@sha256:*"}),
    ],
)
def test_what_is_read(read: Any, snippet: str, condition: dict[str, str]) -> None:
    assert read(CONDITION, snippet) == condition


@pytest.mark.parametrize(
    ("snippet", "problem"),
    [
        ("{}", "m:1:1: `key` is empty: it would hold for every cell"),
        ("torch", "m:1:1: `key` takes a mapping, not text"),
        ("{troch: x}", "m:1:2: no axis is named `troch`, did you mean `torch`?"),
        ("{zzz: x}", "m:1:2: no axis is named `zzz`"),
        ("{glibc: x}", "m:1:2: `glibc` is an axis that no cell sets: only `torchmatrix check` reads it"),
        ("{torch: '>=two'}", "m:1:9: `torch` is `>=two`: `>=two` is not a version range such as >=2.14,<3"),
        ("{torch: '2|=2'}", "m:1:9: `torch` is `2|=2`: `=2` is not a version range such as >=2.14,<3"),
        ("{torch: [x]}", "m:1:9: `torch` takes text, not a list"),
    ],
)
def test_what_is_told(told: Any, snippet: str, problem: str) -> None:
    assert told(CONDITION, snippet) == [problem]


@pytest.mark.parametrize("pattern", ["", "$(id)", "`id`", "a\\nb", "{{x}}", "x;y", "é", "x" * 201])
def test_what_is_no_pattern(told: Any, pattern: str) -> None:
    (problem,) = told(CONDITION, f'{{torch: "{pattern}"}}')
    assert problem.endswith("it takes a glob such as cu*, alternatives with |, or a version range such as >=2.14")


def test_cell_axis_is_one_that_a_cell_sets() -> None:
    assert cell_axis("driver") == "driver"
