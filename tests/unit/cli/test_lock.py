"""The verb `lock`: from a matrix and an index of tiny wheels to lock files, and back to what is wrong with them."""

import json
import os
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from orchestrator import schemas
from orchestrator.errors import ExitCode

Run = Callable[..., subprocess.CompletedProcess[str]]
CPU = "torch2.13.0-cpu-py3.11-f5005687"
BESIDE = (
    '  - {name: serve, torch: "2.13.0", torch_build: cpu, python: "3.11", backend: openvino, openvino: "2025.4.1"}\n'
)


def wheel(folder: Path, name: str, version: str, *requires: str) -> None:
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    files = {
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only source of the site: what the CPU row of the matrix needs."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    wheel(folder, "torch", "2.13.0+cpu")
    wheel(folder, "torch", "2.14.1+cpu")
    for name, version, *requires in (
        ("numpy", "2.2.4"),
        ("numpy", "2.4.6"),
        ("pytest", "9.1.0"),
        ("openvino", "2025.4.1", "numpy<2.4"),
        ("onnxscript", "0.7.2", "torch==2.14.1"),
    ):
        wheel(folder, name, version, *requires)
    (tmp_path / "index").mkdir()
    for name, value in {
        "PIP_CONFIG_FILE": "/dev/null",
        "UV_CACHE_DIR": str(tmp_path / "uv"),
        "TORCHMATRIX_CACHE": str(tmp_path / "cache"),
        "TORCHMATRIX_FIND_LINKS": str(folder),
        "TORCHMATRIX_INDEXES": f"default={(tmp_path / 'index').as_uri()}",
        "TORCHMATRIX_BASES": f"debian12=registry.example/debian@sha256:{'a' * 64}",
    }.items():
        monkeypatch.setenv(name, value)
    return folder


def lock_of(tmp_path: Path, image: str) -> Path:
    return tmp_path / "images" / "locks" / f"{image}.lock.toml"


def valid(done: subprocess.CompletedProcess[str], schema: str) -> dict:
    told = json.loads(done.stdout)
    jsonschema.validate(told, schemas.read(schema))
    return told


@pytest.mark.usefixtures("wheels")
def test_a_lock_is_made_once_and_then_good(torchmatrix: Run, tmp_path: Path) -> None:
    done = torchmatrix("lock", "--select", "ci-cpu")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].split()[:2] == ["written", "3"]
    content = lock_of(tmp_path, CPU).read_text()
    assert 'version = "2.4.6"' in content
    assert str(tmp_path) not in content
    assert "registry.example" not in content

    again = valid(torchmatrix("lock", "--select", "ci-cpu", "--json"), "locking")
    assert [(one["image"], one["state"], one["rows"]) for one in again["images"]] == [(CPU, "unchanged", ["ci-cpu"])]
    checked = torchmatrix("lock", "--check", "--json")
    assert checked.returncode == 0, checked.stdout
    found = valid(checked, "lock-check")
    assert [one["state"] for one in found["locks"]] == ["good", "none"]
    assert found["asked"]
    assert not valid(torchmatrix("lock", "--check", "--offline", "--json"), "lock-check")["asked"]


@pytest.mark.usefixtures("wheels")
def test_a_row_that_cannot_be_locked_is_told_and_the_others_are_locked(torchmatrix: Run, tmp_path: Path) -> None:
    done = torchmatrix("lock")
    assert done.returncode == ExitCode.NOT_PASSED
    lines = done.stdout.splitlines()
    assert lines[1].startswith("written")
    assert lines[2].startswith("failed")
    assert "torch-2.13.0+cpu-py3-none-any.whl is built for cpu, but cu130 was asked for" in lines[3]
    assert lock_of(tmp_path, CPU).is_file()


@pytest.mark.usefixtures("wheels")
def test_a_companion_that_wants_another_torch_is_refused(torchmatrix: Run, tmp_path: Path) -> None:
    file = tmp_path / "matrix.yaml"
    row = '  - {name: script, torch: "2.13.0", torch_build: cpu, python: "3.11", onnxscript: "0.7.2"}\n'
    file.write_text(file.read_text().replace("  driver:", '  onnxscript: ["0.7.2"]\n  driver:') + row)
    done = torchmatrix("lock", "--select", "script", "--json")
    assert done.returncode == ExitCode.NOT_PASSED, done.stderr
    (image,) = valid(done, "locking")["images"]
    assert (image["state"], image["cause"]) == ("failed", "version mismatch")
    assert "onnxscript==0.7.2 wants torch 2.14.1+cpu, but torch 2.13.0 was asked for" in image["reason"]
    assert not lock_of(tmp_path, image["image"]).exists()


@pytest.mark.usefixtures("wheels")
def test_a_neighbour_that_stays_behind_is_told_and_an_upgrade_brings_them_together(
    torchmatrix: Run, tmp_path: Path
) -> None:
    torchmatrix("lock", "--select", "ci-cpu")
    file = tmp_path / "matrix.yaml"
    content = file.read_text().replace("inductor]", "inductor, openvino]")
    file.write_text(
        content.replace("  driver:", '  openvino: {when: {backend: openvino}, values: ["2025.4.1"]}\n  driver:')
        + BESIDE
    )
    missing = torchmatrix("lock", "--check", "--offline")
    assert missing.returncode == ExitCode.NOT_PASSED
    assert "missing  torch2.13.0-cpu-py3.11-openvino2025.4.1" in missing.stdout
    assert missing.stdout.endswith("`torchmatrix lock` mends it\n")

    apart = torchmatrix("lock", "--select", "ci-cpu", "--select", "serve")
    assert apart.returncode == 0, apart.stderr
    assert "numpy 2.2.4, most have 2.4.6: all versions of openvino depend on numpy<2.4" in apart.stdout
    together = torchmatrix("lock", "--upgrade", "--select", "ci-cpu", "--select", "serve")
    assert "numpy: 2.4.6 -> 2.2.4" in together.stdout
    assert "most have" not in together.stdout
    wheel(tmp_path / "wheels", "pytest", "9.2.0")
    wheel(tmp_path / "wheels", "numpy", "2.3.0")
    one = torchmatrix("lock", "--upgrade-package", "numpy", "--select", "ci-cpu", "--select", "serve")
    assert one.stdout.count("numpy: 2.2.4 -> 2.3.0") == 2
    assert "pytest" not in one.stdout


