import itertools
import json
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.masking import MASK, NOTHING, SHORTEST, Masker

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


def test_values_that_overlap_are_replaced_as_one() -> None:
    assert Masker([b"hunter22-abc", b"-abc-password"]).text("<hunter22-abc-password>") == f"<{MASK}>"
    assert Masker([b"abcabcabc"]).text("<abcabcabcabc>") == f"<{MASK}>"
    assert Masker([b"hunter22", b"22-password-33", b"password"]).text("hunter22-password-33") == MASK


def test_of_two_values_none_leaves_the_end_of_the_other() -> None:
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


@pytest.mark.parametrize(
    ("alphabet", "filler"),
    [(("a", "b", "abcabcxyz"), 1), (("a", "&", "\\", "%", "25", "amp;", '"', "é", "5C", "\n", "xyz"), 5000)],
)
@settings(deadline=None)
@given(data=st.data())
def test_a_stream_of_long_values_and_of_their_pieces_is_the_same_too(
    data: st.DataObject, alphabet: tuple[str, ...], filler: int
) -> None:
    chars = st.sampled_from(alphabet)
    secrets = data.draw(st.lists(st.lists(chars, min_size=8, max_size=60).map("".join), min_size=1, max_size=3))
    shown = st.sampled_from(secrets).map(lambda secret: json.dumps(secret)[1:-1])
    cut = st.builds(lambda text, start, length: text[start:][:length], shown, st.integers(0, 70), st.integers(0, 120))
    whole = "".join(data.draw(st.lists(st.one_of(cut, chars, st.just("." * filler)), max_size=12))).encode()
    masker = Masker(secret.encode() for secret in secrets)
    stream = masker.stream()
    places = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    fed = [stream.feed(whole[start:end]) for start, end in itertools.pairwise([0, *places, len(whole)])]
    assert b"".join(fed) + stream.end() == masker.data(whole)


def test_a_stream_holds_less_than_twice_the_longest_writing() -> None:
    stream = Masker([b"q" * 20]).stream()
    assert stream.feed(b"a" * 39) == b""
    assert stream.feed(b"a") == b"a" * 21
    assert stream.feed(b"a" * 1000) == b"a" * 1000
    assert stream.end() == b"a" * 19
    assert stream.end() == b""


@given(st.binary(min_size=8, max_size=12), st.text(max_size=6), st.text(max_size=6))
def test_a_text_is_masked_whatever_bytes_a_value_is(value: bytes, before: str, after: str) -> None:
    value = value.strip(b"\r\n").ljust(8, b"\xa9")
    whole = before.encode() + value + after.encode()
    shown = Masker([value]).text(whole.decode(errors="replace"))
    assert isinstance(shown.encode(), bytes)
    assert value not in Masker([value]).data(whole)


def test_a_value_that_begins_within_a_character_leaves_a_text_that_can_be_shown() -> None:
    assert Masker([b"\xa9abcdefgh"]).text("caf\u00e9abcdefgh!") == "caf\ufffd[MASKED]!"
