"""The image that tests run their cells in: Python where our images have it, no torch; kept between sessions."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.settings import load_site

if TYPE_CHECKING:
    from docker import APIClient

NAME = "torchmatrix-test/python:bookworm"


def why_not(client: "APIClient") -> str:
    """Why the engine cannot have it, or an empty text."""
    if client.images(NAME) or (os.geteuid() == 0 and shutil.which("mmdebstrap")):
        return ""
    return "the test image is made by mmdebstrap as root: apt-get install mmdebstrap"


def python_image(client: "APIClient") -> str:
    """Its name, once the engine has it; it is made by mmdebstrap, in some 20 s."""
    if client.images(NAME):
        return NAME
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(
        prefix="torchmatrix-test-", dir=memory if os.access(memory, os.W_OK) else None
    ) as place:
        Path(place).chmod(0o755)  # apt fetches as a user of its own
        archive = Path(place, "root.tar")
        python = 'mkdir -p "$1/opt/venv/bin" && ln -s /usr/bin/python3 "$1/opt/venv/bin/python"'
        subprocess.run(
            [
                *("mmdebstrap", "--quiet", "--variant=minbase", "--include=python3", "--dpkgopt=force-unsafe-io"),
                *(f"--customize-hook={python}", "bookworm", archive),
                *([f"deb {mirror} bookworm main"] if (mirror := load_site(os.environ).apt_mirror) else []),
            ],
            check=True,
            timeout=600,
            env={**os.environ, "TMPDIR": place},
        )
        repository, tag = NAME.split(":")
        client.import_image_from_file(str(archive), repository, tag)
    return NAME
