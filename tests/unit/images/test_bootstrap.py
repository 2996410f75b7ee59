import os
import threading
from pathlib import Path

import pytest

from orchestrator.axes import image_axes
from orchestrator.images import bootstrap
from orchestrator.images.bases import Base, find_base
from orchestrator.images.bootstrap import mmdebstrap_line, provide
from orchestrator.images.docker import Docker
from orchestrator.images.failure import Stage, StageFailed
from orchestrator.vocabulary import Cause


@pytest.fixture
def base(cpu) -> Base:
    return find_base(image_axes(cpu), {})


@pytest.fixture
def docker(engine, commands) -> Docker:
    return Docker(commands, os.environ)


def test_a_base_is_made_once_and_labelled_with_its_key(base, site, docker, engine, commands):
    said: list[str] = []
    provide(base, site, docker, commands, said.append)
    provide(base, site, docker, commands, said.append)

    assert len(engine.bootstraps) == 1
    assert docker.inspect(base.ref).labels == {
        "org.torchmatrix.base": base.key,
        "org.torchmatrix.base-name": "debian12",
    }
    assert said == [
        f"base debian12: bootstrapping bookworm with {', '.join(base.packages)} from http://mirror.example/debian"
    ]


def test_two_makers_of_one_base_at_once_make_it_once(base, site, docker, engine, commands):
    makers = [threading.Thread(target=provide, args=(base, site, docker, commands, print)) for _ in range(3)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()

    assert len(engine.bootstraps) == 1
    assert docker.inspect(base.ref)


def test_a_half_made_base_is_never_used(base, site, docker, engine, commands):
    """Row 26: no name resolution at the mirror."""
    engine.set("fail-bootstrap", "W: Temporary failure resolving 'mirror.example'\nE: apt-get update failed")

    with pytest.raises(StageFailed) as caught:
        provide(base, site, docker, commands, print)

    assert caught.value.stage is Stage.BASE
    assert caught.value.fact == "mmdebstrap ended with 25 making `debian12`"
    assert "Temporary failure resolving" in caught.value.log
    assert "http://mirror.example/debian" in caught.value.hint
    assert docker.inspect(base.ref) is None

    (engine.state / "fail-bootstrap").unlink()
    provide(base, site, docker, commands, print)
    assert docker.inspect(base.ref)


def test_the_command_names_the_mirror_and_everything_in_the_key(base):
    line = mmdebstrap_line(base, "http://mirror.example/debian", Path("/x/root.tar"))

    assert line[0] == "mmdebstrap"
    assert line[-3:] == ["bookworm", "/x/root.tar", "deb http://mirror.example/debian bookworm main"]
    assert "--include=python3,ca-certificates,g++,libpython3-dev" in line
    assert "--dpkgopt=force-unsafe-io" in line
    assert "--architectures=amd64" in line


def test_without_a_mirror_mmdebstrap_takes_its_own(base):
    assert mmdebstrap_line(base, "", Path("/x/root.tar"))[-2:] == ["bookworm", "/x/root.tar"]


def test_an_image_by_digest_is_pulled_and_not_bootstrapped(cpu, site, docker, engine, commands):
    ref = f"registry.example/debian@sha256:{'ab' * 32}"
    provide(find_base(image_axes(cpu), {"debian12": ref}), site, docker, commands, print)

    assert [call["argv"] for call in engine.calls("pull")] == [["pull", "--quiet", ref]]
    assert engine.bootstraps == []


def test_a_local_image_gets_its_name_and_is_not_pulled(cpu, site, docker, engine, commands):
    engine_image = docker.inspect(_imported(docker, engine))
    found = find_base(image_axes(cpu), {"debian12": engine_image.id})
    provide(found, site, docker, commands, print)

    assert docker.inspect(found.ref)
    assert engine.calls("pull") == []


def _imported(docker, engine) -> str:
    (engine.state / "root.tar").write_text("a root")
    docker.import_root(engine.state / "root.tar", "local:1", {})
    return "local:1"


def test_a_digest_that_the_registry_no_longer_has_is_a_base_failure(cpu, site, docker, engine, commands):
    """Row 26: the digest is gone, the registry answers 429."""
    engine.set("fail-pull", "Error response from daemon: toomanyrequests: You have reached your pull rate limit.")

    with pytest.raises(StageFailed, match="could not be pulled") as caught:
        provide(find_base(image_axes(cpu), {"debian12": f"r@sha256:{'ab' * 32}"}), site, docker, commands, print)

    assert caught.value.stage is Stage.BASE
    assert "toomanyrequests" in caught.value.log


def test_without_mmdebstrap_a_user_is_told_the_line_to_type(base, site, docker, engine, commands, monkeypatch):
    (engine.programs / "mmdebstrap").unlink()
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 1000)

    with pytest.raises(StageFailed, match="mmdebstrap is not installed") as caught:
        provide(base, site, docker, commands, print)

    assert caught.value.hint == ("sudo apt-get install -y --no-install-recommends mmdebstrap debian-archive-keyring")


def test_root_has_mmdebstrap_installed_and_is_told(base, site, docker, engine, commands, monkeypatch):
    (engine.programs / "mmdebstrap").rename(engine.programs / "kept")
    log = engine.state / "apt"
    code = f"import sys; open({str(log)!r}, 'a').write(' '.join(sys.argv[1:]) + chr(10))\n"
    code += "import os\nif 'install' in sys.argv: os.rename(sys.argv[0].replace('apt-get', 'kept'), "
    engine.client("apt-get", code + "sys.argv[0].replace('apt-get', 'mmdebstrap'))")
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 0)
    said: list[str] = []
    provide(base, site, docker, commands, said.append)

    line = "apt-get install -y --no-install-recommends mmdebstrap debian-archive-keyring"
    assert said[0] == f"base: mmdebstrap is not installed: {line}"
    assert log.read_text().splitlines() == ["update -q", line.removeprefix("apt-get ")]
    assert len(engine.bootstraps) == 1


def test_a_base_is_not_begun_where_it_has_no_room(base, site, docker, engine, commands, monkeypatch):
    monkeypatch.setattr(bootstrap, "_SHARED_MEMORY", Path("/nonexistent"))
    monkeypatch.setattr(bootstrap, "_ROOM", 1 << 60)

    with pytest.raises(StageFailed, match="MiB free, a base needs") as caught:
        provide(base, site, docker, commands, print)

    assert caught.value.why is Cause.OUT_OF_DISK
    assert engine.bootstraps == []