def test_a_wheel_that_is_gone_is_stale(torchmatrix: Run, tmp_path: Path, wheels: Path) -> None:
    torchmatrix("lock", "--select", "ci-cpu")
    (wheels / "numpy-2.4.6-py3-none-any.whl").unlink()
    assert torchmatrix("lock", "--check", "--offline").returncode == 0
    done = torchmatrix("lock", "--check")
    assert done.returncode == ExitCode.NOT_PASSED
    assert f"stale  {CPU}" in done.stdout
    assert "numpy 2.4.6 is locked, and this site has no numpy-2.4.6-py3-none-any.whl any more" in done.stdout
    assert done.stdout.endswith("`torchmatrix lock --upgrade` mends it\n")


@pytest.mark.usefixtures("wheels")
@pytest.mark.parametrize(
    ("state", "why"), [("does not fit", "it has no wheel of torch, and torch==2.13.0 is asked for"), ("unreadable", "")]
)
def test_a_lock_that_was_gutted_or_is_no_file_fails_and_the_next_lock_mends_it(
    torchmatrix: Run, tmp_path: Path, state: str, why: str
) -> None:
    torchmatrix("lock", "--select", "ci-cpu")
    place = lock_of(tmp_path, CPU)
    whole = place.read_text()
    if why:
        place.write_text(whole.partition("[[wheels")[0] + "[wheels]\n")
    else:
        place.unlink()
        os.mkfifo(place)
    done = torchmatrix("lock", "--check", "--offline")
    assert done.returncode == ExitCode.NOT_PASSED
    assert f"{state}  {CPU}" in done.stdout
    assert f"{place.name}: {why or 'is no lock: it is not a regular file'}" in done.stdout
    assert done.stdout.endswith("`torchmatrix lock` mends it\n")
    assert torchmatrix("lock", "--select", "ci-cpu").returncode == 0
    assert place.read_text() == whole
    assert torchmatrix("lock", "--check", "--offline").returncode == 0


@pytest.mark.usefixtures("wheels")
def test_a_lock_that_no_row_has_any_more_is_left_over_and_goes(torchmatrix: Run, tmp_path: Path) -> None:
    torchmatrix("lock", "--select", "ci-cpu")
    file = tmp_path / "matrix.yaml"
    file.write_text(file.read_text().replace('ci-cpu, torch: "2.13.0"', 'ci-cpu, torch: "2.6.0"'))
    found = torchmatrix("lock", "--check", "--offline")
    assert found.returncode == ExitCode.NOT_PASSED
    assert f"left over  {CPU}" in found.stdout
    done = torchmatrix("lock")
    assert "left over" in done.stdout
    assert lock_of(tmp_path, CPU).exists()  # another matrix beside this one may have it
    foreign = lock_of(tmp_path, "notes")
    foreign.write_text("not a lock of ours")
    done = torchmatrix("lock", "--prune")
    assert "removed" in done.stdout
    assert not lock_of(tmp_path, CPU).exists()
    assert foreign.read_text() == "not a lock of ours"


@pytest.mark.usefixtures("wheels")
@pytest.mark.parametrize("beside", [("--check",), ("--select", "ci-cpu")])
def test_locks_are_removed_only_for_the_whole_matrix(torchmatrix: Run, beside: tuple[str, ...]) -> None:
    assert torchmatrix("lock", "--prune", *beside).returncode == ExitCode.BAD_INPUT


def test_no_login_of_an_index_reaches_a_lock_or_a_line(
    torchmatrix: Run, tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "hunter2-4711"
    monkeypatch.setenv("TORCHMATRIX_EXTRA_INDEXES", f"http://me:{secret}@127.0.0.1:9/simple")
    refused = torchmatrix("lock", "--select", "ci-cpu", "--json")
    assert refused.returncode == ExitCode.INFRASTRUCTURE
    monkeypatch.setenv("TORCHMATRIX_EXTRA_INDEXES", "")
    torchmatrix("lock", "--select", "ci-cpu")
    (wheels / "numpy-2.4.6-py3-none-any.whl").unlink()
    monkeypatch.setenv("TORCHMATRIX_EXTRA_INDEXES", f"http://me:{secret}@127.0.0.1:9/simple")
    asked = torchmatrix("lock", "--check")
    assert asked.returncode == ExitCode.INFRASTRUCTURE
    assert "not answered" in asked.stdout
    assert "http://127.0.0.1:9/simple/ did not answer: " in asked.stdout
    for told in (refused.stdout, refused.stderr, asked.stdout, asked.stderr, lock_of(tmp_path, CPU).read_text()):
        assert secret not in told


@pytest.mark.parametrize(
    "arguments", [("--check", "--upgrade"), ("--check", "--upgrade-package", "numpy"), ("--offline",)]
)
def test_what_makes_no_sense_is_refused(torchmatrix: Run, arguments: tuple[str, ...]) -> None:
    assert torchmatrix("lock", *arguments).returncode == ExitCode.BAD_INPUT
