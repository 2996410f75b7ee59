"""A production row that names an image by its digest in a registry: it is really pulled, looked into and run."""

import hashlib
import io
import json
import subprocess
import sys
import tarfile
import threading
import uuid
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from msgspec.structs import replace
from planned_run import HOST, TINY, check, new_run, statuses
from tiny_site import site_of

from orchestrator.axes import image_axes
from orchestrator.engines.docker.run import DockerEngine
from orchestrator.images.prepare import prepare_images
from orchestrator.model import Image, Plan
from orchestrator.results.merge import read_plan
from orchestrator.running import attempts, folder
from orchestrator.running.run import run_plan
from orchestrator.settings import Site

pytestmark = [pytest.mark.docker, pytest.mark.slow]
COMMAND = [sys.executable, "-c", "from orchestrator.cli import main; main()"]
TYPE = "application/vnd.docker.distribution.manifest.v2+json"
CONFIG = "application/vnd.docker.container.image.v1+json"
LAYER = "application/vnd.docker.image.rootfs.diff.tar"
PACKAGES = "usr/lib/python3/dist-packages"


def docker(*words: str) -> str:
    done = subprocess.run(["docker", *words], capture_output=True, text=True, check=True, timeout=300)
    return done.stdout.strip()


def digest_of(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


class Registry(ThreadingHTTPServer):
    """What it holds by digest, and the digests that it was asked for; it can hold something else than a digest says."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), Answer)

    def hold(self, content: bytes) -> str:
        self.held[digest_of(content)] = content
        return digest_of(content)


class Answer(BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        digest = self.path.rpartition("/")[2]
        content = self.server.held.get(digest, b"")
        self.server.asked.append(digest)
        self.send_response(200 if content or self.path == "/v2/" else 404)
        self.send_header("Content-Type", TYPE if "/manifests/" in self.path else "application/octet-stream")
        self.send_header("Docker-Content-Digest", digest)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    do_HEAD = do_GET  # noqa: N815 - as http.server calls it

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def registry() -> Iterator[Registry]:
    with Registry() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setattr(folder, "MIN_FREE", 0)
    monkeypatch.setenv("CI_TOKEN", "hunter22-hunter22")
    return site_of("", tmp_path)


def with_login(site: Site, registry: Registry) -> Site:
    """The site with a login of its own for the registry: then not docker's client pulls, but we."""
    return replace(site, registries={f"127.0.0.1:{registry.server_port}": "robot:env:CI_TOKEN"})


@pytest.fixture(scope="module")
def layer(python_image: str, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The one layer of an image that no engine has: the files of the test image, and a torch of two lines."""
    place = tmp_path_factory.mktemp("image")
    made = docker("create", python_image, "true")
    docker("export", f"--output={place}/root.tar", made)
    docker("rm", "--volumes", made)
    added = set()  # the site has two versions of numpy, and an image each file once
    with tarfile.open(place / "root.tar", "a") as root:
        for wheel in Path(site_of("", place).find_links[0]).iterdir():
            with zipfile.ZipFile(wheel) as archive:
                for name in set(archive.namelist()) - added:
                    added.add(name)
                    entry = tarfile.TarInfo(f"{PACKAGES}/{name}")
                    entry.size = archive.getinfo(name).file_size
                    root.addfile(entry, io.BytesIO(archive.read(name)))
    return (place / "root.tar").read_bytes()


@pytest.fixture
def ref(registry: Registry, layer: bytes) -> Iterator[str]:
    """The image in the registry, as a row names it."""
    config = {
        "architecture": docker("version", "--format={{.Server.Arch}}"),
        "os": "linux",
        "config": {"Labels": {"org.torchmatrix.test": uuid.uuid4().hex}, "Entrypoint": ["/bin/false"]},
        "rootfs": {"type": "layers", "diff_ids": [digest_of(layer)]},
    }
    parts = {CONFIG: json.dumps(config).encode(), LAYER: layer}
    listed = [
        {"mediaType": kind, "size": len(content), "digest": registry.hold(content)} for kind, content in parts.items()
    ]
    manifest = {"schemaVersion": 2, "mediaType": TYPE, "config": listed[0], "layers": listed[1:]}
    ref = f"127.0.0.1:{registry.server_port}/team/image@{registry.hold(json.dumps(manifest).encode())}"
    yield ref
    subprocess.run(["docker", "rmi", "--force", ref], capture_output=True, check=False)


def plan_of(ref: str, place: Path) -> Plan:
    row = f'{{name: serve, image: "{ref}", env: DOES=pass}}'
    (place / "matrix.yaml").write_text(f"version: 1\naxes: {{}}\nproduction: [{row}]\nlimits: {{memory: 1GiB}}\n")
    planned = subprocess.run([*COMMAND, "plan", "--json"], cwd=place, capture_output=True, check=True, timeout=120)
    (place / "plan.json").write_bytes(planned.stdout)
    return read_plan(place / "plan.json")


@pytest.mark.parametrize("login", [False, True], ids=["", "with a login"])
def test_a_row_is_pulled_by_digest_looked_into_and_run(
    registry: Registry, ref: str, site: Site, tmp_path: Path, login: bool
) -> None:
    site = with_login(site, registry) if login else site
    plan = plan_of(ref, tmp_path)
    run = new_run(tmp_path / "runs")
    said: list[str] = []
    run_plan(plan, site, DockerEngine(), run, host=HOST, suites=TINY, say=said.append)
    assert statuses(run) == ["passed"]
    check(run)
    assert set(registry.held) <= set(registry.asked)  # the manifest, the configuration, the layer
    (cell,) = plan.cells
    assert f"image {cell.image}: pulling {ref}" in said
    (attempt,) = attempts.committed(run, cell.id)
    assert "the image's ENTRYPOINT is not run: /bin/false" in attempt.relaxed
    before = len(registry.asked)
    (image,) = prepare_images({cell.image: image_axes(cell.axes)}, site, jobs=1, say=said.append).values()
    assert isinstance(image, Image)
    assert (image.name, image.axes) == (ref, {"image": ref})
    seen = {name: image.observed[name] for name in ("torch", "torch_build", "base")}
    assert seen == {"torch": "2.13.0+cpu", "torch_build": "cpu", "base": "debian12"}
    assert len(registry.asked) == before  # it is there


@pytest.mark.parametrize(
    ("part", "login"),
    [("manifest", False), ("configuration", False), ("layer", False), ("layer", True), ("nothing", False)],
)
def test_a_digest_under_which_something_else_lies_is_an_error_of_its_row(
    registry: Registry, ref: str, site: Site, tmp_path: Path, part: str, login: bool
) -> None:
    site = with_login(site, registry) if login else site
    configuration, layer, manifest = registry.held
    if part == "nothing":
        registry.held.clear()
    else:
        other = {"manifest": manifest, "configuration": configuration, "layer": layer}[part]
        content = registry.held[other]
        registry.held[other] = content[:-1] + bytes([content[-1] ^ 1])  # as long as it was
    plan = plan_of(ref, tmp_path)
    run = new_run(tmp_path / "runs")
    run_plan(plan, site, DockerEngine(), run, host=HOST, suites=TINY, say=print)
    assert statuses(run) == ["error"]
    problems = {each.exit.problem for each in attempts.committed(run, plan.cells[0].id)}
    assert all(f"ready image: `{ref}` could not be pulled" in problem for problem in problems), problems
    assert docker("images", "--quiet", "--no-trunc", ref.partition("@")[0]) == ""
