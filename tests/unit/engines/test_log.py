from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.engines.log import LOG_FILE, LogKeeper, write_log
from orchestrator.masking import Masker
from orchestrator.model import Log


def keep(*pieces: bytes, head: int = 4, tail: int = 4) -> Log:
    keeper = LogKeeper(head, tail)
    for piece in pieces:
        keeper.feed(piece)
    return keeper.log()


def test_what_fits_is_kept_whole() -> None:
    assert keep(b"abc", b"defgh") == Log(head="abcd", tail="efgh", bytes=8)


def test_the_middle_is_left_out_and_counted() -> None:
    assert keep(b"abcdefghijkl") == Log(head="abcd", tail="ijkl", bytes=12)


def test_nothing() -> None:
    assert keep() == Log()


def test_a_character_is_not_cut_in_two() -> None:
    euro = "€".encode()
    assert keep(b"ab" + euro + b"x" * 9 + euro + b"yz") == Log(head="ab", tail="yz", bytes=19)
    assert keep(b"abc" + euro + b"z") == Log(head="abc", tail="€z", bytes=7)


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert keep(b"\xff\0").head == "�\0"


@given(st.lists(st.binary(max_size=40)))
def test_pieces_do_not_matter_and_memory_is_flat(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    assert keep(*pieces) == keep(whole)
    keeper = LogKeeper(4, 4)
    for piece in pieces:
        keeper.feed(piece)
        assert len(keeper._head) <= 4
        assert len(keeper._tail) <= 12
    kept = keeper.log()
    assert kept.bytes == len(whole)
    assert 0 <= keeper.left_out <= max(0, len(whole) - 8) + 6
    if len(whole) <= 8:
        assert kept.head + kept.tail == whole.decode("utf-8", "replace")


def test_the_file_marks_the_cut(tmp_path: Path) -> None:
    write_log(Log(head="ab\r\n", tail="yz", bytes=100), tmp_path, left_out=94)
    assert (tmp_path / LOG_FILE).read_bytes() == "ab\r\n\n[… 94 of 100 bytes left out …]\nyz".encode()
    write_log(Log(head="ab", tail="yz", bytes=4), tmp_path)
    assert (tmp_path / LOG_FILE).read_bytes() == b"abyz"


@pytest.mark.parametrize(
    ("printed", "left_out"),
    [
        (b"\xff" * 12, 4),
        (b"abcdefgh\xff", 1),
        (b"ab\xe2\x82\xacefghi", 4),
        ("abcde€xyz".encode(), 4),
        (b"\x80" * 9, 4),
        (b"\xff" * 8, 0),
    ],
)
def test_a_cut_is_marked_whatever_the_bytes_are(tmp_path: Path, printed: bytes, left_out: int) -> None:
    keeper = LogKeeper(4, 4)
    keeper.feed(printed)
    write_log(keeper.log(), tmp_path, keeper.left_out)
    written = (tmp_path / LOG_FILE).read_text(encoding="utf-8")
    assert (f"[… {left_out} of {len(printed)} bytes left out …]" in written) == bool(left_out)
    assert ("left out" in written) == bool(left_out)


def test_a_secret_is_masked_before_anything_is_cut() -> None:
    keeper = LogKeeper(16, 16, masker=Masker([b"hunter22"]))
    for piece in (b"a hun", b"ter", b"22 b\n", b"x" * 40, b"hunter", b"22", b"hunter2"):
        keeper.feed(piece)
    log = keeper.log()
    assert log.head == "a [MASKED] b\nxxx"
    assert log.tail == "x[MASKED]hunter2"
    assert keeper.log() == log
