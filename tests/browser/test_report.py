"""The report in a real browser: it draws the page, says nothing in the console and asks nobody for anything.

Both pages are the golden files that `tests/unit/reports` holds fresh. Where no Chromium is installed the tests are
skipped; CI installs one.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest

PAGES = Path(__file__).parents[1] / "golden" / "reports"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # the browser's own errands stay on this machine
    "--enable-logging=stderr",
    "--virtual-time-budget=2000",
    "--dump-dom",
)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What a browser made of a page: its elements, what the console said, the addresses that were asked for."""

    dom: str
    console: tuple[str, ...]
    asked: tuple[str, ...]


@pytest.fixture
def browse(tmp_path: Path) -> Callable[[Path], Seen]:
    def look(page: Path) -> Seen:
        net = tmp_path / "net.json"
        done = subprocess.run(
            [
                str(CHROMIUM),
                *FLAGS,
                *(("--no-sandbox",) if os.geteuid() == 0 else ()),
                f"--user-data-dir={tmp_path / 'profile'}",
                f"--log-net-log={net}",
                page.as_uri(),
            ],
            env=os.environ | {"HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        return Seen(
            dom=done.stdout,
            console=tuple(re.findall(r"CONSOLE.*", done.stderr)),
            asked=asked_in(json.loads(net.read_text())),
        )

    return look


def asked_in(log: Any) -> tuple[str, ...]:
    """The addresses that a page asked for. What the browser asks on its own account has `not an origin` behind it."""
    told = (event.get("params", {}) for event in log["events"])
    asked = (params["url"] for params in told if params.get("initiator", "not an origin") != "not an origin")
    return tuple(dict.fromkeys(address for address in asked if not address.startswith("file:")))


class Elements(HTMLParser):
    """The elements and attributes of what the browser made, once more as text."""

    def __init__(self, dom: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.feed(dom)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


@pytest.mark.parametrize("name", ["report.html", "hostile.html"])
def test_the_page_is_drawn_and_nothing_in_it_acts(browse: Callable[[Path], Seen], name: str) -> None:
    seen = browse(PAGES / name)
    elements = Elements(seen.dom)
    assert "footer" in elements.tags  # the page was read to its end
    assert not {"script", "img", "iframe", "object", "embed", "link", "base", "form"} & set(elements.tags)
    assert [attribute for attribute, _ in elements.attributes if attribute.startswith("on")] == []
    addresses = [value for attribute, value in elements.attributes if attribute in {"href", "src", "action"}]
    assert all(value.startswith(("#", "https://example.org/")) for value in addresses)
    assert seen.console == ()
    assert seen.asked == ()


def test_a_page_that_acts_is_seen(browse: Callable[[Path], Seen], tmp_path: Path) -> None:
    """The checks above would notice: a console that speaks and a picture that is asked for."""
    bad = tmp_path / "bad.html"
    bad.write_text("<script>console.error('acts')</script><img src='http://127.0.0.1:9/picture.png'>", encoding="utf-8")
    seen = browse(bad)
    assert any("acts" in line for line in seen.console)
    assert "http://127.0.0.1:9/picture.png" in seen.asked
