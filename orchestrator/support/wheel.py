"""A wheel, read without installing it: its metadata, its tags, its pins, and what its libraries were compiled for.

A wheel is a file from anywhere: only so much of it is read, nothing is unpacked to disk, nothing in it is run.
"""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from email.parser import HeaderParser
from pathlib import Path
from typing import IO

from msgspec import Struct

from orchestrator import text
from orchestrator.errors import InputError, refuse_shortage
from orchestrator.support import fatbins

MAX_TEXT = 4 << 20
MAX_DIRECTORY = 64 << 20
MAX_MEMBERS = 200_000
MAX_LIBRARY = 4 << 30
MAX_LIBRARIES = 12 << 30  # of all that are read together

_OURS = re.compile(r"torch/lib/lib(?:torch|c10|caffe2)[A-Za-z0-9_]*\.so")  # beside them lie libraries of others
_LIBRARY = re.compile(r"[^/]+(?:/[^/]+)*\.so(?:\.\d+)*")
_PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*\(?\s*==\s*([A-Za-z0-9.!+_-]+)\s*\)?")
_VERSION = re.compile(r"(\d+(?:\.\d+){0,5}(?:(?:a|b|rc|\.post|\.dev)\d+)*)(?:\+([A-Za-z0-9.]+))?", re.ASCII)
_PYTHON = re.compile(r"cp(3)(\d{1,2})")
_SAID = re.compile(r"^(__version__|cuda|hip|xpu)\b[^=\n]*=\s*'([^'\n]{1,80})'", re.MULTILINE)


class Wheel(Struct, frozen=True, kw_only=True):
    """What a wheel says of itself, and what was measured in it.

    `code` counts the containers of device code that hold each architecture, of `containers` in all; `glibc` is the
    newest that a library asks for.
    """

    file: str
    name: str
    version: str
    local: str
    pythons: tuple[str, ...]
    platforms: tuple[str, ...]
    requires_python: str
    pins: Mapping[str, str]
    said: Mapping[str, str]
    code: Mapping[str, int]
    containers: int
    compressed: int
    glibc: str


def read(path: Path) -> Wheel:
    """The wheel in a file; InputError says what is wrong with one that is none."""
    place = text.one_line(str(path), 200)
    try:
        _check_regular(path)
        with _Careful(path.open("rb", buffering=0)) as file, zipfile.ZipFile(file) as archive:
            return _wheel(archive, path.name)
    except InputError as error:
        raise InputError(f"{error.fact}", place=place, cause=error.cause, hint=error.hint) from None
    except OSError as error:
        refuse_shortage(error, place)
        raise InputError(error.strerror or "it cannot be read", place=place) from None
    except (
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        EOFError,
        ValueError,
        RuntimeError,
        NotImplementedError,
    ) as error:
        raise InputError("it is no wheel that can be read", place=place, cause=text.one_line(str(error), 160)) from None


def _check_regular(path: Path) -> None:
    """A pipe or a device is not opened: it may never end."""
    if path.exists() and not path.is_file():
        raise InputError("it is no regular file")


