"""An index that only the site's own certificates vouch for, really asked over TLS; without them it is refused."""

import hashlib
import http.server
import os
import shutil
import ssl
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from orchestrator.errors import ExitCode
from orchestrator.images.command import Commands
from orchestrator.images.failure import StageFailed
from orchestrator.images.index import located
from orchestrator.images.resolve import Question, Wheel, resolve
from orchestrator.images.wheelhouse import fetch, place_of
from orchestrator.settings import Site, load_site

FILE = "tiny-1.0-py3-none-any.whl"
COMMAND = [sys.executable, "-c", "from orchestrator.cli import main; main()"]


def openssl(*words: str | Path) -> None:
    if not shutil.which("openssl"):
        pytest.skip("no openssl is installed")
    subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an authority that nobody knows (`ca.pem`), and what it vouches for: this host, by its number."""
    place = tmp_path_factory.mktemp("tls")
    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    authority = ("-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign")
    openssl("req", "-x509", *new, "-days", "2", "-subj", "/CN=a site", *authority,
            "-keyout", place / "ca.key", "-out", place / "ca.pem")  # fmt: skip
    openssl("req", *new, "-subj", "/CN=index", "-keyout", place / "key.pem", "-out", place / "asked.csr")
    (place / "extensions").write_text(
        "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n"
        "authorityKeyIdentifier=keyid\nsubjectKeyIdentifier=hash\nextendedKeyUsage=serverAuth\n"
    )
    signed_by = ("-CA", place / "ca.pem", "-CAkey", place / "ca.key", "-CAcreateserial")
    openssl("x509", "-req", "-days", "2", "-in", place / "asked.csr", *signed_by,
            "-extfile", place / "extensions", "-out", place / "chain.pem")  # fmt: skip
    return place


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel as an index has it, below the folder that is served."""
    file = tmp_path_factory.mktemp("index") / "simple" / "tiny" / FILE
    file.parent.mkdir(parents=True)
    info = "tiny-1.0.dist-info"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    (file.parent / "index.html").write_text(f'<a href="{FILE}#sha256={digest}">{FILE}</a>')
    return file


@pytest.fixture
def site(certificates: Path, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site whose one index is behind TLS; its certificates are not named yet."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *given: object) -> None:
            super().__init__(*given, directory=str(wheel.parents[2]))  # type: ignore[arg-type]

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.handle_error = lambda *_: None  # type: ignore[method-assign] # a client that trusts us not hangs up
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates / "chain.pem", certificates / "key.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield replace(
            load_site({"HOME": str(tmp_path), "PIP_CONFIG_FILE": os.devnull, "TORCHMATRIX_SITE": os.devnull}),
            indexes={"": f"https://127.0.0.1:{server.server_port}/simple"},
            cache=tmp_path / "cache",
        )
        server.shutdown()


QUESTION = Question(requirements=("tiny",), constraints=(), python="3.11", platform="x86_64-manylinux_2_36", build="")


def test_with_the_sites_certificates_an_index_is_asked_and_its_wheel_fetched(
    site: Site, certificates: Path, wheel: Path
) -> None:
    """By us where a wheel is looked for and fetched, and by uv where a question is resolved."""
    site, commands = replace(site, ca_bundle=str(certificates / "ca.pem")), Commands()
    (resolved,) = resolve(QUESTION, site, commands)
    (found,) = located([resolved], "cpu", site)
    assert found == resolved
    fetch([found], site, commands, print)
    assert place_of(found, site).read_bytes() == wheel.read_bytes()


def test_without_them_it_is_refused_and_what_is_to_be_set_is_said(site: Site, wheel: Path) -> None:
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    held = Wheel(name="tiny", version="1.0", file=FILE, sha256=digest, url="")
    refused = r"its certificate is not trusted \(unable to get local issuer certificate\): see the site's `ca_bundle`"
    with pytest.raises(StageFailed, match=refused):
        located([held], "cpu", site)
    with pytest.raises(StageFailed, match=r"invalid peer certificate: \w+: no answer for tiny .*\n.*`ca_bundle`"):
        resolve(QUESTION, site, Commands())
    assert not place_of(held, site).exists()


@pytest.mark.parametrize(("trusted", "code"), [(True, ExitCode.GOOD), (False, ExitCode.INFRASTRUCTURE)])
def test_the_command_that_checks_a_site_says_the_same(
    site: Site, certificates: Path, tmp_path: Path, trusted: bool, code: ExitCode
) -> None:
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "TORCHMATRIX_"))},
        "PIP_CONFIG_FILE": os.devnull,
        "TORCHMATRIX_SITE": os.devnull,
        "TORCHMATRIX_INDEXES": f"default={site.default_index}",
        "TORCHMATRIX_APT_MIRROR": tmp_path.as_uri(),
        "TORCHMATRIX_STORE": str(tmp_path / "store"),
        "TORCHMATRIX_CACHE": str(tmp_path / "cache"),
        "TORCHMATRIX_CA_BUNDLE": str(certificates / "ca.pem") if trusted else "",
    }
    done = subprocess.run(
        [*COMMAND, "site", "--check"], env=environ, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert ("its certificate is not trusted" in done.stderr) is not trusted
