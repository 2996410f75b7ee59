"""Addresses: what they hold, and what of them may be shown."""

import urllib.error

import pytest

from orchestrator.images.failure import StageFailed
from orchestrator.images.remote import is_gone, opened, without_login


def test_a_files_address_is_the_file(tmp_path, site):
    (tmp_path / "a b+c").write_bytes(b"bytes")

    with opened((tmp_path / "a b+c").as_uri(), site) as stream:
        assert stream.read() == b"bytes"


@pytest.mark.parametrize("url", ["ftp://index.example/x", "data:,x", "x"])
def test_no_other_kind_of_address_is_opened(url, site):
    with pytest.raises(StageFailed, match="is no place to fetch wheels from"), opened(url, site):
        pass


def test_what_is_not_there_is_gone_and_what_does_not_answer_is_not(tmp_path, site):
    with pytest.raises(FileNotFoundError) as caught, opened((tmp_path / "x").as_uri(), site):
        pass

    assert is_gone(caught.value)
    assert [is_gone(_answer(code)) for code in (404, 410, 403, 503)] == [True, True, False, False]
    assert not is_gone(TimeoutError())


def _answer(code):
    return urllib.error.HTTPError("http://x", code, "x", {}, None)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:secret@index.example:8443/a?b#c", "https://index.example:8443/a?b#c"),
        ("https://token@index.example/a", "https://index.example/a"),
        ("https://index.example/a@b", "https://index.example/a@b"),
        ("file:///a%20b", "file:///a%20b"),
    ],
)
def test_a_login_is_not_shown(url, shown):
    assert without_login(url) == shown
