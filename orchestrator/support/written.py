"""Versions as people write them to each other: `R580`, `12.x`, `CUDA 12.4`, `2.6.0+cu124`, `3.13t`, `6.2 or newer`."""

import re
from functools import lru_cache

from msgspec.structs import replace

from orchestrator.support import spans
from orchestrator.support.axes import COMPANIONS
from orchestrator.support.conditions import Value

_CUDA = frozenset({"cuda_runtime", "cuda_toolkit", "container_cuda", "driver_cuda", "cuda_compat"})
_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,9}){0,5}"
_CLAUSE = re.compile(rf"(>=|<=|==|!=|~=|>|<)\s*[a-z]{{0,12}}[ _-]?v?({_NUMBER})")
_AT_LEAST = re.compile(
    rf"(?:at least|from|since|min(?:imum)?)\s+v?({_NUMBER})"
    rf"|v?({_NUMBER})(?:\.x|t)?\s*(?:\+$|(?:or|and)\s+(?:newer|later|above|higher|up|more recent))"
)
_AT_MOST = re.compile(
    rf"(?:at most|up to|until|max(?:imum)?)\s+v?({_NUMBER})"
    rf"|v?({_NUMBER})(?:\.x|t)?\s*(?:or|and)\s+(?:older|earlier|below|lower)"
)
_BELOW = re.compile(rf"(?:older|less|lower|earlier) than\s+v?({_NUMBER})|(?:below|before)\s+v?({_NUMBER})")
_ABOVE = re.compile(rf"(?:newer|later|greater|higher|more) than\s+v?({_NUMBER})|(?:above|after)\s+v?({_NUMBER})")
_RANGE = re.compile(rf"v?({_NUMBER})\s*(?:-|\N{{EN DASH}}|\.\.|\bto\b)\s*v?({_NUMBER})")
_EITHER = re.compile(r"\s*(?:[/|,]|\bor\b|\band\b)\s*")
_PLAIN = re.compile(rf"(?:[a-z][a-z.+]*+[ _:-]*+){{0,4}}?v?({_NUMBER})(\.[x*])?(t\b)?(.*)", re.DOTALL)
_NOTHING = Value("")
_NEWEST = 10**9 - 1  # later than every release of a branch
_GOES_ON = re.compile(r"\.?[0-9]")
_OTHER_PYTHON = re.compile(r"pypy|graal|jython|iron|micropython")
_FREE_THREADED = re.compile(r"free[ -]?thread|nogil|no[ -]gil")
_WITH_TAG = re.compile(r"[0-9]t\b")
_TORCH_BUILD = re.compile(r"\+(cpu|cu\d{3}|rocm\d+\.\d+(?:\.\d+)?|xpu)\b")
_NIGHTLY = re.compile(r"\.?dev\d*|nightly|a0\+git|\bmain\b")


@lru_cache(maxsize=16384)
def version(axis: str, text: str) -> Value | None:
    """What a text says of an axis of versions, or None when it says nothing that can be read."""
    plain = " ".join(
        text.lower().replace("\N{GREATER-THAN OR EQUAL TO}", ">=").replace("\N{LESS-THAN OR EQUAL TO}", "<=").split()
    )
    if not plain or len(plain) > spans.LONGEST:
        return None
    tag = "t" if axis == "python" and _FREE_THREADED.search(plain) else ""
    of_range = "t" if axis == "python" and _WITH_TAG.search(plain) else tag
    found = (
        _comparison(plain, of_range)
        or _interval(axis, plain, of_range)
        or _one_of(axis, plain, tag)
        or _plain(axis, plain, tag)
    )
    if found is None or not found.spans:
        return None
    return found if found.exact else replace(found, spans=_meant(axis, found.spans))


def _meant(axis: str, read: spans.Spans) -> spans.Spans:
    """What a range stands for: `numpy<2` what an installer takes below 2, `driver>=570` the newest of branch 570 on."""
    low, high = read[0]
    if axis in COMPANIONS and low == () and high is not None and high[0] > 0:
        below = high[0] - (not any(high[1:]))
        return ((below,), high), *read[1:]
    if axis == "driver" and len(low) == 1 and high != spans.after(low):
        return ((*low, _NEWEST), high), *read[1:]
    return read


def torch_build_in(text: str) -> str:
    """The build that a torch version names in its local part, as `2.6.0+cu124` does."""
    found = _TORCH_BUILD.search(text.lower())
    return found[1] if found else ""


def is_nightly(text: str) -> bool:
    """Whether a torch version is of no release, so that lists of released files say nothing of it."""
    return _NIGHTLY.search(text.lower()) is not None


def _comparison(plain: str, tag: str) -> Value | None:
    """`>=2.7.0`, `<12.4`, `6.2.x or newer`."""
    clauses = _CLAUSE.findall(plain)
    for operator, form in ((">=", _AT_LEAST), ("<=", _AT_MOST), ("<", _BELOW), (">", _ABOVE)):
        if not clauses and (found := form.search(plain)):
            clauses = [(operator, found[1] or found[2])]
    if not clauses:
        return None
    written = ",".join(operator + number for operator, number in clauses)
    exact = len(clauses) == 1 and clauses[0][0] == "=="
    return _range(written, tag, exact=exact)


def _interval(axis: str, plain: str, tag: str) -> Value | None:
    """`2.10-2.14`; in a package's name `12-8` is one version."""
    found = None if axis == "cuda_compat" else _RANGE.fullmatch(plain)
    if found is None:
        return None
    return _range(f">={found[1]},<={found[2]}", tag)


def _range(written: str, tag: str, *, exact: bool = False) -> Value | None:
    if len(written) > spans.LONGEST:
        return None
    return Value(written.removeprefix("==" if exact else "") + tag, spans.read(written), exact=exact, tag=tag)


def _one_of(axis: str, plain: str, tag: str) -> Value | None:
    parts = [part for part in _EITHER.split(plain) if part]
    if len(parts) < 2 or not all(part[-1:].isalnum() and any(c.isdigit() for c in part) for part in parts):  # noqa: PLR2004 - an either has an or
        return None
    if axis == "torch":
        return _NOTHING  # of two releases at once no answer holds: each is a question of its own
    read = [_plain(axis, part, tag) for part in parts]
    values = [value for value in read if value is not None and value.exact]
    if len(values) < len(read):
        return None
    if len({value.tag for value in values}) > 1:
        return _NOTHING  # only some are free-threaded: one value cannot say so
    together = spans.union(span for value in values for span in value.spans)
    return Value("|".join(value.text for value in values), together, exact=False, tag=values[0].tag)


def _plain(axis: str, plain: str, tag: str) -> Value | None:
    """One version or prefix, with words before and after it."""
    if axis == "cuda_compat":
        plain = re.sub(r"(\d+)-(\d+)$", r"\1.\2", plain)
    found = _PLAIN.fullmatch(plain)
    if found is None or _GOES_ON.match(found[4]) or (axis == "python" and _OTHER_PYTHON.match(plain)):
        return None
    number = found[1]
    if axis == "python":
        tag = "t" if found[3] else tag
        number = re.sub(r"^([23])(\d{1,2})$", r"\1.\2", number)  # cp311
    elif axis in _CUDA and re.fullmatch(r"\d{3}", number):
        number = f"{number[:2]}.{number[2]}"  # cu124
    elif axis in _CUDA and re.fullmatch(r"\d{5}", number):
        number = f"{int(number[:2])}.{int(number[2:]) // 10}"  # cudaDriverGetVersion: 1000 major + 10 minor
    return Value(number + tag, (spans.prefix(spans.release(number)),), tag=tag)
