from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from planned_run import HOST, planned

from orchestrator.model import Host, Image, PlannedCell, SecretSource
from orchestrator.running.compile_key import fields, is_kept, key, processor, suites_digest, toolchain, version_of

DOCKER = msgspec.structs.replace(HOST, engine="docker")
IMAGE = Image(id="i", name="torchmatrix/image:1", ref="sha256:1", axes={}, observed={"torch": "2.13.0+cpu"})
PARTS = {"suites": "s", "processor": "p", "toolchain": "g++ 12.2.0", "place": ""}


def cell(**axes: str) -> PlannedCell:
    made = planned("pass", 1)
    return msgspec.structs.replace(made, axes={**made.axes, "backend": "inductor", **axes})


def name(of: PlannedCell, image: Image = IMAGE, host: Host = DOCKER, parts: Mapping[str, str] = PARTS) -> str:
    made = fields(of, image, host, **parts)
    assert made is not None
    return key(made)


def test_the_same_parts_have_one_key() -> None:
    assert name(cell()) == name(cell())


@pytest.mark.parametrize("part", list(PARTS))
def test_another_compiler_version_processor_or_suite_has_another_cache(part: str) -> None:
    assert name(cell(), parts={**PARTS, part: "g++ 14.2.0"}) != name(cell())


def test_another_image_driver_device_engine_or_option_has_another_cache() -> None:
    others = [
        name(cell(), image=msgspec.structs.replace(IMAGE, ref="sha256:2")),
        name(cell(), image=msgspec.structs.replace(IMAGE, observed={"torch": "2.13.0+cpu", "triton": "3.9.0"})),
        name(cell(), host=msgspec.structs.replace(DOCKER, axes={"driver": "580.1"})),
        name(cell(), host=msgspec.structs.replace(DOCKER, axes={"driver": "580.2"})),
        name(cell(), host=msgspec.structs.replace(DOCKER, axes={"gpu": "H100"})),
        name(cell(), host=msgspec.structs.replace(DOCKER, cpus=64)),
        name(cell(), host=msgspec.structs.replace(DOCKER, engine="process")),
        name(cell(env="TORCHINDUCTOR_FREEZING=1")),
        name(cell(matmul_precision="high")),
        name(cell()),
    ]
    assert len(set(others)) == len(others)


def test_nothing_is_kept_of_eager_of_foreign_images_of_secrets_or_of_an_unnamed_interpreter() -> None:
    secret = SecretSource(name="TOKEN", env="TOKEN")
    of = [
        (cell(backend="eager"), DOCKER),
        (cell(image="registry.example/torch@sha256:1"), DOCKER),
        (cell(), msgspec.structs.replace(HOST, engine="here")),
        (msgspec.structs.replace(cell(), secrets=(secret,)), DOCKER),
    ]
    assert [is_kept(one, host) for one, host in of] == [False] * len(of)
    assert is_kept(cell(), DOCKER)


def test_a_changed_load_is_another_suite(tmp_path: Path) -> None:
    (tmp_path / "suites").mkdir()
    load = tmp_path / "suites" / "load.py"
    load.write_text("x = 1\n")
    first = suites_digest(tmp_path)
    (tmp_path / "suites" / "notes.txt").write_text("no matter")
    assert suites_digest(tmp_path) == first
    load.write_text("x = 2\n")
    assert suites_digest(tmp_path) != first


CPU = "processor\t: 0\nvendor_id\t: V\nmodel name\t: M\nflags\t\t: {}\ncpu MHz\t\t: {}\n"


def test_instruction_sets_tell_processors_apart_and_clocks_do_not() -> None:
    assert processor(CPU.format("avx2 sse", "1000")) == processor(CPU.format("sse avx2", "2000"))
    assert processor(CPU.format("avx2 avx512f", "1000")) != processor(CPU.format("avx2", "1000"))
    assert processor(CPU.format("avx2", "1").replace(": M", ": N")) != processor(CPU.format("avx2", "1"))


def compiler(folder: Path, version: str) -> Path:
    made = folder / f"g++-{version}"
    made.write_text(f"#!/bin/sh\nif [ $1 = -dumpmachine ]; then echo t; else echo g++ {version}; echo more; fi\n")
    made.chmod(0o755)
    return made


def test_a_compiler_of_this_machine_is_asked_for_its_version(tmp_path: Path) -> None:
    old, new = (cell(env=f"CXX={compiler(tmp_path, version)}") for version in ("12.2.0", "14.2.0"))
    assert toolchain("process", IMAGE, old) == "g++ 12.2.0 t"
    assert toolchain("process", IMAGE, new) == "g++ 14.2.0 t"
    assert toolchain("docker", IMAGE, old) == IMAGE.ref, "the image has its own"
    assert version_of(str(tmp_path / "none")) == "none"
