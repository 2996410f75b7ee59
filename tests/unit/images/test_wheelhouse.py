import hashlib
import http.server
import io
import os
import struct
import threading
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from orchestrator.errors import Interrupted
from orchestrator.images import wheelhouse
from orchestrator.images.failure import Stage, StageFailed
from orchestrator.images.resolve import Wheel
from orchestrator.images.wheelhouse import check_torch, fetch, lay_out, place_of, torch_build
from orchestrator.vocabulary import Cause


def wheel_of(path: Path, url: str = "") -> Wheel:
    return Wheel(
        name=path.name.split("-")[0],
        version=path.name.split("-")[1],
        file=path.name,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        url=url or path.as_uri(),
    )


@pytest.fixture
def torch(wheels: Path) -> Wheel:
    return wheel_of(wheels / "torch-2.13.0+cpu-py3-none-any.whl")


@pytest.fixture
def served(wheels: Path) -> Iterator[tuple[str, list[str]]]:
    """An index over HTTP that wants a login: its address without the login, and the headers that it was sent."""
    seen: list[str] = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, directory=str(wheels), **options)

        def do_GET(self):
            seen.append(self.headers.get("Authorization", ""))
            super().do_GET() if len(seen) > 1 else self.send_error(503)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}", seen
        server.shutdown()


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheelhouse.time, "sleep", lambda _: None)


def test_a_wheel_is_fetched_once_and_said_so(torch, site, commands):
    said: list[str] = []
    fetch([torch], site, commands, said.append)
    fetch([torch], site, commands, said.append)

    assert said == ["wheels: fetching torch 2.13.0+cpu"]
    assert hashlib.sha256(place_of(torch, site).read_bytes()).hexdigest() == torch.sha256


def test_a_changed_wheel_is_refused_and_leaves_nothing(torch, wheels, site, commands):
    (wheels / torch.file).write_bytes(b"something else")

    with pytest.raises(StageFailed, match="is not the file that was locked") as caught:
        fetch([torch], site, commands, print)

    assert caught.value.why is Cause.LOCK_STALE
    assert list(place_of(torch, site).parent.iterdir()) == []


def test_what_a_fetch_left_that_was_killed_goes_with_the_next(torch, site, commands):
    folder = place_of(torch, site).parent
    folder.mkdir(parents=True)
    (folder / f".{torch.file}.half-0123abcd").write_bytes(b"half")
    fetch([torch], site, commands, print)

    assert [file.name for file in folder.iterdir()] == [torch.file]


def test_a_wheel_is_on_the_disk_before_it_has_its_name(torch, site, commands, monkeypatch):
    synced: list[str] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (real(fd), synced.append(Path(f"/proc/self/fd/{fd}").readlink().name)))
    fetch([torch], site, commands, print)

    assert synced[0].startswith(f".{torch.file}.half-")
    assert synced[1:] == [torch.sha256]
    assert place_of(torch, site).stat().st_mode & 0o777 == 0o644


def test_an_index_that_fails_once_is_asked_again_with_the_login_of_its_own_address(
    torch, with_site, served, commands, no_pause
):
    address, seen = served
    site = with_site(indexes={"": f"http://user:secret%21@{address}/simple"})
    fetch([replace(torch, url=f"http://{address}/{torch.file}")], site, commands, print)

    assert seen == ["Basic dXNlcjpzZWNyZXQh"] * 2
    assert place_of(torch, site).is_file()


def test_another_host_is_not_given_the_login(torch, with_site, served, commands, no_pause):
    address, seen = served
    site = with_site(indexes={"": "http://user:secret@index.example/simple"})
    fetch([replace(torch, url=f"http://{address}/{torch.file}")], site, commands, print)

    assert seen == ["", ""]


def test_an_index_that_stays_away_is_named(torch, site, commands, no_pause):
    gone = replace(torch, url="http://127.0.0.1:9/torch.whl")

    with pytest.raises(StageFailed, match=r"torch 2\.13\.0\+cpu could not be fetched from 127\.0\.0\.1") as caught:
        fetch([gone], site, commands, print)

    assert torch.file in caught.value.log


