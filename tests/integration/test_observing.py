"""Containers that ask images what they have: none outlives its owner for longer than until the next sweep."""

import os
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from docker.errors import NotFound

from orchestrator.engines.docker.run import DockerEngine

if TYPE_CHECKING:
    from docker import APIClient

pytestmark = pytest.mark.docker

ASKS = """
import os, sys
from orchestrator.images.command import Commands
from orchestrator.images.docker import Docker
Docker(Commands(), os.environ).ask(sys.argv[1], ("/opt/venv/bin/python", "-c", "import time; time.sleep(300)"),
                                   sys.argv[2], 300)
"""


def is_running(client: "APIClient", name: str) -> bool:
    try:
        return bool(client.inspect_container(name)["State"]["Running"])
    except NotFound:
        return False


def test_one_whose_owner_was_killed_goes_and_one_whose_owner_lives_stays(
    docker_engine: "APIClient", python_image: str
) -> None:
    names = [f"torchmatrix-observe-test-{uuid.uuid4().hex[:12]}" for _ in range(2)]
    owners = [subprocess.Popen([sys.executable, "-c", ASKS, python_image, name]) for name in names]
    try:
        give_up = time.monotonic() + 60
        while not all(is_running(docker_engine, name) for name in names):
            assert time.monotonic() < give_up
            time.sleep(0.1)
        owners[0].kill()
        owners[0].wait()
        assert is_running(docker_engine, names[0])  # the engine knows nothing of owners
        swept = DockerEngine(os.environ).sweep(f"no-run-{uuid.uuid4().hex}")
        assert names[0] in swept
        assert names[1] not in swept
        assert [is_running(docker_engine, name) for name in names] == [False, True]
    finally:
        for owner in owners:
            owner.kill()
            owner.wait()
        for name in names:
            with suppress(NotFound):
                docker_engine.remove_container(name, force=True)
