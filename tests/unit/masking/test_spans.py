"""Where a value is found: cut pieces of long ones too, and all that overlap."""

import json

import pytest

from orchestrator.masking import MASK, Masker
from orchestrator.masking.spans import LONG, PIECE, joined

KEY = "".join(f"k{number:02x}" for number in range(100))
SHARP = "".join(f'"{number:02x}\\' for number in range(50))


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"'{KEY}'", f"'{MASK}'"),
        (f"'{KEY[:118]}...{KEY[-118:]}'", f"'{MASK}...{MASK}'"),
        (f"'{KEY[:50]}", f"'{MASK}"),
        (f"…{KEY[-50:]}'", f"…{MASK}'"),
        (f"<{KEY[:PIECE]}>", f"<{MASK}>"),
        (f"<{KEY[: PIECE - 1]}>", f"<{KEY[: PIECE - 1]}>"),
        (f"<{KEY[-PIECE:]}>", f"<{MASK}>"),
        (f"<{KEY[1 - PIECE :]}>", f"<{KEY[1 - PIECE :]}>"),
        (f"{KEY[:40]}{KEY[-40:]}", f"{MASK}{MASK}"),
    ],
)
def test_a_head_and_a_tail_of_a_long_value_are_found_as_far_as_they_go(text: str, masked: str) -> None:
    assert Masker([KEY.encode()]).text(text) == masked


def test_pieces_are_found_as_programs_write_them() -> None:
    masker = Masker([SHARP.encode()])
    shown = json.dumps(repr(SHARP))
    assert masker.text(shown) == f"\"'{MASK}'\""
    cut = masker.text(f"{shown[:120]}...{shown[-120:]}")
    assert cut.replace("\\", "") == f"\"'{MASK}...{MASK}'\""  # of an escape that was cut, its backslashes stay


def test_what_is_not_long_is_found_whole_only() -> None:
    masker = Masker([KEY[: LONG - 1].encode()])
    assert masker.text(KEY[: LONG - 1]) == MASK
    assert masker.text(KEY[: LONG - 2]) == KEY[: LONG - 2]


def test_of_a_value_that_repeats_itself_each_piece_is_found() -> None:
    masker = Masker([b"abc" * 20])
    assert masker.text(f"<{'abc' * 30}>") == f"<{MASK}>"
    assert masker.text(f"<{'bca' * 6}>") == f"<{MASK}>"
    assert masker.text("abcabc") == "abcabc"


def test_spans_that_overlap_are_one_and_neighbours_are_two() -> None:
    assert list(joined([(0, 3), (2, 5), (2, 4), (5, 6), (8, 9)])) == [(0, 5), (5, 6), (8, 9)]
    assert list(joined([])) == []
