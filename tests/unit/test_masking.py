import itertools
import json
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.masking import MASK, NOTHING, SHORTEST, Masker, passwords, without_passwords

TOKEN = b"glpat-Zq81xW"
WRITTEN = "p\"a\\s&<w>ö rd'!"


def test_a_value_is_replaced_wherever_it_stands() -> None:
    masker = Masker([TOKEN])
    assert masker.data(b"a " + TOKEN + b" b\n" + TOKEN * 2) == b"a [MASKED] b\n[MASKED][MASKED]"
    assert masker.text(f"Bearer {TOKEN.decode()}") == f"Bearer {MASK}"
    assert masker.text("glpat-Zq81x") == "glpat-Zq81x"


@pytest.mark.parametrize(
    "written",
    [
        WRITTEN,
        json.dumps(WRITTEN),
        json.dumps(WRITTEN, ensure_ascii=False),
        escape(WRITTEN),
        quoteattr(WRITTEN),
        repr(WRITTEN),
    ],
)
def test_it_is_found_as_json_xml_and_python_write_it(written: str) -> None:
    masked = Masker([WRITTEN.encode()]).text(f"<{written}>")
    assert MASK in masked
    assert "rd" not in masked


def test_each_line_of_a_key_is_a_value_and_so_is_the_whole() -> None:
    masker = Masker([b"-----BEGIN KEY-----\nMIIEvQIBADANBg\nxyz\n"])
    assert masker.text("> MIIEvQIBADANBg\n> xyz") == f"> {MASK}\n> xyz"
    assert masker.text("-----BEGIN KEY-----\nMIIEvQIBADANBg\nxyz!") == f"{MASK}!"


def test_the_longer_of_two_values_is_taken_first() -> None:
    assert Masker([b"password", b"password-2"]).text("password-2, password") == f"{MASK}, {MASK}"


def test_what_is_too_short_is_no_value() -> None:
    assert not Masker([b"1234567", b"", b"\n"])
    assert Masker([b"x" * SHORTEST])
    assert NOTHING.text("anything") == "anything"


def test_a_masker_shows_none_of_its_values() -> None:
    assert "Zq81" not in repr(Masker([TOKEN])) + str(vars(Masker([TOKEN]).stream()).keys())


def test_a_text_that_is_no_unicode_is_masked_too() -> None:
    assert Masker([TOKEN]).text(f"\udcff{TOKEN.decode()}") == f"\udcff{MASK}"
    assert Masker([b"\xff\xfe" + TOKEN]).data(b"\xff\xfe" + TOKEN) == MASK.encode()


@given(
    st.lists(st.sampled_from([TOKEN, TOKEN[:5], b"x", b"\n", TOKEN + TOKEN[:3], b"glpat-glpat-Zq81xW"]), max_size=8),
    st.lists(st.integers(0, 60), max_size=6),
)
def test_a_stream_gives_what_the_whole_gives_however_it_is_cut(parts: list[bytes], cuts: list[int]) -> None:
    masker = Masker([TOKEN, b"glpat-Zq81xW-long"])
    whole = b"".join(parts)
    places = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    stream = masker.stream()
    pieces = [stream.feed(whole[start:end]) for start, end in itertools.pairwise(places)]
    assert b"".join(pieces) + stream.end() == masker.data(whole)
    assert TOKEN not in b"".join(pieces)


def test_a_stream_holds_back_no_more_than_a_value() -> None:
    stream = Masker([TOKEN]).stream()
    assert stream.feed(b"a" * 100) == b"a" * (100 - len(TOKEN) + 1)
    assert stream.end() == b"a" * (len(TOKEN) - 1)
    assert stream.end() == b""


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://user:hunter22@pypi.example/simple", f"https://user:{MASK}@pypi.example/simple"),
        ("https://user:a@b:c@pypi.example/simple", f"https://user:{MASK}@pypi.example/simple"),
        ("https://pypi.example/simple", "https://pypi.example/simple"),
        ("https://a-token@pypi.example/simple", f"https://{MASK}@pypi.example/simple"),
        ("https://a-token:@pypi.example/simple", f"https://{MASK}@pypi.example/simple"),
        ("registry.example/ubuntu@sha256:0", "registry.example/ubuntu@sha256:0"),
        ("/mnt/wheels", "/mnt/wheels"),
        ("http://[bad", "http://[bad"),
    ],
)
def test_an_address_is_shown_without_its_password(address: str, shown: str) -> None:
    assert without_passwords(address) == shown


def test_a_password_is_what_it_means_and_what_stands_there() -> None:
    addresses = ["https://u:p%40ssw0rd-x@a.example", "https://a.example", "http://[bad", "https://a-token@a.example"]
    found = list(passwords(addresses))
    assert found == [b"p@ssw0rd-x", b"a-token"]
    masker = Masker(found)
    assert masker.text("p@ssw0rd-x https://u:p%40ssw0rd-x@a") == f"{MASK} https://u:{MASK}@a"
