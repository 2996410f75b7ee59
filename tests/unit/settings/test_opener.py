import os
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.request import OpenerDirector, Request

import pytest
from msgspec.structs import replace

from orchestrator.settings import Site, load_site
from orchestrator.settings.opener import NoAnswer, opened, opener

LOGIN = "Basic eDp5"


class Server(HTTPServer):
    """Sends `/to/HOST/x` on to that host, and remembers the logins that came with each path."""

    def __init__(self) -> None:
        self.logins: list[tuple[str, str | None]] = []
        super().__init__(("127.0.0.1", 0), Answer)


class Answer(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.logins.append((self.path, self.headers.get("Authorization")))
        _, to, *rest = self.path.split("/")
        self.send_response(302 if to == "to" else 200)
        if to == "to":
            self.send_header("Location", f"http://{rest[0]}:{self.server.server_port}/{rest[1]}")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def site(tmp_path: Path) -> Site:
    found = load_site({"HOME": str(tmp_path), "PIP_CONFIG_FILE": os.devnull})
    return replace(found, ca_bundle="", proxies={})


@pytest.mark.parametrize(("host", "login"), [("127.0.0.1", LOGIN), ("localhost", None)])
def test_a_login_goes_no_further_than_its_own_server(
    site: Site, server: Server, monkeypatch: pytest.MonkeyPatch, host: str, login: str | None
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    asked = Request(f"http://127.0.0.1:{server.server_port}/to/{host}/x", headers={"Authorization": LOGIN})
    opener(site).open(asked, timeout=10).close()
    assert server.logins == [(f"/to/{host}/x", LOGIN), ("/x", login)]


def test_the_sites_hosts_without_a_proxy_are_asked_directly(site: Site, server: Server) -> None:
    address = f"http://127.0.0.1:{server.server_port}/x"
    proxied = replace(site, proxies={"http": "http://127.0.0.1:1"})
    with pytest.raises(OSError, match="refused"):
        opener(proxied).open(address, timeout=10)
    opener(replace(proxied, proxies={**proxied.proxies, "no": "127.0.0.1"})).open(address, timeout=10).close()
    assert [path for path, _ in server.logins] == ["/x"]


def said_by(address: str, connection: OpenerDirector) -> NoAnswer:
    with pytest.raises(NoAnswer) as caught, opened(connection, Request(address), 5) as answer:
        answer.read()
    assert caught.value.__cause__ is None
    return caught.value


ECHO = "hunt"  # of a login: too short to be masked wherever it stands
SENT_ON = (
    f"http://x:{ECHO}/",
    f"http://[{ECHO}/",
    f"//{ECHO}..x/",
    f"http://{ECHO}@[::1",
    f"ftp://{ECHO}@127.0.0.1:1/",
    f"file:///{ECHO}",
    f"data:,{ECHO}",
    f"{ECHO}:x",
    f"http:///{ECHO}",
    f"http://127.0.0.1:1/{ECHO}",
    f"https://{ECHO}:99999/",
)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        *((f"302 Found\r\nLocation: {place}", "") for place in SENT_ON),
        (f"302 {ECHO}\r\nX-Location: {ECHO}", "HTTP 302 Found: it sends on to no place that can be asked"),
        (f"503 {ECHO}", "HTTP 503 Service Unavailable"),
        (f"401 {ECHO}", "HTTP 401 Unauthorized: no login that is accepted"),
        (f"799 {ECHO}", "HTTP 799"),
        (f"{ECHO}", "its answer is not whole, or not of HTTP (BadStatusLine)"),
        (
            f"200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{ECHO}",
            "its answer is not whole, or not of HTTP (IncompleteRead)",
        ),
    ],
)
def test_no_word_of_what_answers_is_told(site: Site, monkeypatch: pytest.MonkeyPatch, said: str, told: str) -> None:
    monkeypatch.setenv("no_proxy", "*")
    problem, address = answered(f"HTTP/1.1 {said}\r\nConnection: close\r\n\r\n", site)
    assert problem.args[0]
    assert ECHO not in f"{problem} {problem.args} {problem.__dict__}"
    assert told in {"", str(problem)}
    assert address not in str(problem)


def answered(said: str, site: Site) -> tuple[NoAnswer, str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(said.encode())

        thread = threading.Thread(target=answer)
        thread.start()
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        problem = said_by(f"http://{address}/x", opener(site))
        thread.join()
    return problem, address


def test_no_word_of_a_proxy_is_told(site: Site) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def refuse() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(f"HTTP/1.1 407 {ECHO}\r\n\r\n".encode())

        thread = threading.Thread(target=refuse)
        thread.start()
        proxied = replace(site, proxies={"https": f"http://127.0.0.1:{listening.getsockname()[1]}"})
        problem = said_by("https://index.example/x", opener(proxied))
        thread.join()
    assert str(problem) == "the proxy answers HTTP 407 Proxy Authentication Required"


def test_a_page_that_sends_on_is_not_read_to_its_end(
    site: Site, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        over = threading.Event()

        def never_end() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                to = f"http://127.0.0.1:{server.server_port}/x"
                connection.sendall(f"HTTP/1.1 302 Found\r\nLocation: {to}\r\n\r\nand so on".encode())
                over.wait(20)

        thread = threading.Thread(target=never_end)
        thread.start()
        with opened(opener(site), Request(f"http://127.0.0.1:{listening.getsockname()[1]}/x"), 5) as answer:
            assert answer.status == 200
        over.set()
        thread.join()
