"""The values: frozen, compared by content, complete after a trip through JSON."""

import inspect
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import formats, model, vocabulary
from orchestrator.model import Attempt, Case, Exit, Log, Place, Plan
from orchestrator.vocabulary import Outcome, Purpose, Step

STRUCTS = [
    value
    for module in (model, formats)
    for value in vars(module).values()
    if inspect.isclass(value) and issubclass(value, msgspec.Struct) and value.__module__.startswith(module.__name__)
]
SETS = [
    value for value in vars(vocabulary).values() if inspect.isclass(value) and value.__module__ == vocabulary.__name__
]


@pytest.mark.parametrize("kind", STRUCTS, ids=lambda kind: kind.__name__)
def test_every_value_is_frozen_and_named(kind: type[msgspec.Struct]) -> None:
    assert kind.__struct_config__.frozen
    with pytest.raises(TypeError):
        kind("positional")


@pytest.mark.parametrize("kind", STRUCTS, ids=lambda kind: kind.__name__)
def test_no_value_holds_a_list_or_a_dict_that_could_change(kind: type[msgspec.Struct]) -> None:
    named = {field.name: str(field.type) for field in msgspec.structs.fields(kind)}
    assert not {name for name, shown in named.items() if shown.startswith(("list[", "dict[", "set["))}


def test_there_are_values_and_sets_to_test() -> None:
    assert len(STRUCTS) > 30
    assert {kind.__name__ for kind in SETS} >= {"Status", "Cause", "Outcome", "Tier", "Purpose", "Step"}


@pytest.mark.parametrize("kind", SETS, ids=lambda kind: kind.__name__)
def test_a_closed_set_is_written_in_small_words(kind: type[Any]) -> None:
    # What a comparison comes to is shouted, as its neighbours do: PASS, FAIL.
    written = [member.value.lower() if kind is vocabulary.ComparisonVerdict else member.value for member in kind]
    assert written == [value.lower().strip() for value in written]
    assert len({member.value for member in kind}) == len(kind)


def test_the_statuses_are_those_that_reports_and_scripts_know() -> None:
    assert [status.value for status in vocabulary.Status] == [
        "passed", "failed", "crashed", "crashed-at-exit", "timeout", "oom", "mismatch", "fell-back", "error",
        "unplaced", "unsupported", "cancelled", "not-run",
    ]  # fmt: skip


def test_a_place_is_said_as_an_editor_takes_it() -> None:
    assert str(Place(file="matrix.yaml", line=4, column=7)) == "matrix.yaml:4:7"


def test_a_value_cannot_be_changed() -> None:
    place = Place(file="matrix.yaml", line=4, column=7)
    with pytest.raises(AttributeError):
        place.line = 5  # type: ignore[misc]


LEGAL = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
EXITS = st.builds(
    Exit,
    code=st.none() | st.integers(0, 255),
    signal=st.none() | st.integers(1, 64),
    oom=st.booleans(),
    timed_out=st.booleans(),
    problem=LEGAL,
    step=st.none() | st.sampled_from(Step),
    duration_s=st.floats(0, 1e9),
    files=st.lists(LEGAL, max_size=3).map(tuple),
    log=st.builds(Log, head=LEGAL, tail=LEGAL, bytes=st.integers(0, model.LARGEST)),
)
ATTEMPTS = st.builds(
    Attempt,
    cell=st.just("torch2.13.0-cpu-5f1c09aa"),
    number=st.integers(1, 99),
    purpose=st.sampled_from(Purpose),
    exit=EXITS,
)


@given(ATTEMPTS)
def test_an_attempt_is_the_same_after_a_trip_through_json(attempt: Attempt) -> None:
    assert msgspec.json.decode(msgspec.json.encode(attempt), type=Attempt) == attempt


@given(
    st.builds(
        Case, name=LEGAL, outcome=st.sampled_from(Outcome), message=LEGAL, duration_s=st.none() | st.floats(0, 1e9)
    )
)
def test_a_case_is_the_same_after_a_trip_through_json(case: Case) -> None:
    assert msgspec.json.decode(msgspec.json.encode(case), type=Case) == case


@pytest.mark.parametrize("cell", ["", "..", "../x", "-x", ".x", "a/b", "a b", "x" * 128, "a\n", "a:b"])
def test_no_cell_is_named_what_could_be_a_path_or_an_option(cell: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode({"cell": cell, "number": 1, "exit": {}}), type=Attempt)


def test_what_an_older_program_does_not_know_is_let_by() -> None:
    plan = {"matrix": "m", "cells": [], "left_out": [], "later": 1}
    cost = {
        "cells": 0,
        "placed": 0,
        "unplaced": 0,
        "images": 0,
        "minutes": 0,
        "gpu_hours": 0,
        "money": 0,
        "build_bytes": 0,
    }
    assert msgspec.json.decode(msgspec.json.encode(plan | {"cost": cost}), type=Plan).cells == ()
