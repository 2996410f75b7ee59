"""No engine that could be used: each way is told apart, before any cell, with what to do."""

import os
import socket
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from engine_api import DROP, GARBAGE, HALF, HANG, fake_engine

from orchestrator.engines.docker import connection
from orchestrator.errors import ExitCode, InfrastructureError


def why_not(environ: dict[str, str], timeout_s: float = 2.0) -> str:
    with pytest.raises(InfrastructureError) as caught:
        connection.version(environ, timeout_s)
    assert caught.value.exit_code is ExitCode.INFRASTRUCTURE
    return str(caught.value)


def test_it_is_not_installed(tmp_path: Path) -> None:
    said = why_not({"DOCKER_HOST": f"unix://{tmp_path}/none.sock"})
    assert "no container engine" in said
    assert f"unix://{tmp_path}/none.sock" in said
    assert "hint: apt-get install docker.io" in said


def test_it_stopped_and_left_its_socket(tmp_path: Path) -> None:
    path = tmp_path / "stale.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
    said = why_not({"DOCKER_HOST": f"unix://{path}"})
    assert "is not running" in said
    assert "hint: systemctl start docker" in said


def test_its_socket_is_not_for_us() -> None:
    import tempfile

    with tempfile.TemporaryDirectory(dir="/tmp") as folder, fake_engine(Path(folder)) as engine:
        engine.path.parent.chmod(0o755)
        engine.path.chmod(0o600 if os.geteuid() == 0 else 0)
        if os.geteuid() == 0:
            os.seteuid(65534)
        try:
            said = why_not(engine.environ)
        finally:
            if os.getuid() == 0:
                os.seteuid(0)
    assert "no permission" in said
    assert "hint: add the user to the group docker" in said


def test_it_is_too_old(tmp_path: Path) -> None:
    with fake_engine(tmp_path) as engine:
        engine.api_version = "1.40"
        said = why_not(engine.environ)
    assert "speaks API 1.40, 1.41 is needed" in said
    assert "hint: install Docker 20.10 or later" in said


def test_it_hangs(tmp_path: Path) -> None:
    with fake_engine(tmp_path) as engine:
        engine.faults["version"] = HANG
        assert "did not answer within 0.1 s" in why_not(engine.environ, 0.1)


def test_its_answer_drips(tmp_path: Path) -> None:
    path = tmp_path / "drip.sock"
    over = threading.Event()

    def drip(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while not over.wait(0.02):
                connection.sendall(b" ")

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        dripping = threading.Thread(target=drip, args=(listener,))
        dripping.start()
        try:
            assert "did not answer within 0.3 s" in why_not({"DOCKER_HOST": f"unix://{path}"}, 0.3)
        finally:
            over.set()
            dripping.join()


@pytest.mark.parametrize("fault", [GARBAGE, HALF, DROP])
def test_it_answers_nonsense(tmp_path: Path, fault: str) -> None:
    with fake_engine(tmp_path) as engine:
        engine.faults["version"] = fault
        said = why_not(engine.environ)
    assert "not a container engine" in said or "cannot reach" in said


@pytest.mark.parametrize("host", ["ssh://somewhere", "npipe:////./pipe/docker_engine", "nonsense"])
def test_its_address_is_of_another_kind(host: str) -> None:
    assert "not supported" in why_not({"DOCKER_HOST": host})


@pytest.mark.parametrize("host", ["tcp://[::1", "tcp://engine:99999", "tcp://engine:port"])
def test_its_address_is_none(host: str) -> None:
    assert why_not({"DOCKER_HOST": host}).startswith(f"{host}: this is no address of an engine")


def test_its_keys_are_not_there(tmp_path: Path) -> None:
    told = {"DOCKER_HOST": "tcp://127.0.0.1:2376", "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": str(tmp_path)}
    assert why_not(told).startswith(f"{tmp_path}: the keys for the engine cannot be used")


def test_nobody_listens_at_a_tcp_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert "is not running" in why_not({"DOCKER_HOST": f"tcp://127.0.0.1:{port}"})


def test_the_probe_says_the_same_without_raising(tmp_path: Path) -> None:
    answers, why = connection.probe({"DOCKER_HOST": f"unix://{tmp_path}/none.sock"})
    assert not answers
    assert "no container engine" in why


def test_the_probe_says_what_answers(tmp_path: Path) -> None:
    with fake_engine(tmp_path) as engine:
        assert connection.probe(engine.environ) == (True, f"Docker 20.10.99 (API 1.41) at unix://{engine.path}")
