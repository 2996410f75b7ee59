import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.request import Request

import pytest
from msgspec.structs import replace

from orchestrator.settings import Site, load_site
from orchestrator.settings.opener import opener

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
