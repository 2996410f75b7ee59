import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orchestrator.axes import image_axes
from orchestrator.images import bootstrap
from orchestrator.images.bases import Base, find_base, holding
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


@pytest.fixture
def apt(engine, monkeypatch) -> Path:
    """The calls of an apt-get that has mmdebstrap installed, and that refuses to work beside another, as it does."""
    (engine.programs / "mmdebstrap").rename(engine.programs / "kept")
    log = engine.state / "apt"
    engine.client(
        "apt-get",
        f"""import os, sys, time
lock = {str(engine.state / "apt-lock")!r}
try:
    os.mkdir(lock)
except FileExistsError:
    sys.exit(100)
open({str(log)!r}, 'a').write(' '.join(sys.argv[1:]) + chr(10))
time.sleep(0.2)
if 'install' in sys.argv:
    os.rename(sys.argv[0].replace('apt-get', 'kept'), sys.argv[0].replace('apt-get', 'mmdebstrap'))
os.rmdir(lock)
""",
    )
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 0)
    return log


def test_root_has_mmdebstrap_installed_and_is_told(base, site, docker, engine, commands, apt):
    said: list[str] = []
    provide(base, site, docker, commands, said.append)

    line = "apt-get install -y --no-install-recommends mmdebstrap debian-archive-keyring"
    assert said[0] == f"base: mmdebstrap is not installed: {line}"
    assert apt.read_text().splitlines() == [
        "update -q",
        f"{line.removeprefix('apt-get ')} --option=DPkg::Lock::Timeout=300",
    ]
    assert len(engine.bootstraps) == 1


def test_two_bases_at_once_have_it_installed_once(base, cpu, site, docker, engine, commands, apt):
    """apt-get ends with 100 where another is at work; both bases would be errors on the first run of a machine."""
    bases = (base, find_base({**image_axes(cpu), "base": "debian13", "python": "3.13"}, {}))
    with ThreadPoolExecutor() as pool:
        tuple(pool.map(lambda one: provide(one, site, docker, commands, print), bases))

    assert len(apt.read_text().splitlines()) == 2
    assert all(docker.inspect(one.ref) for one in bases)


def test_a_base_is_not_begun_where_it_has_no_room(base, site, docker, engine, commands, monkeypatch):
    monkeypatch.setattr(bootstrap, "_SHARED_MEMORY", Path("/nonexistent"))
    monkeypatch.setattr(bootstrap, "_ROOM", 1 << 60)

    with pytest.raises(StageFailed, match="MiB free, a base needs") as caught:
        provide(base, site, docker, commands, print)

    assert caught.value.why is Cause.OUT_OF_DISK
    assert engine.bootstraps == []


ROOT_OF = r"""
import io, os, sys, tarfile
from pathlib import Path
state = Path(os.environ["FAKE_ENGINE"])
with (state / "bootstraps").open("a") as log:
    log.write(" ".join(sys.argv[1:]) + "\n")
failing = state / "fail-bootstrap"
if failing.exists():
    print(failing.read_text(), file=sys.stderr)
    sys.exit(25)
status = "".join(
    f"Package: {name}\nStatus: install ok installed\nVersion: {version}\n\n"
    for name, _, version in (word.partition("=") for word in (state / "root").read_text().split())
)
with tarfile.open(next(word for word in sys.argv if word.endswith(".tar")), "w") as tar:
    member = tarfile.TarInfo("./var/lib/dpkg/status")
    member.size = len(status)
    tar.addfile(member, io.BytesIO(status.encode()))
"""


@pytest.fixture
def locked(base, engine) -> Base:
    """The base as a lock holds it, and a mirror that still has just that."""
    engine.client("mmdebstrap", ROOT_OF)
    engine.set("root", "adduser=3.134 python3=3.11.2-1+b1")
    return holding(base, ("adduser=3.134", "python3=3.11.2-1+b1"))


def test_a_locked_base_is_made_where_the_mirror_has_what_is_locked(base, locked, site, docker, engine, commands):
    provide(locked, site, docker, commands, print)

    assert docker.inspect(locked.ref)
    assert docker.inspect(base.ref) is None
    assert docker.inspect(locked.ref).labels["org.torchmatrix.base"] == locked.key


def test_a_mirror_that_has_moved_on_is_a_stale_lock_that_names_the_packages(locked, site, docker, engine, commands):
    engine.set("root", "adduser=3.135 zlib1g=1 bash=5 dash=1")
    with pytest.raises(StageFailed) as caught:
        provide(locked, site, docker, commands, print)

    failure = caught.value.of("image")
    assert (failure.stage, failure.cause) == (Stage.BASE, Cause.LOCK_STALE)
    assert "the mirror of bookworm has not the packages that are locked: adduser: 3.134 -> 3.135, " in failure.reason
    assert "and 2 more; `torchmatrix lock --upgrade` renews the lock, `--upgrade-package debian12` " in failure.reason
    assert "python3: 3.11.2-1+b1 -> none" in failure.log_tail
    assert docker.inspect(locked.ref) is None


def test_a_package_that_the_mirror_dropped_is_a_stale_lock_only_where_there_is_a_lock(
    base, locked, site, docker, engine, commands
):
    engine.set("fail-bootstrap", "E: Unable to locate package libtorch-dev")
    for each, cause in ((locked, Cause.LOCK_STALE), (base, Cause.MISSING_PACKAGE)):
        with pytest.raises(StageFailed) as caught:
            provide(each, site, docker, commands, print)
        assert caught.value.why is cause

    with pytest.raises(StageFailed, match="the mirror has no package libtorch-dev any more"):
        provide(locked, site, docker, commands, print)
