"""What indexes, mirrors, uv, images, engines and other programs' files answer; and what masking makes of any bytes."""

import datetime as dt
import io
import json
import lzma
import random
import zlib
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote, urlsplit

import msgspec
from law import Target, ours

from orchestrator import axes, text
from orchestrator.engines.docker import connection, watch
from orchestrator.images import contents, docker, index, mirror, roots
from orchestrator.images.command import Finished
from orchestrator.images.observe import axes_in, read_found
from orchestrator.images.ready import volumes_of
from orchestrator.images.resolve import Wheel, read_pylock
from orchestrator.images.steering import left_out
from orchestrator.masking import Masker
from orchestrator.settings import Site, load_site
from orchestrator.settings.told import answer

if TYPE_CHECKING:
    from docker import APIClient

SHA = "5d" * 32
WHEEL = Wheel(name="torch", version="2.13.0", file="torch-2.13.0-cp311-none-any.whl", sha256=SHA, url="")


def _site(**settings: object) -> Site:
    nothing = {"TORCHMATRIX_SITE": "/dev/null", "HOME": "/nonexistent", "PIP_CONFIG_FILE": "/dev/null"}
    return cast("Site", msgspec.structs.replace(load_site(nothing), **settings))


# --- an index ---------------------------------------------------------------------------------------------------------


def _sought(folder: Path) -> tuple[Site, Path]:
    """A site whose one index is in the folder, and the page in it that every input is."""
    page = folder / "torch" / "index.html"
    page.parent.mkdir(exist_ok=True)
    return _site(indexes={"": folder.as_uri()}, extra_indexes=(), find_links=()), page


def _seek(site: Site, page: Path, data: bytes) -> index.Sought:
    page.write_bytes(data)
    (found,) = index.seek([WHEEL], "", site)
    assert found.found or found.why, "neither found nor said why"
    if found.found:
        assert found.wheel.identity == WHEEL.identity, "another wheel than was locked"
    return found


def index_json(folder: Path) -> Target:
    site, page = _sought(folder)
    file = {
        "filename": WHEEL.file,
        "url": f"../../{WHEEL.file}",
        "hashes": {"sha256": SHA},
        "requires-python": ">=3.10",
    }
    other = {**file, "filename": WHEEL.file.replace("cp311", "cp312"), "hashes": {"sha256": "0" * 64}, "yanked": "bad"}
    whole = {"meta": {"api-version": "1.1"}, "name": "torch", "files": [other, file], "versions": ["2.13.0"]}

    def check(data: bytes) -> bool:
        if not data.lstrip().startswith(b"{"):
            data = b"{" + data
        found = _seek(site, page, data).found
        if found:
            said = [entry for entry in json.loads(data)["files"] if str(entry["filename"]) == WHEEL.file]
            digests = {str(entry.get("hashes", {}).get("sha256", "")) for entry in said}
            assert digests & {SHA, ""}, "found, though each of that name is another file"
        return found

    return Target(
        "index JSON",
        (
            json.dumps(whole).encode(),
            json.dumps({**whole, "files": [{**file, "hashes": {}}]}).encode(),
            json.dumps({**whole, "files": [{**file, "hashes": {"sha256": "1" * 64}}]}, indent=1).encode(),
        ),
        check,
    )


class _Words(HTMLParser):
    """All values of a page's `href`s, as one text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.hrefs: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hrefs += [value for name, value in attrs if name == "href" and value]


def index_html(folder: Path) -> Target:
    site, page = _sought(folder)
    head = (
        b"<!DOCTYPE html><html><head><meta name='pypi:repository-version' content='1.0'><title>x</title></head><body>"
    )
    link = f'<a href="/whl/{WHEEL.file}#sha256={SHA}" data-requires-python="&gt;=3.10">{WHEEL.file}</a><br/>\n'.encode()
    other = link.replace(b"cp311", b"cp312").replace(SHA.encode(), b"0" * 64)
    bare = f"<base href='https://files.example/x/'><a href='{WHEEL.file.replace('-', '%2D')}'>torch</a>".encode()

    def check(data: bytes) -> bool:
        if data.lstrip().startswith(b"{"):
            data = b"<" + data
        sought = _seek(site, page, data)
        if sought.found:
            assert unquote(urlsplit(sought.wheel.url).path).endswith(WHEEL.file), "the address of another file"
            hrefs = _Words(data.decode(errors="replace")).hrefs
            assert any(SHA in href or "sha256=" not in href or "#" in href for href in hrefs), "found in no link"
        return sought.found

    tail = b"</body></html>"
    return Target("index HTML", (head + other + link + tail, head + bare + other + tail, link), check)


# --- a mirror of Debian -----------------------------------------------------------------------------------------------

_STANZA = """Package: python3-torch
Source: pytorch (1.13.1+dfsg-4)
Version: 1.13.1+dfsg-4
Installed-Size: 9
Status: install ok installed
Depends: libc6 (>= 2.34),
 libgcc-s1