def test_a_full_disk_is_told_as_such(torch, site, commands, no_pause, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(wheelhouse, "_copy", full)
    with pytest.raises(StageFailed) as caught:
        fetch([torch], site, commands, print)

    assert caught.value.why is Cause.OUT_OF_DISK


@pytest.mark.parametrize("url", ["ftp://index.example/torch.whl", "data:,x"])
def test_wheels_come_from_files_and_http_only(torch, site, commands, url):
    with pytest.raises(StageFailed, match="is no place to fetch wheels from"):
        fetch([replace(torch, url=url)], site, commands, print)


@pytest.mark.parametrize("name", ["../../x.whl", "/etc/passwd", "..", "", "-x.whl", "CON", "a" * 300, "x.whl."])
def test_a_name_that_is_no_plain_file_name_reaches_no_path(torch, site, name):
    with pytest.raises(StageFailed, match="is no name of a wheel"):
        place_of(replace(torch, file=name), site)


def test_a_stopped_fetch_leaves_nothing(torch, site, commands):
    commands.stop()

    with pytest.raises(Interrupted):
        fetch([torch], site, commands, print)

    assert list(place_of(torch, site).parent.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "build"),
    [
        ("__version__ = '2.13.0+cpu'\ncuda: Optional[str] = None\n", "cpu"),
        ("__version__ = '2.12.1+cu130'\n", "cu130"),
        ("__version__ = '2.13.0+rocm7.1'\n", "rocm7.1"),
        ("__version__ = '2.6.0'\n", ""),
    ],
)
def test_the_build_is_what_the_wheel_will_report(tmp_path, wheel_maker, text, build):
    assert torch_build(wheel_maker(tmp_path, "torch", "2.13.0", files={"torch/version.py": text})) == build


def test_a_wheel_of_another_build_is_a_mismatch_whatever_its_name_says(site, tmp_path, wheel_maker, commands):
    """Row 27: cpu for cuda, found before an image is built."""
    wheel = wheel_of(
        wheel_maker(tmp_path / "x", "torch", "2.13.0", files={"torch/version.py": "__version__ = '2.13.0+cpu'\n"})
    )
    fetch([wheel], site, commands, print)

    with pytest.raises(StageFailed, match="is built for cpu, but cu130 was asked for") as caught:
        check_torch([wheel], "cu130", site)

    assert caught.value.why is Cause.VERSION_MISMATCH
    assert caught.value.hint == "set the index that has torch for cu130: indexes: {cu130: URL}"


def test_a_file_that_is_no_wheel_is_a_failure_of_that_image(tmp_path):
    (tmp_path / "torch.whl").write_text("<html>404</html>")

    with pytest.raises(StageFailed, match=r"torch\.whl is no wheel"):
        torch_build(tmp_path / "torch.whl")


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (6, b"\x01"),  # encrypted: RuntimeError
        (8, b"\x63"),  # a method that nobody has: NotImplementedError
        (8, b"\x0e"),  # lzma, which it is not
        (8, b"\x0c"),  # bzip2, which it is not
        (30 + len("torch/version.py"), b"\xff\xff\xff"),  # no deflate: zlib.error
    ],
)
def test_a_wheel_that_is_made_to_hurt_is_a_failure_of_that_image(site, tmp_path, at, value):
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("torch/version.py", "__version__ = '2.13.0+cpu'\n" * 9)
    data = bytearray(whole.getvalue())
    data[at : at + len(value)] = value
    if at < 30:  # the table of contents says the same
        data[data.index(b"PK\x01\x02") + at + 2] = value[0]
    file = tmp_path / "torch-2.13.0-py3-none-any.whl"
    file.write_bytes(data)
    wheel = Wheel(name="torch", version="2.13.0", file=file.name, sha256="0" * 64, url=file.as_uri())
    place = place_of(wheel, site)
    place.parent.mkdir(parents=True)
    place.write_bytes(data)

    with pytest.raises(StageFailed) as caught:
        check_torch([wheel], "cpu", site)
    assert caught.value.stage is Stage.WHEELS


@pytest.mark.parametrize("problem", [OverflowError, EOFError, KeyError, UnicodeDecodeError, IndexError, struct.error])
def test_whatever_a_damaged_archive_raises_is_a_failure_of_that_image(tmp_path, monkeypatch, problem):
    def broken(*_):
        raise problem(*(("utf-8", b"", 0, 1, "") if problem is UnicodeDecodeError else ("damaged",)))

    monkeypatch.setattr(zipfile, "ZipFile", broken)
    with pytest.raises(StageFailed, match=r"torch\.whl is no wheel"):
        torch_build(tmp_path / "torch.whl")


def test_no_more_is_unpacked_than_a_version_needs(tmp_path):
    with zipfile.ZipFile(tmp_path / "torch.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("torch/version.py", "__version__ = '2.13.0+cpu'\n" + " " * (64 << 20))
    tracemalloc.start()
    try:
        assert torch_build(tmp_path / "torch.whl") == "cpu"
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_a_laid_out_layer_is_links_and_a_lock_with_hashes(torch, site, tmp_path, commands):
    fetch([torch], site, commands, print)
    lay_out([torch], tmp_path / "layer", site)

    assert (tmp_path / "layer" / torch.file).samefile(place_of(torch, site))
    assert (tmp_path / "layer/lock.txt").read_text() == f"torch==2.13.0+cpu --hash=sha256:{torch.sha256}\n"
