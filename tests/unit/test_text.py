"""The text gate: tables of what is known to bite, and laws that hold for any text."""

import unicodedata
from xml.parsers import expat

import pytest
from ci_servers import acts
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import text

ANY = st.text(st.characters(), max_size=200)  # lone surrogates among them
BITS = st.lists(
    st.sampled_from(
        [
            "\x1b",
            "[",
            "]",
            "31m",
            "\x07",
            "\\",
            "P",
            "##[",
            "##vso[",
            "##",
            "::",
            "section_start:",
            "\r",
            "\n",
            " ",
            "\u202e",
            "x",
        ]
    ),
    max_size=24,
).map("".join)
HIDING = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def is_printable(shown: str) -> bool:
    return not any(unicodedata.category(char) in HIDING for char in shown)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain", "plain"),
        ("a\tb\nc", "a\tb\nc"),
        ("nul\x00", "nul\\x00"),
        ("bell\x07", "bell\\x07"),
        ("\x1b[31m", "\\x1b[31m"),
        ("c1\x9b31m", "c1\\x9b31m"),
        ("\r", "\\x0d"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\u061cmark", "\\u061cmark"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("soft\u00adhyphen", "soft\\xadhyphen"),
        ("bom\ufeff", "bom\\ufeff"),
        ("line\u2028paragraph\u2029", "line\\u2028paragraph\\u2029"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("lone\ud800", "lone\\ud800"),
        ("private\ue000", "private\\ue000"),
        ("nothing\uffff", "nothing\\uffff"),
        ("filler\u3164\u2800\u034f", "filler\\u3164\\u2800\\u034f"),
        ("\u5bbd \u0627\u0644 \U0001f525 e\u0301", "\u5bbd \u0627\u0644 \U0001f525 e\u0301"),
    ],
)
def test_visible_writes_what_hides_as_an_escape(raw: str, shown: str) -> None:
    assert text.visible(raw) == shown


@given(ANY | BITS)
def test_visible_hides_nothing_and_changes_nothing_twice(raw: str) -> None:
    shown = text.visible(raw)
    assert is_printable(shown.replace("\n", "").replace("\t", ""))
    assert text.visible(shown) == shown
    shown.encode()  # no lone surrogate is left


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("first\nsecond\r\nthird\x0bfourth\u2028fifth", "first second third fourth fifth"),
        ("  a \t b  ", "a b"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]52;c;aGk=\x1b\\text", "text"),
        ("\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\", "click"),
        ("\x1bP0;1|17/6c\x1b\\text", "text"),
        ("\x1b\x1b[0m[31m", "\\x1b[31m"),  # what is left when an escape is taken out is no escape again
        ("##[error]x", "#\\x23[error]x"),
        ("done ##vso[task.setvariable variable=PATH]x", "done #\\x23vso[task.setvariable variable=PATH]x"),
        ("###[group]", "##\\x23[group]"),
        ("## a heading [1]", "## a heading [1]"),
        ("", ""),
    ],
)
def test_one_line(raw: str, line: str) -> None:
    assert text.one_line(raw) == line


@given(ANY | BITS, st.integers(1, 60))
def test_one_line_is_one_printable_line_within_its_limit(raw: str, limit: int) -> None:
    line = text.one_line(raw, limit)
    assert len(line) <= limit
    assert is_printable(line)
    assert len(line.splitlines()) <= 1
    assert text.one_line(line, limit) == line
    assert not acts(f"reason: {line}")


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ("2.6.0", "2.6.0"),
        ("2.6.0\n", "2.6.0\\n"),
        (" a\tb ", " a\\tb "),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("H\u202e100", "H\\u202e100"),
        ("x" * 61, "x" * 59 + "…"),
    ],
)
def test_shown_leaves_nothing_of_a_value_out(raw: str, seen: str) -> None:
    assert text.shown(raw) == seen


@pytest.mark.parametrize(
    ("raw", "limit", "short"), [("abc", 3, "abc"), ("abcd", 3, "ab\u2026"), ("abcd", 1, "\u2026"), ("", 1, "")]
)
def test_cut_marks_what_it_cut(raw: str, limit: int, short: str) -> None:
    assert text.cut(raw, limit) == short