class _Careful(io.BufferedReader):
    """A file that is not read by the gigabyte at once: `zipfile` takes a whole directory of members into memory."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > MAX_DIRECTORY:
            raise InputError(f"its directory has more than {MAX_DIRECTORY >> 20} MiB")
        return super().read(MAX_DIRECTORY if size is None or size < 0 else size)


def _wheel(archive: zipfile.ZipFile, file: str) -> Wheel:
    members = _members(archive)
    found = [name for name in members if name.endswith(".dist-info/METADATA") and name.count("/") == 1]
    if len(found) != 1:
        raise InputError("it is no wheel: it has " + ("no METADATA" if not found else "several METADATA files"))
    about = HeaderParser().parsestr(_text(archive, members[found[0]]))
    tags = HeaderParser().parsestr(_text(archive, members.get(found[0].replace("METADATA", "WHEEL"))))
    name = re.sub(r"[-_.]+", "-", str(about.get("Name", ""))).lower()
    version = _VERSION.fullmatch(str(about.get("Version", "")).strip())
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,80}", name) or version is None:
        raise InputError("its METADATA names no package and version")
    said = dict(_SAID.findall(_text(archive, members.get(f"{name}/version.py"))))
    code = _code(archive, [info for each, info in members.items() if _is_read(name, each)])
    in_full = _VERSION.fullmatch(said.get("__version__", ""))
    triples = [tag.strip().split("-") for tag in (*tags.get_all("Tag", ()), _of_name(file))]
    return Wheel(
        file=text.one_line(file, 160),
        name=name,
        version=version[1],
        local=version[2] or (in_full[2] if in_full and in_full[1] == version[1] else "") or "",
        pythons=tuple(dict.fromkeys(_pythons([triple for triple in triples if len(triple) == 3]))),  # noqa: PLR2004
        platforms=tuple(dict.fromkeys(each for triple in triples for each in triple[2:3] for each in each.split("."))),
        requires_python=text.one_line(str(about.get("Requires-Python", "")), 80),
        pins=dict(_pins(about.get_all("Requires-Dist", ()))),
        said={key: value for key, value in said.items() if key != "__version__"},
        code=code.found,
        containers=code.containers,
        compressed=code.compressed,
        glibc=".".join(map(str, code.glibc)) if any(code.glibc) else "",
    )


def _members(archive: zipfile.ZipFile) -> Mapping[str, zipfile.ZipInfo]:
    listed = archive.infolist()
    if len(listed) > MAX_MEMBERS:
        raise InputError(f"it has {len(listed)} files; at most {MAX_MEMBERS} are looked at")
    members = {info.filename: info for info in listed}
    if len(members) < len(listed):
        raise InputError("it is no wheel: two files in it have one name")
    return members


def _of_name(file: str) -> str:
    """The tags at the end of a wheel's file name; an empty text for another name."""
    return "-".join(file.removesuffix(".whl").split("-")[-3:]) if file.endswith(".whl") else ""


def _text(archive: zipfile.ZipFile, info: zipfile.ZipInfo | None) -> str:
    """A small text in the archive; an empty one when it is not there."""
    if info is None:
        return ""
    with _opened(archive, info) as stream:
        data = stream.read(MAX_TEXT + 1)
    if len(data) > MAX_TEXT:
        raise InputError(f"`{text.shown(info.filename)}` in it has more than {MAX_TEXT >> 20} MiB")
    return data.decode("utf-8", errors="replace")


def _opened(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    # Other methods may ask for gigabytes of memory before the first byte comes out; no wheel uses them.
    if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise InputError(f"`{text.shown(info.filename)}` in it is compressed in a way that no wheel is")
    return archive.open(info)


def _is_read(name: str, member: str) -> bool:
    """Whether a member is a library that was compiled with the package."""
    return (_OURS if name == "torch" else _LIBRARY).fullmatch(member) is not None


def _code(archive: zipfile.ZipFile, libraries: list[zipfile.ZipInfo]) -> fatbins.Code:
    found: dict[str, int] = {}
    containers = compressed = 0
    glibc = (0, 0)
    if sum(info.file_size for info in libraries) > MAX_LIBRARIES or any(
        info.file_size > MAX_LIBRARY for info in libraries
    ):
        raise InputError(f"its libraries have more than {MAX_LIBRARIES >> 30} GiB, or one of them {MAX_LIBRARY >> 30}")
    for info in libraries:
        try:
            with _opened(archive, info) as stream:
                code = fatbins.read(stream)
        except InputError as error:
            raise InputError(f"`{text.shown(info.filename)}` in it: {error.fact}") from None
        for architecture, count in code.found.items():
            found[architecture] = found.get(architecture, 0) + count
        containers += code.containers
        compressed += code.compressed
        glibc = max(glibc, code.glibc)
    return fatbins.Code(found=found, containers=containers, compressed=compressed, glibc=glibc)


def _pythons(triples: list[list[str]]) -> Iterator[str]:
    """The interpreters of the tags: cp313-cp313t is 3.13t, abi3 is every one from that on."""
    for python, abi, _ in triples:
        for each in python.split("."):
            if found := _PYTHON.fullmatch(each):
                version = f"{found[1]}.{found[2]}"
                yield f">={version}" if abi == "abi3" else version + ("t" if abi.endswith("t") else "")


def _pins(requirements: list[str] | tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Packages that the wheel asks for in one version; those of extras are asked for by somebody else."""
    for requirement in requirements:
        wanted, _, marker = requirement.partition(";")
        if "extra" not in marker and (pin := _PIN.fullmatch(wanted.strip())):
            yield re.sub(r"[-_.]+", "-", pin[1]).lower(), pin[2]
