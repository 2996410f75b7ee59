"""Which Python versions this machine has, without starting each of them.

`uv python list` starts every interpreter and takes most of a second: more than planning may take as a whole.
"""

import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

DEADLINE_S = 5.0
_NAME = re.compile(r"python(3\.\d{1,2})")


def installed(environ: Mapping[str, str], wanted: Collection[str] | None = None) -> tuple[str, ...]:
    """Versions such as `3.12`, newest first: of this interpreter, on PATH, and those that uv manages.

    A version manager's stand-in must be started to know whether anything is behind it, which takes a tenth of a
    second: with `wanted`, only those of these versions are.
    """
    programs = {f"{sys.version_info[0]}.{sys.version_info[1]}"}
    scripts: dict[str, Path] = {}
    for folder in _folders(environ):
        for version, file in _named(folder):
            if _is_script(file):
                if wanted is None or version in wanted:
                    scripts.setdefault(version, file)
            else:
                programs.add(version)
    programs |= _answering({version: file for version, file in scripts.items() if version not in programs})
    return tuple(sorted(programs, key=lambda version: int(version.split(".")[1]), reverse=True))


def _folders(environ: Mapping[str, str]) -> Iterator[Path]:
    yield from (Path(part) for part in environ.get("PATH", "").split(os.pathsep) if part)
    data = environ.get("XDG_DATA_HOME") or Path(environ.get("HOME", "/nonexistent"), ".local/share")
    managed = Path(environ.get("UV_PYTHON_INSTALL_DIR") or Path(data, "uv", "python"))
    yield from sorted(managed.glob("cpython-*/bin"))


def _named(folder: Path) -> Iterator[tuple[str, Path]]:
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names are what is matched
    except OSError:
        return
    for name in sorted(names):
        if match := _NAME.fullmatch(name):
            yield match[1], folder / name


def _is_script(file: Path) -> bool:
    """A version manager's stand-in (pyenv, asdf), which may lead to no interpreter at all."""
    try:
        with file.open("rb") as opened:
            return opened.read(2) == b"#!"
    except OSError:
        return True


def _answering(scripts: Mapping[str, Path]) -> set[str]:
    """The versions whose stand-in really leads to an interpreter; all are asked at once."""
    asked: dict[str, subprocess.Popen[bytes]] = {}
    for version, file in scripts.items():
        try:
            asked[version] = subprocess.Popen(
                [file, "--version"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError:
            continue
    return {version for version, process in asked.items() if _answer(process).startswith(f"Python {version}.".encode())}


def _answer(process: "subprocess.Popen[bytes]") -> bytes:
    with process:
        try:
            return process.communicate(timeout=DEADLINE_S)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            return b""
