import base64
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from msgspec.structs import replace

from orchestrator.settings import Site, load_site
from orchestrator.settings.usable import check

LOGIN = "Basic " + base64.b64encode(b"ci:p@ss-word").decode()


@pytest.fixture
def index() -> Iterator[str]:
    """An index that asks for a login."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.headers.get("Authorization") == LOGIN else 401)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}/simple"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def site(tmp_path: Path) -> Site:
    found = load_site({"HOME": str(tmp_path), "PIP_CONFIG_FILE": os.devnull})
    here = tmp_path.as_uri()
    return replace(found, indexes={"": here}, apt_mirror="", store=tmp_path / "a/b", cache=tmp_path, ca_bundle="")


def problems(site: Site, **environ: str) -> dict[str, str]:
    return {each.name: each.problem for each in check(site, environ) if each.problem}


def test_what_is_there_can_be_used(site: Site, index: str) -> None:
    with_login = replace(site, indexes={"": f"http://ci:p%40ss-word@{index}"}, find_links=(str(site.cache),))
    assert problems(with_login) == {}
    assert all("p%40ss" not in each.value for each in check(with_login, {}))


def test_each_place_that_cannot_be_used_says_why(site: Site, index: str, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("no certificate")
    bad = replace(
        site,
        indexes={"": f"http://ci:wrong@{index}", "cu130": "ftp://x.example", "cpu": "http://127.0.0.1:1/simple"},
        find_links=("/nowhere",),
        registries={"r.example": "robot:env:R_TOKEN"},
        store=Path("/proc/nowhere"),
    )
    found = problems(bad)
    assert found == {
        "indexes.default": "HTTP 401 Unauthorized: no login that is accepted",
        "indexes.cu130": "`ftp:` is no kind of address that is read",
        "indexes.cpu": "Connection refused",
        "find_links": "there is no such folder",
        "registries.r.example": "secret `password of r.example` is empty or not set",
        "store": found["store"],
    }
    assert found["store"]
    assert problems(bad, R_TOKEN="hunter22").keys() == found.keys() - {"registries.r.example"}
    assert problems(replace(site, ca_bundle="/nowhere.pem"))["ca_bundle"] == "No such file or directory"
    assert problems(replace(site, ca_bundle=str(tmp_path / "ca.pem")))["ca_bundle"]
    proxied = replace(site, proxies={"https": "http://127.0.0.1:1", "no": "localhost"})
    assert problems(proxied) == {"proxies.https": "Connection refused"}
