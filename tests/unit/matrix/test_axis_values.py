from typing import Any

import pytest

from orchestrator.matrix.axis_values import AXES_SECTION, allowed, by_axis


def test_an_axis_is_a_list_a_conditional_list_or_several(read: Any) -> None:
    section = read(
        AXES_SECTION,
        "torch: [2.6.0, 2.10]\n"
        "driver: {when: {torch_build: cu*}, values: ['580']}\n"
        "gpu: [{when: {torch_build: cu*}, values: [H100]}, {when: {torch_build: rocm*}, values: [MI300X]}]\n",
    )
    assert [(entry.axis, entry.values, dict(entry.when)) for entry in section] == [
        ("torch", ("2.6.0", "2.10"), {}),
        ("driver", ("580",), {"torch_build": "cu*"}),
        ("gpu", ("H100",), {"torch_build": "cu*"}),
        ("gpu", ("MI300X",), {"torch_build": "rocm*"}),
    ]
    assert str(section[0].place) == "m:1:8"


@pytest.mark.parametrize(
    ("snippet", "problems"),
    [
        ("[torch]", ["m:1:1: `key` takes a mapping, not a list"]),
        ("torch: []", ["m:1:8: `torch` has no value"]),
        ("torch: 2.6.0", ["m:1:8: `torch` takes a list of values, not text"]),
        ("torch: [2.6.0, [2.7.0]]", ["m:1:16: `torch` takes text as a value, not a list"]),
        ("torch: ['2.6', 2.6.0]", ["m:1:16: `2.6` and `2.6.0` are the same value of `torch`"]),
        ("torch: [2.6.0, 2.6.0]", ["m:1:16: `2.6.0` is given twice for `torch`, first in line 1"]),
        ("driver: ['580', '580.0']", ["m:1:17: `580` and `580.0` are the same value of `driver`"]),
        ("gpu: [H100, h100]", ["m:1:13: `H100` and `h100` are the same value of `gpu`"]),
        ("numpy: {values: [1]}",
         ["m:1:8: `when` is missing in `numpy` (the cells that the values are for: axis -> glob or version range)"]),
        ("gpu: [{when: {torch_build: cu*}, values: [H100]}, MI300X]", ["m:1:51: `gpu` takes a mapping, not text"]),
    ],
)  # fmt: skip
def test_what_is_told(told: Any, snippet: str, problems: list[str]) -> None:
    assert told(AXES_SECTION, snippet) == problems


@pytest.mark.parametrize(
    "snippet", ["torch: [2.6.0, 2.6.1]", "torch: ['2.9', '2.10']", "torch_build: [rocm7.1, rocm7.2]"]
)
def test_values_that_differ_stand_beside_each_other(read: Any, snippet: str) -> None:
    assert len(read(AXES_SECTION, snippet)[0].values) == 2


def test_a_version_may_be_written_as_an_alias(read: Any, told: Any) -> None:
    section = read(AXES_SECTION, "torch: [2.6.0, newest 2.x]\npython: [latest]\ndriver: [newest]")
    assert [entry.values for entry in section] == [("2.6.0", "newest 2.x"), ("latest",), ("newest",)]
    assert told(AXES_SECTION, "torch: [newest 2.x, newest 2.x]") == [
        "m:1:21: `newest 2.x` is given twice for `torch`, first in line 1"
    ]
    assert told(AXES_SECTION, "torch: [newest 2]") == [
        "m:1:9: `newest 2` is not a version as PyPI has it, such as 2.13.0"
    ]
    assert told(AXES_SECTION, "backend: [newest 2.x]") == [
        (
            "m:1:11: `newest 2.x` is not a value of `backend`: it takes "
            "a word of letters, digits, dots, dashes and underscores"
        )
    ]


def test_what_an_alias_will_be_excludes_nothing(read: Any) -> None:
    entries = by_axis(read(AXES_SECTION, "numpy: {when: {torch: '>=2.7'}, values: ['2.0']}"))["numpy"]
    assert allowed(entries, {"torch": "newest 2.x"}) == ("2.0",)
    assert allowed(entries, {"torch": "2.6"}) == ()


def test_the_values_that_a_cell_may_take_depend_on_the_cell(read: Any) -> None:
    section = read(
        AXES_SECTION,
        "gpu: [{when: {torch_build: cu*}, values: [H100]}, {when: {torch_build: rocm*}, values: [MI300X]}]",
    )
    entries = by_axis(section)["gpu"]
    assert allowed(entries, {"torch_build": "cu130"}) == ("H100",)
    assert allowed(entries, {"torch_build": "cpu"}) == ()
    assert allowed(entries, {"image": "sha256:0"}) == ("H100", "MI300X")
