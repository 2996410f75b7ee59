"""A wheel that is read in parts where it lies, so that torch's build is known before half a gigabyte is fetched."""

import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.images.failure import StageFailed
from orchestrator.images.ranged import ranged
from orchestrator.images.resolve import Wheel
from orchestrator.images.wheelhouse import check_torch, torch_build


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    """A server of the folder that gives files in parts, unless they are called `whole`; what it was asked for."""
    seen: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            content = (tmp_path / self.path.lstrip("/")).read_bytes()
            asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            assert asked
            seen.append(asked[0])
            part = content if "whole" in self.path else content[int(asked[1]) : int(asked[2]) + 1]
            self.send_response(200 if "whole" in self.path else 206)
            self.send_header("Content-Range", f"bytes {asked[1]}-{asked[2]}/{len(content)}")
            self.send_header("Content-Length", str(len(part)))
            self.end_headers()
            self.wfile.write(part)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", seen
        server.shutdown()


def torch(folder, wheel_maker, name="torch"):
    code = {"torch/version.py": "__version__ = '2.13.0+cu130'\n", "torch/lib/big.so": "x" * (3 << 20)}
    return wheel_maker(folder, name, "2.13.0", files=code)


def wheel(url: str) -> Wheel:
    return Wheel(name="torch", version="2.13.0", file="torch.whl", sha256="0" * 64, url=url)


def test_the_build_is_read_from_a_few_parts(tmp_path, served, wheel_maker, site):
    address, seen = served
    path = torch(tmp_path, wheel_maker)
    with ranged(f"{address}/{path.name}", site) as file:
        assert torch_build(file) == "cu130"

    assert 1 < len(seen) < 8


def test_a_wheel_of_another_build_is_refused_before_it_is_fetched(tmp_path, served, wheel_maker, site):
    address, _ = served
    path = torch(tmp_path, wheel_maker)

    check_torch([wheel(f"{address}/{path.name}")], "cu130", site)
    for url in (f"{address}/{path.name}", path.as_uri()):
        with pytest.raises(StageFailed, match="is built for cu130, but cu126 was asked for"):
            check_torch([wheel(url)], "cu126", site)


def test_a_place_that_gives_no_parts_is_looked_at_when_it_is_here(tmp_path, served, wheel_maker, site):
    address, seen = served
    path = torch(tmp_path, wheel_maker, "whole")

    check_torch([wheel(f"{address}/{path.name}")], "cu126", site)
    assert len(seen) == 1


def test_what_is_no_archive_is_a_failure_in_words(tmp_path, served, site):
    address, _ = served
    (tmp_path / "page.whl").write_text("<html>" * 100)

    with pytest.raises(StageFailed, match="what the index has is no wheel"):
        check_torch([wheel(f"{address}/page.whl")], "cpu", site)