# reliability row 36: output that fakes what a CI server or a terminal acts on
@pytest.mark.parametrize(
    "command",
    [
        "::set-env name=PATH::/tmp",
        "  ::add-mask::x",
        "::stop-commands::token",
        "##[error]x",
        "text before ##[set-env name=PATH;]x",
        "##vso[task.complete result=Succeeded]",
        "##teamcity[buildStop]",
        "section_start:1560896352:owned\r\x1b[0K",
        "section_end:1560896352:owned\r\x1b[0K",
        "harmless\r::error::overwritten",
        "\x1b[2J\x1b[H::error::x",
        "\u200b::error::x",
        "\x00##[error]x",
    ],
)
def test_a_block_of_output_commands_nobody(command: str) -> None:
    block = text.terminal_lines(f"before\n{command}\nafter")
    assert all(line.startswith("  | ") for line in block.split("\n"))
    assert not any(acts(line) for line in block.split("\n"))
    assert not set(block) & set("\x1b\r\x00\x07")


@given(ANY | BITS)
def test_no_block_commands_or_hides(raw: str) -> None:
    for line in text.terminal_lines(raw).splitlines():
        assert line.startswith("  | ")
        assert not acts(line)
        assert is_printable(line.replace("\t", ""))


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("::error::x", True),
        ("   ::error::x", True),
        ("section_end:1:x", True),
        ("x ##[error]", True),
        ("a::b", False),
        ("see section_start: below", False),
        ("# [1]", False),
    ],
)
def test_the_oracle_knows_a_command(line: str, commands: bool) -> None:
    assert acts(line) is commands


@pytest.mark.parametrize(
    ("raw", "legal"),
    [
        ("a\tb\nc\rd", "a\tb\nc\rd"),
        ("nul\x00 esc\x1b", "nul\\x00 esc\\x1b"),
        ("lone\ud800\udfff", "lone\\ud800\\udfff"),
        ("\ufffe\uffff", "\\ufffe\\uffff"),
        ("]]> & <x>", "]]> & <x>"),
        ("\x85\u2028\U0001f525", "\x85\u2028\U0001f525"),
    ],
)
def test_xml_legal(raw: str, legal: str) -> None:
    assert text.xml_legal(raw) == legal


# reliability row 53: whatever a name or a message holds, expat reads the file again
@given(ANY)
def test_xml_legal_is_read_again_and_idempotent(raw: str) -> None:
    legal = text.xml_legal(raw)
    escaped = legal.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")
    read: list[str] = []
    parser = expat.ParserCreate()
    parser.CharacterDataHandler = read.append
    parser.Parse(f"<a>{escaped}</a>".encode(), True)
    assert "".join(read) == legal
    assert text.xml_legal(legal) == legal


# reliability row 20
@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../../x",
        "/abs",
        "a/b",
        "a\\b",
        "-leading",
        ".hidden",
        "_under",
        "trailing.",
        "CON",
        "con.txt",
        "Aux",
        "nul.tar.gz",
        "COM1",
        "lpt9.log",
        "x" * 256,
        "new\nline",
        "newline\n",
        "nul\x00",
        "space ",
        "a b",
        "caf\u00e9",
        "\u0661",
        "a:b",
        "a*",
        "~",
        "$HOME",
        "%2e",
    ],
)
def test_what_is_no_file_name(name: str) -> None:
    assert not text.is_file_name(name)


@pytest.mark.parametrize(
    "name", ["a", "torch2.6.0-cpu", "2.6.0+cu124", "junit.xml", "console", "com10", "x" * 255, "a..b", "a_b"]
)
def test_what_is_a_file_name(name: str) -> None:
    assert text.is_file_name(name)


@pytest.mark.parametrize(
    ("raw", "slug"),
    [
        ("2.6.0+cu124", "2.6.0-cu124"),
        ("../../x", "x"),
        ("-a-", "a"),
        ("..", "x"),
        ("", "x"),
        ("caf\u00e9 \u5bbd", "cafe"),
        ("a" * 100, "a" * 80),
        ("a" * 79 + ".b", "a" * 79),
        ("a\nb\x00c", "a-b-c"),
    ],
)
def test_slug(raw: str, slug: str) -> None:
    assert text.slug(raw) == slug


