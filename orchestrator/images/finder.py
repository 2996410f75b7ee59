"""Runs inside a ready image: finds the Python there that has torch, and becomes it.

`argv[1]` is the program that this Python is given, the rest are its arguments. Any Python from 3.7; no torchmatrix.
"""

from __future__ import annotations  # an image may have an old Python

import os
import subprocess
import sys
from pathlib import Path

# Where images keep environments of their own, beside what VIRTUAL_ENV, CONDA_PREFIX and PATH name.
PLACES = (
    "/opt/*/bin/python3",
    "/opt/*/envs/*/bin/python3",
    "/opt/*/*/bin/python3",
    "/usr/local/bin/python3*[0-9]",
    "/usr/bin/python3*[0-9]",
    "/*env/bin/python3",
    "/app/*env/bin/python3",
    "/workspace/*env/bin/python3",
    "/root/*/bin/python3",
    "/root/*/envs/*/bin/python3",
    "/home/*/*/bin/python3",
    "/home/*/*/envs/*/bin/python3",
    "/home/*/*/*/bin/python3",
)
_HAS_TORCH = "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is None)"
_MOST = 40
_DEADLINE_S = 20


def candidates(environ: dict[str, str]) -> list[str]:
    """Interpreters to look at, the likeliest first: those that are named, those on PATH, those at usual places."""
    named = [f"{environ[name]}/bin/python3" for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if environ.get(name)]
    on_path = [f"{folder}/python3" for folder in environ.get("PATH", "").split(":") if folder]
    usual = [str(python) for place in PLACES for python in _there(place)]
    found = [sys.executable, *named, *on_path, *usual]
    return [python for python in dict.fromkeys(found) if os.access(python, os.X_OK)][:_MOST]


def _there(place: str) -> list[Path]:
    try:
        return sorted(Path("/").glob(place[1:]))
    except OSError:  # a folder that may not be looked into
        return []


def has_torch(python: str) -> bool:
    """Whether that interpreter would find torch; nothing of torch is run."""
    try:
        done = subprocess.run(
            [python, "-c", _HAS_TORCH],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_DEADLINE_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


if __name__ == "__main__":
    python = next(filter(has_torch, candidates(dict(os.environ))), sys.executable)
    os.execv(python, [python, "-c", *sys.argv[1:]])  # noqa: S606 - no shell is needed
