"""A condition and a value: what fits surely, surely not, or in part."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.support import conditions, spans, written
from orchestrator.support.axes import is_version
from orchestrator.support.conditions import Fit, Value

GRID = [".".join(map(str, number)) for length in (1, 2, 3) for number in product(range(4), repeat=length)]
VERSIONS = st.sampled_from([text for text in GRID if text.count(".") < 2])
CLAUSES = st.builds("{}{}".format, st.sampled_from(["", ">=", "<", "<=", ">", "!="]), VERSIONS)
CONDITIONS = st.lists(CLAUSES, min_size=1, max_size=2).map(",".join) | st.lists(CLAUSES, min_size=1, max_size=3).map(
    tuple
)
WORDS = st.text("ab1", min_size=1, max_size=3)
GLOBS = st.text("ab1*?", min_size=1, max_size=3)


def version(text: str, axis: str = "torch") -> Value:
    value = written.version(axis, text)
    assert value is not None
    return value


def fit(axis: str, text: str, condition: Any) -> Fit:
    value = version(text, axis) if is_version(axis) else Value(text, words=(text,))
    return conditions.fit(value, conditions.read(axis, condition))


def sampled(of: Value) -> list[Value]:
    """Single versions that a value stands for."""
    return [version(text) for text in GRID if spans.within(spans.read(text), of.spans)]


@given(CLAUSES, CONDITIONS)
def test_a_fit_is_sound(asked: str, condition: Any) -> None:
    value = written.version("torch", asked)
    if value is None:  # nothing is below 0
        return
    needed = conditions.read("torch", condition)
    fits = {conditions.fit(one, needed) for one in sampled(value)}
    told = conditions.fit(value, needed)
    assert told is Fit.MAYBE or fits <= {told}


@given(st.lists(WORDS, min_size=1, max_size=3), st.lists(GLOBS, min_size=1, max_size=3).map(tuple))
def test_words_fit_by_the_same_rule(words: list[str], globs: tuple[str, ...]) -> None:
    needed = conditions.read("distro", globs)
    fits = {conditions.fit(Value(word, words=(word,)), needed) for word in words}
    together = conditions.fit(Value("|".join(words), words=tuple(words)), needed)
    assert together == (fits.pop() if len(fits) == 1 else Fit.MAYBE)


@pytest.mark.parametrize(
    ("axis", "asked", "condition", "expected"),
    [
        ("torch", "2.8.0", "2.8", Fit.YES),
        ("torch", "2.80.0", "2.8", Fit.NO),
        ("torch", "2.8", "2.8.0", Fit.MAYBE),
        ("torch", "2.8", ">=2.3,<2.5", Fit.NO),
        ("torch", ">=2.3", ">=2.3,<2.5", Fit.MAYBE),
        ("torch", "2.5.1", ("2.4", "2.5"), Fit.YES),
        ("glibc", "2.34|2.35", ("2.34", "2.35"), Fit.YES),
        ("python", "3.14.1", "!=3.14.1", Fit.NO),
        ("python", "3.13", "3.13", Fit.YES),
        ("python", "3.13t", "3.13", Fit.NO),
        ("python", "3.13", "3.13t", Fit.NO),
        ("python", "3.13t", "3.13t", Fit.YES),
        ("python", "3.13t", ">=3.9", Fit.YES),
        ("python", ">=3.13t", "3.13t", Fit.MAYBE),
        ("python", "3.13", ("3.12", "3.13t"), Fit.NO),
        ("distro", "ubuntu-24.04", "ubuntu-*", Fit.YES),
        ("distro", "ubuntu-24.04", ("debian-12", "ubuntu-24.04"), Fit.YES),
        ("distro", "ubuntu-24.04", "ubuntu-22*", Fit.NO),
        ("distro", "ubuntu-24.04", "*", Fit.YES),
    ],
)
def test_what_fits(axis: str, asked: str, condition: Any, expected: Fit) -> None:
    assert fit(axis, asked, condition) is expected


@pytest.mark.parametrize(
    ("condition", "value", "other", "expected"),
    [
        ("same as torch", "2.8.0", "2.8.0", Fit.YES),
        ("same as torch", "2.8", "2.8.0", Fit.YES),
        ("same as torch", "2.7.1", "2.8.0", Fit.NO),
        ("same as torch", "2.8.0", ">=2.7", Fit.MAYBE),
        ("same as torch", ">=2.7", "2.8.0", Fit.MAYBE),
        ("same as torch", ">=2.9", "2.8.0", Fit.NO),
        ("compatible with torch", "2.8.0", "2.7.0", Fit.YES),
        ("compatible with torch", "2.6.0", "2.7.0", Fit.NO),
        ("compatible with torch", "3.8.0", "2.7.0", Fit.NO),
        ("compatible with torch", ">=2.7", "2.7.0", Fit.MAYBE),
        ("compatible with torch", "2", "2.7", Fit.MAYBE),
        ("at least torch", "3.0.0", "2.7.0", Fit.YES),
        ("at least torch", "2.6.9", "2.7.0", Fit.NO),
    ],
)
def test_two_versions_compared(condition: str, value: str, other: str, expected: Fit) -> None:
    asked = conditions.read("torchvision", condition)
    assert asked.other == "torch"
    assert conditions.fit_other(version(value), asked, version(other)) is expected


def test_two_words_are_the_same_or_not() -> None:
    asked = conditions.read("ext_cxx11_abi", "same as cxx11_abi")
    true, false = Value("true", words=("true",)), Value("false", words=("false",))
    assert conditions.fit_other(true, asked, true) is Fit.YES
    assert conditions.fit_other(true, asked, false) is Fit.NO


def test_a_word_is_neither_above_nor_below_a_version() -> None:
    asked = conditions.read("nccl", "compatible with cuda_runtime")
    assert conditions.fit_other(Value("a", words=("a",)), asked, version("12.4")) is Fit.MAYBE


@pytest.mark.parametrize("condition", ["newest", "2.8 and up", ">=", ("2.8", "two"), "2.8t"])
def test_what_is_no_condition_on_versions_is_an_error(condition: Any) -> None:
    with pytest.raises(ValueError, match="version"):
        conditions.read("torch", condition)
