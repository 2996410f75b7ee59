"""Reading a lock file: only what is a plain file, and nothing that makes a parser wait or recurse."""

import os

import pytest

from orchestrator import disk
from orchestrator.errors import InputError
from orchestrator.images.lock_bytes import MAX_BYTES, tables
from orchestrator.images.locks import held_in, place_of_lock, read_lock, write_lock

MOST = MAX_BYTES - 16


def device(path):
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("make", "why"),
    [(os.mkfifo, "it is not a regular file"), (os.mkdir, "it is not a regular file"), (device, "it is not a regular")],
)
def test_what_is_no_plain_file_is_refused_and_waits_for_nobody(tmp_path, make, why):
    make(place_of_lock(tmp_path, "x"))

    with pytest.raises(InputError, match=why):
        read_lock(tmp_path, "x")
    assert list(held_in(tmp_path).unreadable) == ["x"]


def test_a_lock_that_takes_the_place_of_a_fifo_is_whole(tmp_path, fitting):
    os.mkfifo(place_of_lock(tmp_path, fitting.image))

    assert write_lock(tmp_path, fitting) is True
    assert read_lock(tmp_path, fitting.image) == fitting


def test_a_link_to_a_plain_file_is_read(tmp_path):
    (tmp_path / "real").write_bytes(b"x = 1")
    (tmp_path / "link").symlink_to("real")

    assert disk.read_regular(tmp_path / "link", MAX_BYTES) == b"x = 1"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"a = " + b"[" * MOST, "line 1 is nested deeper than a lock is"),
        (b"\na = " + b"{a = " * 100_000, "line 2 is nested deeper"),
        (b"a = [\n" + b"[\n" * 100, "line 4 is nested deeper"),
        (b"a." * (MOST // 2) + b"a = 1", "line 1 has a key of more parts"),
        (b"[" + b"a." * (MOST // 2) + b"a]", "line 1 has a key of more parts"),
        (b'"a" . "b" . "c" . "d" = 1', "line 1 has a key of more parts"),
        (b'a = """\nb\n"""', "text of more than one line"),
        (b"a = '''b'''", "text of more than one line"),
        (b'a = "' + b'\\"' * (MOST // 2), "Unterminated string"),
        (b'" ' * (MOST // 2), "Expected"),
        (b"a = " + b"9" * MOST, "digits"),
        (b"#" * (MAX_BYTES + 1), "larger than 1 MiB"),
        (b"\xff", "codec can't decode"),
        (b"a = \x00", "Illegal|Invalid"),
    ],
)
def test_what_no_lock_has_is_refused_at_once(data, why):
    with pytest.raises(ValueError, match=why):
        tables(data)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"# a.b.c.d [[[[ '\na = 1", {"a": 1}),
        (b'a = "1.2.3.4 [[[[ # \\" {{{{"\r\n[b.c]\n', {"a": '1.2.3.4 [[[[ # " {{{{', "b": {"c": {}}}),
        (b"a = '1.2.3.4 [[[[ \\'\nw = {torch = [{n = 1}]}", {"a": "1.2.3.4 [[[[ \\", "w": {"torch": [{"n": 1}]}}),
        (b"[[a.b]]\n" * 3, {"a": {"b": [{}, {}, {}]}}),
    ],
)
def test_what_stands_in_quotes_and_comments_is_no_structure(data, found):
    assert tables(data) == found