Description: Tensors
 .
"""


def release(folder: Path) -> Target:
    site = _site(apt_mirror=folder.as_uri())
    file = folder / "dists" / "bookworm" / "Release"
    file.parent.mkdir(parents=True, exist_ok=True)
    whole = (
        b"Origin: Debian\nSuite: oldstable\nVersion: 12.12\nDate: Sat, 06 Sep 2025 09:58:11 UTC\nAcquire-By-Hash: yes\n"
    )
    sums = b"MD5Sum:\n 0ed6d4c8891eb86358b94bb35d9e4da4  1484322 contrib/Contents-all\n"

    def check(data: bytes) -> bool:
        file.write_bytes(data)
        day = mirror.date_of("bookworm", site)
        assert not day or dt.date.fromisoformat(day).isoformat() == day
        return bool(day)

    zoned = whole.replace(b"UTC", b"+0130")
    return Target("Debian Release", (whole + sums, b"Date:" + whole, zoned, whole.replace(b"2025", b"9999")), check)


def packages(folder: Path) -> Target:
    """The text of a list of packages; an input that begins as xz does is the packed file itself."""
    site = _site(apt_mirror=folder.as_uri())
    file = folder / "dists" / "bookworm" / "main" / "binary-amd64" / "Packages.xz"
    file.parent.mkdir(parents=True, exist_ok=True)
    magic = b"\xfd7zXZ"
    whole = (_STANZA + "\n" + _STANZA.replace("python3-torch", "libc6").replace("1.13.1", "2:2.36") + "\n\n").encode()

    def check(data: bytes) -> bool:
        file.write_bytes(data if data.startswith(magic) else lzma.compress(data, preset=0))
        try:
            found = mirror.offered("bookworm", "amd64", site)
        except OSError:
            found = {}
        content = lzma.LZMADecompressor().decompress(file.read_bytes()) if found else data
        said = content.decode(errors="replace")
        for name, versions in found.items():
            assert f"Package:{name}" in said.replace(" ", "").replace("\t", "") or name in said
            assert versions
            assert all(version in said for version in versions), versions
        have = roots.installed(said)
        assert roots.moved(have, have) == []
        assert all("\n" not in line for line in roots.moved(have, ()))
        return bool(found)

    return Target("Debian Packages", (whole, _STANZA.encode(), lzma.compress(whole)), check)


# --- uv, the image, the engine ----------------------------------------------------------------------------------------


def pylock(_: Path) -> Target:
    wheel = f'{{ url = "https://files.example/x/{WHEEL.file}", size = 9, hashes = {{ sha256 = "{SHA}" }} }}'
    seed = 'lock-version = "1.0"\ncreated-by = "uv"\nrequires-python = ">=3.11"\n\n[[packages]]\nname = "torch"\n'
    seed += f'version = "2.13.0"\nindex = "https://x.example"\nwheels = [{wheel}]\n'
    local = (
        seed
        + '\n[[packages]]\nname = "numpy"\nversion = "2.0"\nwheels = [{ path = "/srv/numpy-2.0-py3-none-any.whl" }]\n'
    )

    def check(data: bytes) -> bool:
        def parse() -> None:
            wheels = read_pylock(data.decode(errors="replace"))
            assert [wheel.name for wheel in wheels] == sorted(wheel.name for wheel in wheels)
            assert all(wheel.url and "/" not in wheel.file[:-1] for wheel in wheels if "%2f" not in wheel.url.lower())

        return ours(parse)

    return Target("uv's pylock", (seed.encode(), local.encode(), seed.replace("wheels", "sdist").encode()), check)


def image_answer(_: Path) -> Target:
    found = {"torch": "2.13.0+cpu", "python": "3.11.2", "package numpy": "2.0", "interpreter": "/opt/venv/bin/python"}
    line = contents.MARK + json.dumps({**found, "torch_arch_list": "sm_80 sm_90", "user": "1000:1000", "rocm": None})

    def check(data: bytes) -> bool:
        def parse() -> None:
            said = read_found(Finished(code=0, out=data.decode(errors="replace"), err=""))
            for each in (*said, *said.values()):
                assert each == text.one_line(each, 400), "not one printable line"
            assert set(axes_in(said)) <= set(axes.AXES)

        return ours(parse)

    return Target(
        "image's answer",
        (line.encode(), f"a warning\n{line}\n".encode(), f"{line}\n{contents.MARK}{{}}\n".encode()),
        check,
    )


def image_inspected(_: Path) -> Target:
    config = {"Env": ["PATH=/bin", "LD_PRELOAD=x"], "User": "1000", "Entrypoint": ["sh"], "Volumes": {"/data": {}}}
    facts = {"Id": "sha256:" + SHA, "RepoTags": ["a:b"], "Size": 9, "Config": {**config, "Labels": {"a": "b"}}}
    nulls = {**facts, "RepoTags": None, "Config": dict.fromkeys(facts["Config"])}

    def check(data: bytes) -> bool:
        def parse() -> None:
            for found in docker._found(data.decode(errors="replace")):
                left_out(found.env)
                volumes_of(found)

        return ours(parse)

    return Target("docker image inspect", tuple(json.dumps([each]).encode() for each in (facts, nulls)), check)


def container_inspected(_: Path) -> Target:
    state = {"Running": False, "Paused": False, "ExitCode": 137, "OOMKilled": True, "Pid": 7, "Status": "exited"}
    mount = {"Type": "volume", "Source": "/var/lib/docker/volumes/x/_data", "Destination": watch.VOLUME}
    seeds = ({"State": state, "Mounts": [mount]}, {"State": state}, {"State": {**state, "Pid": 0}, "Mounts": None})

    def check(data: bytes) -> bool:
        client = SimpleNamespace(inspect_container=lambda _: json.loads(data))

        def parse() -> None:
            seen, volume = watch.look_at(cast("APIClient", client), "c")
            assert msgspec.convert(msgspec.to_builtins(seen), watch.State, strict=True) == seen
            assert volume is None or isinstance(volume, Path)

        return ours(parse)

    return Target("docker inspect", tuple(json.dumps(each).encode() for each in seeds), check)


def container_ended(_: Path) -> Target:
    """Killed by somebody: only where the first event of all says so."""
    kill, die = (json.dumps({"Type": "container", "Action": action}).encode() for action in ("kill", "die"))
    killed = watch.State(running=False, paused=False, exit_code=137, oom_killed=False)

    def check(data: bytes) -> bool:
        told = nullcontext(SimpleNamespace(iter_content=lambda _: (bytes([byte]) for byte in data)))
        client = SimpleNamespace(base_url="http://engine", api_version="1.41", timeout=5, get=lambda *_, **__: told)

        def parse() -> None:
            if watch.killed_by_somebody(cast("APIClient", client), "c", killed):
                assert json.loads(data.split(b"\n")[0])["Action"] == "kill"

        return ours(parse)

    return Target("engine's events", (kill + b"\n" + die + b"\n", die + b"\n", die + b"\n" + kill), check)


def engine_version(_: Path) -> Target:
    seed = {"Version": "26.1.5+dfsg1", "ApiVersion": "1.45", "MinAPIVersion": "1.24", "Os": "linux"}

    @contextmanager
    def nothing(*_: object):
        yield

    def check(data: bytes) -> bool:
        answer = SimpleNamespace(read=io.BytesIO(data).read, status=200)
        said = SimpleNamespace(request=lambda *_: None, getresponse=lambda: answer, close=lambda: None)
        before = connection._http, connection._cut_off
        connection._http, connection._cut_off = lambda *_: said, nothing
        try:

            def parse() -> None:
                found = connection.version({})
                assert found.api >= connection.OLDEST_API
                assert found.release == text.one_line(found.release, 40)

            return ours(parse)
        finally:
            connection._http, connection._cut_off = before

    old = {**seed, "ApiVersion": "1.24"}
    return Target("engine's version", (json.dumps(seed).encode(), json.dumps(old).encode()), check)


# --- the files of other programs --------------------------------------------------------------------------------------


def borrowed(folder: Path) -> Target:
    """An input that begins as JSON does is docker's file, any other is pip's."""
    pip, logins = folder / "pip.conf", folder / "config.json"
    environ = {"HOME": str(folder), "PIP_CONFIG_FILE": str(pip), "DOCKER_CONFIG": str(folder)}
    environ |= {"XDG_CONFIG_DIRS": str(folder), "TORCHMATRIX_SITE": "/dev/null"}
    seeds = (
        b"[global]\nindex-url = https://a:b@x.example/simple\nextra-index-url =\n  https://y.example\n  https://z.example\n",
        b"[global]\nfind-links = /wheels\n[install]\ncert: /etc/ca.pem\n",
        b'{"auths": {"x.example": {"auth": "YTpi"}}, "credHelpers": {"y.example": "gcloud"}, "credsStore": "pass"}',
    )

    def check(data: bytes) -> bool:
        is_json = data.lstrip().startswith(b"{")
        logins.write_bytes(data if is_json else b"{}")
        pip.write_bytes(b"" if is_json else data)

        def parse() -> None:
            for each in answer(load_site(environ), environ).settings:
                assert isinstance(each.value, str)
                assert not each.value.startswith(("http://a:b@", "https://a:b@")), "a login is told"

        return ours(parse)

    return Target("files of pip and docker", seeds, check)


# --- masking ----------------------------------------------------------------------------------------------------------

SECRETS = (
    b"hunter22",
    b"p%40ss w\xc3\xb6rd'\"\\",
    b"-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\nxyzxyzxy",
    b"abcabcabcabc",
)
SECRETS += (b"\xff\xfe\x00raw\x80bytes", b"glpat-" + bytes(range(65, 91)) + bytes(range(97, 123)))


def masked(_: Path) -> Target:
    masker = Masker(SECRETS)
    texts = [secret.decode(errors="surrogateescape") for secret in SECRETS]
    clean = [secret for secret in texts if secret.isprintable()]
    seeds = (
        b" ".join(SECRETS) + b"\n",
        "\n".join(json.dumps(each) for each in clean).encode(),
        "\n".join(map(repr, texts)).encode(),
        b"x" * 300 + SECRETS[0] + b"y" * 300,
    )

    def check(data: bytes) -> bool:
        whole = masker.data(data)
        rng, stream, at, pieces = random.Random(zlib.crc32(data)), masker.stream(), 0, []
        while at < len(data):
            size = rng.choice((1, 2, 7, 64, 997))
            pieces.append(stream.feed(data[at : at + size]))
            at += size
        assert b"".join((*pieces, stream.end())) == whole, "what is masked depends on how it is cut"
        for secret in SECRETS:
            assert secret not in whole
        for errors in ("surrogateescape", "replace"):
            told = masker.text(data.decode(errors=errors))
            assert all(secret not in told for secret in clean)
        return whole != data

    return Target("masking", seeds, check)


def answers(own: Callable[[str], Path]) -> tuple[Target, ...]:
    """All of these; `own` makes a folder."""
    made = {
        "index-json": index_json,
        "index-html": index_html,
        "release": release,
        "packages": packages,
        "pylock": pylock,
        "answer": image_answer,
        "image": image_inspected,
        "container": container_inspected,
        "events": container_ended,
        "version": engine_version,
        "borrowed": borrowed,
        "masking": masked,
    }
    return tuple(make(own(name)) for name, make in made.items())
