import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from orchestrator.errors import ExitCode, InfrastructureError
from orchestrator.running import hosts

UP = "Docker 20.10.24 (API 1.41) at unix:///var/run/docker.sock"
DOWN = "unix:///var/run/docker.sock: no container engine (there is no such socket)\nhint: apt-get install docker.io"


def world(root: Path, *, docker: bool = True, uv: str = "/usr/bin/uv") -> hosts.World:
    return hosts.World(root=root, probe_docker=lambda _: (docker, UP if docker else DOWN), find_uv=lambda: uv)


def test_docker_where_one_answers(tmp_path: Path) -> None:
    host = hosts.detect(None, {}, world(tmp_path))
    assert (host.engine, host.engine_reason) == ("docker", UP)
    assert host.pythons == ()  # nobody needs them: not looked for


def test_the_process_engine_elsewhere_with_the_reason_in_one_line(tmp_path: Path) -> None:
    host = hosts.detect(None, {"PATH": ""}, world(tmp_path, docker=False))
    assert host.engine == "process"
    assert host.engine_reason == DOWN.partition("\n")[0] + ": process engine"
    assert f"{sys.version_info[0]}.{sys.version_info[1]}" in host.pythons


def test_no_engine_at_all_is_told_and_not_hidden(tmp_path: Path) -> None:
    host = hosts.detect(None, {}, world(tmp_path, docker=False, uv=""))
    assert host.engine == "none"
    assert host.engine_reason.endswith("and uv was not found")


def test_docker_that_was_asked_for_and_does_not_answer_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match=r"hint: apt-get install docker\.io") as refused:
        hosts.detect("docker", {}, world(tmp_path, docker=False))
    assert refused.value.exit_code is ExitCode.INFRASTRUCTURE


def test_the_process_engine_that_was_asked_for_needs_uv(tmp_path: Path) -> None:
    assert hosts.detect("process", {"PATH": ""}, world(tmp_path)).engine == "process"
    with pytest.raises(InfrastructureError, match="uv was not found"):
        hosts.detect("process", {}, world(tmp_path, uv=""))


def test_docker_is_not_asked_where_another_engine_was_asked_for(tmp_path: Path) -> None:
    def never(_: Mapping[str, str]) -> tuple[bool, str]:
        raise AssertionError("docker was asked")

    asked = hosts.World(root=tmp_path, probe_docker=never, find_uv=lambda: "uv")
    assert hosts.detect("process", {"PATH": ""}, asked).engine == "process"
    assert hosts.detect("here", {}, asked).engine == "here"


def test_here_has_the_interpreter_and_its_torch_as_axes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", {"torch": "2.13.0+cpu"}.__getitem__)
    host = hosts.detect("here", {}, world(tmp_path))
    python = ".".join(map(str, sys.version_info[:3]))
    assert host.axes["python"] == python
    assert (host.axes["torch"], host.axes["torch_build"]) == ("2.13.0+cpu", "cpu")
    assert host.pythons == (python,)


def test_the_machine_has_its_architecture_and_its_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    node = tmp_path / "sys/class/kfd/kfd/topology/nodes/1/properties"
    node.parent.mkdir(parents=True)
    node.write_text("simd_count 4\n")
    host = hosts.detect(None, {}, world(tmp_path))
    assert host.axes == {"host_arch": "aarch64", "gpus": "1"}


@pytest.mark.parametrize(
    ("told", "base"),
    [
        ('PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n', "debian12"),
        ("ID=ubuntu\nVERSION_ID=24.04\nID_LIKE=debian\n", "ubuntu24.04"),
        ("ID=arch\n", ""),  # rolling: no version to name
        ("", ""),
    ],
)
def test_the_base_is_what_os_release_says(tmp_path: Path, told: str, base: str) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").write_text(told)
    assert hosts.distribution(tmp_path) == base
    assert hosts.distribution(tmp_path / "nowhere") == ""


@pytest.mark.parametrize(
    ("files", "size"),
    [
        ({}, 16 << 30),
        ({"sys/fs/cgroup/memory.max": "max\n"}, 16 << 30),
        ({"sys/fs/cgroup/memory.max": f"{4 << 30}\n"}, 4 << 30),
        ({"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 16 << 30),
        ({"sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2 << 30}\n"}, 2 << 30),
    ],
)
def test_memory_is_the_machines_or_what_our_cgroup_leaves(tmp_path: Path, files: dict[str, str], size: int) -> None:
    for name, content in {"proc/meminfo": f"MemTotal:       {16 << 20} kB\nMemFree: 1 kB\n", **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    assert hosts.memory(tmp_path) == size


def test_uv_is_found_beside_us_or_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "bin/python"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert hosts.find_uv() == ""
    for folder in ("path", "bin"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "uv").write_text("#!/bin/sh\n")
        (tmp_path / folder / "uv").chmod(0o755)
        assert hosts.find_uv() == str(tmp_path / folder / "uv")


def test_detecting_imports_no_heavy_library() -> None:
    code = "import os, sys; from orchestrator.running.hosts import detect; detect('process', os.environ)"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
    )
    assert not {"docker", "requests", "duckdb", "jinja2", "packaging", "ruamel", "rich"} & set(done.stdout.split())


@pytest.mark.parametrize(
    ("engine", "docker", "program", "lacks"),
    [(None, False, "g++", False), (None, False, "", True), (None, True, "", False), ("here", True, "", True)],
)
def test_a_missing_compiler_matters_where_there_is_no_container(
    tmp_path: Path, engine: str | None, docker: bool, program: str, lacks: bool
) -> None:
    if program:
        (tmp_path / program).touch(mode=0o755)
    host = hosts.detect(engine, {"PATH": str(tmp_path)}, world(tmp_path, docker=docker))
    assert bool(host.without_compiler) is lacks
