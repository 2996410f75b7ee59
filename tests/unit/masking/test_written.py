"""A value is found in whatever a few common writers, one on top of another, make of it."""

import html
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from orchestrator.masking import MASK, Masker

SECRET = "p\"a\\s&<w>ö r+d'!%25;#x\t-€😀"


def in_xml(text: str) -> str:
    node = ET.Element("a")
    node.text = text
    return ET.tostring(node).decode("ascii")[3:-4]


def in_attribute(text: str) -> str:
    return ET.tostring(ET.Element("a", b=text)).decode("ascii")[6:-4]


WRITERS: dict[str, Callable[[str], str]] = {
    "json": lambda text: json.dumps(text)[1:-1],
    "json_utf8": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "repr": lambda text: repr(text)[1:-1],
    "ascii": lambda text: ascii(text)[1:-1],
    "bytes": lambda text: repr(text.encode())[2:-1],
    "escape": escape,
    "quoteattr": lambda text: quoteattr(text)[1:-1],
    "html": html.escape,
    "xml": in_xml,
    "attribute": in_attribute,
    "quote": quote,
    "quote_all": lambda text: quote(text, safe=""),
    "quote_lower": lambda text: "".join(c.lower() if c.isupper() else c for c in quote(text)),
    "quote_plus": quote_plus,
}
DEEP = [name for name in WRITERS if name != "quote_lower"]
HARMLESS = st.characters(codec="utf-8")
SHARP = st.sampled_from("\"'\\<>&%+#;/?[]{} \t\n\r\x00\x1b\x7f\u00a0\u200b\ufeffé€😀amp25xnu0")


def written(text: str, names: list[str]) -> str:
    for name in names:
        text = WRITERS[name](text)
    return text


@pytest.mark.parametrize("name", WRITERS)
def test_each_writer_is_known(name: str) -> None:
    secret = SECRET.replace("x", "").lower() if name == "quote_lower" else SECRET
    assert Masker([secret.encode()]).text(f"({written(secret, [name])})") == f"({MASK})"


@pytest.mark.parametrize(
    ("secret", "shown"),
    [
        ("hunter\t22", "hunter&#9;22"),
        ("hunter'22", "hunter&#39;22"),
        ("hunter'22", "hunter&#039;22"),
        ("hunter'22", "hunter&apos;22"),
        ("hunter'22", "hunter&#X27;22"),
        ("hunter-é", "hunter-&#233;"),
        ("hunter-é", "hunter-&eacute;"),
        ("hunter-é", "hunter-\\u00E9"),
        ("hunter-é", "hunter-\\xe9"),
        ("hunter-é", "hunter-\\xc3\\xa9"),
        ("hunter-é", "hunter-\\303\\251"),
        ("hunter-é", "hunter-\\u{e9}"),
        ("hunter-😀", "hunter-\\ud83d\\ude00"),
        ("hunter/22", "hunter\\/22"),
        ("hunter/22", "hunter%2f22"),
        ("hunter 22", "hunter+22"),
        ("hunter/22", "hunter%25252F22"),
        ("hunter<22", "hunter\\u003c22"),
        ("hunter\x1b22", "hunter#x1B22"),
        ("hunter\n22", "hunter\r\n22"),
        ("hunter%25", "hunter%25"),
        ("hunter&amp;", "hunter&amp;"),
        ("hunter2\\", "hunter2\\\\"),
        ("hunter\\%5C", "hunter\\%5C"),
    ],
)
def test_each_way_of_a_character_is_known(secret: str, shown: str) -> None:
    assert Masker([secret.encode()]).text(f"<{shown}>") == f"<{MASK}>"


def test_what_is_no_unicode_is_found_too() -> None:
    masker = Masker([b"hunter\xff22"])
    assert masker.data(b"hunter\xff22 hunter\\xff22 hunter%FF22") == b" ".join([MASK.encode()] * 3)
    assert masker.text("hunter\udcff22 hunter\\udcff22") == f"{MASK} {MASK}"


@settings(deadline=None)
@given(st.text(SHARP | HARMLESS, min_size=8, max_size=70), st.lists(st.sampled_from(DEEP), max_size=3))
def test_no_writing_of_a_value_is_left(secret: str, names: list[str]) -> None:
    secret = secret.strip("\r\n")
    assume(len(secret.encode()) >= 8)
    shown = written(secret, names)
    assert shown not in Masker([secret.encode()]).text(f"({shown})")


@settings(deadline=None)
@given(st.text(SHARP, min_size=8, max_size=70), st.lists(st.sampled_from(DEEP), max_size=3))
def test_no_writing_of_a_value_leaves_any_of_it(secret: str, names: list[str]) -> None:
    secret = f"s{secret}Z"
    assert Masker([secret.encode()]).text(f"({written(secret, names)})") == f"({MASK})"


@settings(deadline=None)
@given(st.text(SHARP | HARMLESS, min_size=7, max_size=70), st.text(SHARP | HARMLESS), st.lists(st.sampled_from(DEEP)))
def test_a_text_that_holds_no_value_stays_as_it_is(secret: str, other: str, names: list[str]) -> None:
    other = written(other, names[:3])
    assume("Q" not in other and not {"\n", "\r"} & set(secret))  # each line is a value of its own
    assert Masker([f"{secret[:15]}Q{secret[15:]}Q".encode()]).text(other) == other
