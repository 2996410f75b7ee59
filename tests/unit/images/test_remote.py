"""Addresses: what they hold, and what of them may be shown."""

import socket
import threading

import msgspec
import pytest

from orchestrator.images.failure import StageFailed
from orchestrator.images.remote import is_gone, opened, whole, without_login
from orchestrator.settings.opener import NoAnswer


def test_a_files_address_is_the_file(tmp_path, site):
    (tmp_path / "a b+c").write_bytes(b"bytes")

    with opened((tmp_path / "a b+c").as_uri(), site) as stream:
        assert stream.read() == b"bytes"


@pytest.mark.parametrize("url", ["http://x:notaport/a", "http://[x/a", "file:///a%00b"])
def test_what_is_no_address_is_not_opened_and_not_shown(url, site):
    with pytest.raises(NoAnswer, match=r"^this is no address$"), opened(url, site):
        pass


@pytest.mark.parametrize("url", ["ftp://index.example/x", "data:,x", "x"])
def test_no_other_kind_of_address_is_opened(url, site):
    with pytest.raises(StageFailed, match="is no place to fetch wheels from"), opened(url, site):
        pass


def test_what_is_not_there_is_gone_and_what_does_not_answer_is_not(tmp_path, site):
    with pytest.raises(FileNotFoundError) as caught, opened((tmp_path / "x").as_uri(), site):
        pass

    assert is_gone(caught.value)
    assert [is_gone(NoAnswer("", code)) for code in (404, 410, 403, 503)] == [True, True, False, False]
    assert not is_gone(TimeoutError())


def test_certificates_that_are_missing_say_nothing_of_what_an_index_has(tmp_path, site):
    broken = msgspec.structs.replace(site, ca_bundle=str(tmp_path / "nope.pem"))
    with pytest.raises(StageFailed, match=r"ca_bundle .* cannot be read"), opened("https://index.example/x", broken):
        pass


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


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\nhalf",
        b"SSH-2.0-OpenSSH_9.2\r\n",
    ],
)
def test_an_answer_that_is_cut_off_or_none_is_trouble(said, site, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=_say, args=(listening, said))
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/x"
        with pytest.raises(OSError, match="its answer"), opened(url, site) as answer:
            whole(answer, 1 << 20)
        thread.join()


def _say(listening, said):
    connection, _ = listening.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(said)


def test_an_answer_is_bounded(tmp_path, site):
    (tmp_path / "x").write_bytes(b"12345")
    with opened((tmp_path / "x").as_uri(), site) as answer:
        assert whole(answer, 5) == b"12345"
    with pytest.raises(OSError, match="longer"), opened((tmp_path / "x").as_uri(), site) as answer:
        whole(answer, 4)