@given(ANY, st.integers(1, 90))
def test_slug_is_a_plain_short_word(raw: str, limit: int) -> None:
    slug = text.slug(raw, limit)
    assert 1 <= len(slug) <= limit
    assert slug.isascii()
    assert slug[0].isalnum()
    assert slug[-1].isalnum()
    assert text.slug(slug, limit) == slug


# reliability row 21: values that slug alike keep distinct digests
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2.6.0+cu124", "2.6.0-cu124"),
        ("caf\u00e9", "cafe\u0301"),
        ("H100", "h100"),
        ("a b", "a\u00a0b"),
        ("", " "),
        ("\ud800", "\ud801"),
        ("\ud800", "\\ud800"),
    ],
)
def test_digest_tells_apart_what_looks_alike(one: str, other: str) -> None:
    assert text.digest({"axis": one}) != text.digest({"axis": other})


def test_digest_is_the_one_that_ids_were_made_with() -> None:
    assert text.digest({"b": "2", "a": "1"}, 8) == text.digest({"a": "1", "b": "2"}, 8) == "21f76dfb"


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ({"b": [1, "x"], "a": None}, b'{"a":null,"b":[1,"x"]}'),
        ({"k": "caf\u00e9"}, b'{"k":"caf\xc3\xa9"}'),
        ("\ud800", b'"\xed\xa0\x80"'),
    ],
)
def test_canonical_json(value: object, form: bytes) -> None:
    assert text.canonical_json(value) == form


def test_canonical_json_has_no_form_for_what_is_no_number() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        text.canonical_json(float("nan"))


@given(st.dictionaries(ANY, ANY, max_size=6))
def test_order_of_keys_makes_no_difference(mapping: dict[str, str]) -> None:
    backwards = dict(reversed(mapping.items()))
    assert text.canonical_json(mapping) == text.canonical_json(backwards)


def test_pairs() -> None:
    assert text.pairs({"torch": "2.13.0", "env": "A=1\nB"}) == "torch=2.13.0 env=A=1 B"
    assert text.pairs({}) == ""


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("HF_TOKEN", True),
        ("MY_API_KEY", True),
        ("DB_PASSWORD", True),
        ("aws_secret_access_key", True),
        ("GOOGLE_CREDENTIALS", True),
        ("TOKENIZERS_PARALLELISM", False),
        ("HF_TOKEN_FILE", False),
        ("MONKEY", False),
        ("OMP_NUM_THREADS", False),
        ("", False),
        ("_", False),
    ],
)
def test_a_name_that_looks_like_a_secret(name: str, is_one: bool) -> None:
    assert text.looks_secret(name) is is_one
    assert text.secret_in(f"A=1 {name}=x") == (name if is_one else "")


def test_json_of_anybody_is_read_or_told() -> None:
    assert text.read_json(b'{"a": [1, null]}', dict[str, list[int | None]]) == {"a": [1, None]}
    assert text.read_json('"a"', str) == "a"
    for bad, why in (
        ('{"a": ' + "[" * 5000 + "]" * 5000 + "}", "nested too deep"),
        ('{"x": ' * 5000 + "1" + "}" * 5000, "nested too deep"),
        (b'{"\xff": 1}', "utf-8"),
        (b"", "truncated"),
        (b"NaN", "invalid character"),
        (b"[1]", "Expected `object`, got `array`"),
    ):
        with pytest.raises(ValueError, match=why):
            text.read_json(bad, dict[str, object])


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.03, "3 %"),
        (0.0416, "4.16 %"),
        (0.125, "12.5 %"),
        (-0.5, "-50 %"),
        (0.0, "0 %"),
        (0.005, "0.5 %"),
        (0.000012, "0.001 %"),
        (1.0, "100 %"),
        (12.3456, "1235 %"),
        (1e200, "1e+202 %"),
        (1e308, "1.8e+308 %"),
    ],
)
def test_a_share_has_three_digits(share: float, shown: str) -> None:
    assert text.percent(share) == shown
    assert text.percent(share, sign=True) == (shown if share < 0 else f"+{shown}")
