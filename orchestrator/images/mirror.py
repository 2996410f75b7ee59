"""What a Debian mirror offers today: the date of a suite, and the versions of its packages.

(https://wiki.debian.org/DebianRepository/Format)
"""

import datetime as dt
import email.utils
import lzma
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from orchestrator.images.failure import StageFailed
from orchestrator.images.remote import opened, whole
from orchestrator.images.roots import stanzas
from orchestrator.settings import Site

_MAX_BYTES = 1 << 20
_MAX_LIST_BYTES = 256 << 20


def date_of(suite: str, site: Site) -> str:
    """The day on which a suite was published as it stands, YYYY-MM-DD; empty when the mirror does not say."""
    try:
        with opened(f"{_of(suite, site)}/Release", site) as answer:
            lines = answer.read(_MAX_BYTES).decode(errors="replace").splitlines()
        said = next(line.partition(":")[2].strip() for line in lines if line.startswith("Date:"))
        return email.utils.parsedate_to_datetime(said).astimezone(dt.UTC).date().isoformat()
    except (OSError, ValueError, OverflowError, StageFailed, StopIteration):
        return ""


def offered(suite: str, architecture: str, site: Site) -> Mapping[str, frozenset[str]]:
    """Package -> the versions that a suite has; OSError when the mirror cannot be asked."""
    with opened(f"{_of(suite, site)}/main/binary-{architecture}/Packages.xz", site) as answer:
        try:
            unpacker = lzma.LZMADecompressor(memlimit=_MAX_LIST_BYTES)
            content = unpacker.decompress(whole(answer, _MAX_LIST_BYTES), max_length=_MAX_LIST_BYTES)
        except lzma.LZMAError as problem:
            raise OSError(f"its list of packages cannot be read: {problem}") from problem
    if not unpacker.eof:
        raise OSError("its list of packages is not whole")
    found: dict[str, set[str]] = {}
    for fields in stanzas(content.decode(errors="replace")):
        found.setdefault(fields["Package"], set()).add(fields.get("Version", ""))
    return {name: frozenset(versions) for name, versions in found.items()}


def _of(suite: str, site: Site) -> str:
    """Where a suite is; the mirror that mmdebstrap takes by itself where the site names none is known to it alone."""
    if not site.apt_mirror:
        raise OSError("the site names no mirror of Debian: set apt_mirror")
    if site.apt_mirror.startswith("file:") and not Path(unquote(urlsplit(site.apt_mirror).path)).is_dir():
        raise OSError("there is no such folder")  # nothing is mounted, perhaps: it has not said what it has
    return f"{site.apt_mirror.rstrip('/')}/dists/{suite}"
