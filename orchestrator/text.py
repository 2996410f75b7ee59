"""The one gate for text that we did not write: versions, names, messages, logs, file names.

Nothing that came from a file, a container or a command line reaches a shell, a Dockerfile, a path, a terminal,
XML or HTML without passing one of these functions.
"""

import hashlib
import json
import math
import re
import sys
import unicodedata
from collections.abc import Mapping
from typing import TypeVar

import msgspec

_Read = TypeVar("_Read")
_ANSI = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC: titles, links, clipboard
    r"|\x1b[PX^_].*?(?:\x1b\\|$)"  # DCS, SOS, PM, APC
    r"|\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x1b[ -/]*[0-~]",  # other escapes
    re.DOTALL,
)
# Controls, bidirectional and format characters reorder or hide what a reader sees (CVE-2021-42574), and so do the
# few letters and marks that take no ink: joiners, Hangul fillers, variation selectors, blank Braille.
_HIDING = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_INKLESS = frozenset(map(chr, (0x034F, 0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10))))
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,254}")
_RESERVED = frozenset({"con", "prn", "aux", "nul"} | {f"{stem}{n}" for stem in ("com", "lpt") for n in range(1, 10)})
_XML_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# What a CI server takes as a command: some where a line begins with it (CVE-2020-15228, GitLab's sections), but
# `##[` and its kin anywhere in a line (TryParse in actions/runner's ActionCommand.cs looks for it with IndexOf).
_CI_ANYWHERE = re.compile(r"##(?=(?:vso|teamcity)?\[)", re.IGNORECASE)


def visible(text: str) -> str:
    """The text with every control, bidirectional and invisible character written as an escape; newlines stay."""
    if text.isascii() and text.isprintable():  # nearly all there is, at a fraction of the time
        return text
    return "".join(_escaped(char) for char in text)


def _escaped(char: str) -> str:
    if char in "\n\t" or (char not in _INKLESS and unicodedata.category(char) not in _HIDING):
        return char
    point = ord(char)
    if point <= 0xFF:  # noqa: PLR2004 - two hex digits reach this far
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"  # noqa: PLR2004 - likewise four


def one_line(text: str, limit: int = 300) -> str:
    """One printable line of at most `limit` characters: escapes removed, white space folded, a cut marked.

    No CI server takes a part of it for a command, as long as it does not stand first in its line.
    """
    return cut(_disarmed(visible(" ".join(_ANSI.sub("", text).split()))), limit)


def _disarmed(line: str) -> str:
    return _CI_ANYWHERE.sub(r"#\\x23", line)


def shown(text: str, limit: int = 60) -> str:
    """A value in a message, on one line: nothing of it is left out, white space and controls are written as escapes."""
    return cut(visible(text.replace("\n", "\\n").replace("\t", "\\t")), limit)


def cut(text: str, limit: int) -> str:
    """At most `limit` characters; what was cut is marked with `…`."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def terminal_lines(text: str, prefix: str = "  | ") -> str:
    """A block from a cell, safe to print: no escapes, and no line that a CI server could take as a command."""
    lines = _ANSI.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    return "\n".join(prefix + _disarmed(visible(line)) for line in lines)


def xml_legal(text: str) -> str:
    """The text with each character that XML 1.0 cannot hold written as a visible escape.

    https://www.w3.org/TR/xml/#charsets
    """
    return _XML_ILLEGAL.sub(lambda found: _escaped_always(found[0]), text)


def _escaped_always(char: str) -> str:
    point = ord(char)
    return f"\\x{point:02x}" if point <= 0xFF else f"\\u{point:04x}"  # noqa: PLR2004 - two hex digits reach this far


def is_file_name(text: str) -> bool:
    """Whether the text is one plain path component on every system: no separator, no reserved name, no trailing dot."""
    return (
        _NAME.fullmatch(text) is not None and not text.endswith(".") and text.split(".", 1)[0].lower() not in _RESERVED
    )


def slug(text: str, limit: int = 80) -> str:
    """Letters, digits, dots and dashes of the text, for the readable part of a name; never a name by itself."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9.]+", "-", plain).strip("-.")[:limit].rstrip("-.") or "x"


def canonical_json(value: object) -> bytes:
    """The one byte form of a value made of mappings, lists and text: sorted keys, no space, UTF-8, no NaN.

    A lone surrogate, as an undecodable file name brings one, is encoded like any other character: names stay distinct.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode(errors="surrogatepass")


def read_json(data: bytes | str, kind: type[_Read]) -> _Read:
    """The value of that type in JSON that anybody may have written; ValueError says why there is none.

    How long it may be is for who reads the bytes to say; however deep it is nested, it ends here.
    """
    try:
        # As text, whole: what stands under a key that nobody reads is UTF-8 too, or the file is damaged.
        return msgspec.json.decode(data if isinstance(data, str) else data.decode(), type=kind)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except msgspec.MsgspecError as problem:
        raise ValueError(one_line(str(problem), 200)) from None


def digest(value: object, length: int = 64) -> str:
    """The first `length` hex digits of the SHA-256 of the value's canonical form."""
    return hashlib.sha256(canonical_json(value)).hexdigest()[:length]


_SECRET_WORDS = frozenset(
    {"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "KEY", "APIKEY", "AUTH", "CREDENTIAL"}
)
_SECRET_WORDS |= {f"{word}S" for word in _SECRET_WORDS}
_PLACE_WORDS = frozenset({"FILE", "PATH", "DIR"})


def looks_secret(name: str) -> bool:
    """Whether a variable of this name would hold a secret: `HF_TOKEN`, not `TOKENIZERS_PARALLELISM` or `KEY_FILE`."""
    words = re.findall(r"[A-Z]+", name.upper())
    return not _SECRET_WORDS.isdisjoint(words) and words[-1] not in _PLACE_WORDS


def secret_in(environment: str) -> str:
    """The first variable of `A=1 B=2` whose name says that it holds a secret, or an empty text."""
    names = (pair.partition("=")[0] for pair in environment.split(" "))
    return next((name for name in names if looks_secret(name)), "")


def pairs(mapping: Mapping[str, str]) -> str:
    """`a=1 b=2`: how axes are shown in one line."""
    return " ".join(f"{one_line(name, 60)}={one_line(value, 120)}" for name, value in mapping.items())


def percent(share: float, *, sign: bool = False) -> str:
    """A share in percent, to three digits: `3 %`, `0.5 %`, `12.5 %`; `sign` writes a plus too."""
    size = min(abs(share), sys.float_info.max / 100) * 100
    digits = min(max(2 - math.floor(math.log10(size)), 0), 3) if size else 0
    written = f"{size:.3g}" if size >= _LARGE else f"{size:.{digits}f}"
    if "." in written and "e" not in written:
        written = written.rstrip("0").rstrip(".")
    return f"{'-' if share < 0 else '+' if sign else ''}{written} %"


_LARGE = 1e5  # percent


def counting(count: int, noun: str, nouns: str = "") -> str:
    """`1 cell`, `2 cells`; `nouns` where another word than `noun` with an s is meant."""
    return f"{count} {noun if count == 1 else nouns or f'{noun}s'}"
