from collections.abc import Mapping

import pytest

from orchestrator.planning.completion import Completion, GivenUp, bits

VALUES = {"a": ("0", "1"), "b": ("0", "1"), "c": ("0", "1"), "d": ("0", "1")}


def lowest_first(_row: int, options: int) -> list[int]:
    return list(bits(options))


def complete(known: Completion, given: Mapping[str, str], limit: int = 1_000) -> tuple[dict[str, str], int | None]:
    mask = sum(known.bit_of[pair] for pair in given.items())
    row, nogood = known.complete(mask, list(known.axes.values()), lowest_first, limit)
    return known.named(row), nogood


def three_together(partial: Mapping[str, str]) -> str:
    return "three" if {"a": "0", "b": "0", "c": "0"}.items() <= partial.items() else ""


def test_a_row_has_what_was_given_and_the_values_ranked_first() -> None:
    assert complete(Completion(VALUES, lambda _: ""), {"c": "1"}) == ({"a": "0", "b": "0", "c": "1", "d": "0"}, None)


def test_a_refused_row_leaves_the_smallest_part_that_is_refused() -> None:
    known = Completion(VALUES, three_together)
    assert complete(known, {"a": "0", "b": "0"})[0] == {"a": "0", "b": "0", "c": "1", "d": "0"}
    (nogood,) = known.reasons
    assert known.named(nogood) == {"a": "0", "b": "0", "c": "0"}
    assert known.reasons[nogood] == ("three",)


def test_what_is_known_is_not_asked_again() -> None:
    asked: list[Mapping[str, str]] = []

    def refuses(partial: Mapping[str, str]) -> str:
        asked.append(partial)
        return three_together(partial)

    known = Completion(VALUES, refuses)
    complete(known, {"a": "0", "b": "0"})
    before = len(asked)
    assert complete(known, {"a": "0", "b": "0", "c": "0"})[1] is not None
    assert len(asked) == before


def test_a_search_that_fails_gives_the_part_of_the_given_that_made_it_fail() -> None:
    def refuses(partial: Mapping[str, str]) -> str:
        if partial.get("a") == "0" and partial.get("b") == "0":
            return "a with b"
        return "b with c" if partial.get("b") == "1" and partial.get("c") == "1" else ""

    known = Completion(VALUES, refuses)
    row, nogood = complete(known, {"a": "0", "c": "1", "d": "1"})
    assert row == {}
    assert nogood is not None
    assert known.named(nogood) == {"a": "0", "c": "1"}
    assert set(known.reasons[nogood]) == {"a with b", "b with c"}


def test_a_value_refused_by_itself_stands_in_no_row() -> None:
    known = Completion(VALUES, lambda partial: "no b" if partial.get("b") == "0" else "")
    assert complete(known, {})[0]["b"] == "1"
    _, nogood = complete(known, {"b": "0", "c": "0"})
    assert nogood is not None
    assert known.named(nogood) == {"b": "0"}


def test_a_search_is_given_up_after_its_limit() -> None:
    values = {f"a{n}": ("0", "1") for n in range(12)}
    with pytest.raises(GivenUp):
        complete(Completion(values, lambda partial: "whole" if len(partial) == 12 else ""), {}, limit=100)


def test_without_asking_a_row_is_what_no_known_nogood_forbids() -> None:
    known = Completion(VALUES, three_together)
    order = list(known.axes.values())
    row, _ = known.complete(0, order, lowest_first, 1_000, ask=False)
    assert set(known.named(row).values()) == {"0"}
    assert not known.allows(row)
    row, _ = known.complete(0, order, lowest_first, 1_000, ask=False)
    assert known.named(row) == {"a": "0", "b": "0", "c": "1", "d": "0"}
    assert known.allows(row)
