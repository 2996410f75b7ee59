"""A secret of a known value through a real build and a real cell that tells it: nothing that is kept holds it."""

import base64
import os
import shutil
import subprocess
import tempfile
import threading
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from planned_run import HOST, TINY, check, new_run, plan_of, planned, statuses
from tiny_site import CPU, site_of

from orchestrator.axes import image_id
from orchestrator.engines.docker.run import DockerEngine
from orchestrator.engines.here.run import HereEngine
from orchestrator.images import containerfile
from orchestrator.images.command import Commands
from orchestrator.images.docker import Docker
from orchestrator.images.failure import BuildFailure, StageFailed
from orchestrator.images.given import Given
from orchestrator.images.prepare import prepare_images
from orchestrator.images.pull import pull
from orchestrator.model import Image, SecretSource
from orchestrator.running import folder
from orchestrator.running import run as running
from orchestrator.running.run import run_plan
from orchestrator.running.secret_files import Secrets, laid_out
from orchestrator.settings import Site, load_site

if TYPE_CHECKING:
    from docker import APIClient

PART = "81xWq7Lk"  # of the value, however it is written
VALUE = f'hunter22-<"Zq&{PART}">-é'
SOURCE = SecretSource(name="TOKEN", env="CI_TOKEN")


@pytest.fixture(autouse=True)
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The temporary files of a test alone; no secret is left in them."""
    place = tmp_path / "temp"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield place
    assert list(place.glob("torchmatrix-secrets-*")) == []


def files_with_it(place: Path) -> list[Path]:
    """The files below a folder in which the value stands, in whatever form."""
    found = [file for file in place.rglob("*") if file.is_file() and not file.is_symlink()]
    return [file for file in found if PART.encode() in file.read_bytes()]


def docker(*words: str, stdin: str | None = None) -> str:
    environ = {**os.environ, "DOCKER_BUILDKIT": "0"}
    done = subprocess.run(
        ["docker", *words], input=stdin, capture_output=True, text=True, check=True, timeout=120, env=environ
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def bare(python_image: str) -> Iterator[str]:
    """The id of an image that has Python and no environment yet."""
    session = uuid.uuid4().hex[:12]
    name = f"torchmatrix-test/bare:{session}"
    steps = f"FROM {python_image}\nUSER root\nLABEL org.torchmatrix.test={session}\nRUN rm -rf /opt/venv\n"
    docker("build", "--quiet", f"--tag={name}", "-", stdin=steps)
    found = docker("image", "inspect", "--format={{.Id}}", name)
    yield found
    docker("rmi", name, f"torchmatrix/base-debian12:{found[7:19]}")


@pytest.fixture
def tiny_site(bare: str, tmp_path: Path) -> Site:
    """A site with a torch of two lines, and what goes beside it."""
    return site_of(bare, tmp_path)


@pytest.fixture
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The templates, of which a test may change one."""
    place = tmp_path / "images"
    shutil.copytree(containerfile.folder(), place)
    monkeypatch.setattr(containerfile, "folder", lambda: place)
    return place / "cpu.Containerfile.j2"


def with_step(template: Path, step: str) -> None:
    """Adds a step of root's to the template; no step of another test is like it."""
    whole = template.read_text()
    closing = "{{ image.closing() }}"
    assert closing in whole
    marked = f"USER root\nRUN --mount=type=secret,id=TOKEN : {uuid.uuid4().hex} && {step}\n{closing}"
    template.write_text(whole.replace(closing, marked))


@pytest.mark.docker
def test_a_build_reads_a_secret_and_keeps_none_of_it(
    tiny_site: Site, template: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with_step(template, f'cat /run/secrets/TOKEN && test "$(wc -c </run/secrets/TOKEN)" = {len(VALUE.encode())}')
    said: list[str] = []
    cells = [replace(planned("pass", 0), image=image_id(CPU), secrets=(SOURCE,))]
    with laid_out(cells, {"CI_TOKEN": VALUE}) as secrets:
        given = Given(secrets=secrets.of(cells), masker=secrets.masker)
        (made,) = prepare_images({image_id(CPU): CPU}, tiny_site, jobs=1, say=said.append, given=given).values()
    assert isinstance(made, Image), made
    try:
        told = docker("history", "--no-trunc", made.ref) + docker("image", "inspect", made.ref)
        archive = tmp_path / "image.tar"
        docker("save", "--output", str(archive), made.ref)
    finally:
        docker("rmi", "--force", made.ref)
    assert PART not in told
    assert files_with_it(tmp_path) == []
    assert PART not in "".join((*said, *capfd.readouterr()))


@pytest.mark.docker
def test_a_build_that_fails_tells_its_log_without_the_secret(
    tiny_site: Site, template: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with_step(template, 'cat /run/secrets/TOKEN && echo && echo "the token is $(cat /run/secrets/TOKEN)" && false')
    said: list[str] = []
    cells = [replace(planned("pass", 0), image=image_id(CPU), secrets=(SOURCE,))]
    with laid_out(cells, {"CI_TOKEN": VALUE}) as secrets:
        given = Given(secrets=secrets.of(cells), masker=secrets.masker)
        (made,) = prepare_images({image_id(CPU): CPU}, tiny_site, jobs=1, say=said.append, given=given).values()
    assert isinstance(made, BuildFailure)
    assert "the token is [MASKED]" in made.log_tail
    assert PART not in "".join((made.log_tail, made.reason, *said, *capfd.readouterr()))
    assert files_with_it(tmp_path) == []


@pytest.mark.parametrize("engine", [pytest.param("docker", marks=pytest.mark.docker), "here"])
def test_a_cell_that_tells_a_secret_is_masked_in_all_that_is_kept(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "MIN_FREE", 0)
    image = ""
    if engine == "docker":
        client: APIClient = request.getfixturevalue("docker_engine")
        image = client.inspect_image(request.getfixturevalue("python_image"))["Id"]
        ready = Image(id="ready", name="ready", ref=image, axes={}, observed={})
        monkeypatch.setattr(running, "supply", lambda _, wanted, *__, **___: dict.fromkeys(wanted, ready))
    said: list[str] = []
    inspected: list[str] = []
    cell = replace(planned("tell", 0, image=image), secrets=(SOURCE,))
    run = new_run(tmp_path / "runs")

    def say(line: str) -> None:
        said.append(line)

    with laid_out([cell], {"CI_TOKEN": VALUE}) as secrets:
        where = DockerEngine() if engine == "docker" else HereEngine()
        if isinstance(where, DockerEngine):
            monkeypatch.setattr("orchestrator.engines.docker.run.container.remove", inspecting(inspected))
        run_plan(plan_of((cell,)), load_site(os.environ), where, run, host=HOST, suites=TINY, say=say, secrets=secrets)
    log = next(run.rglob("log.txt")).read_text()
    assert log.splitlines() == ["whole [MASKED]", "split [MASKED]", "quoted '[MASKED]' \"[MASKED]\""]
    assert statuses(run) == ["failed"]
    assert "[MASKED]" in (run / "junit.xml").read_text()
    assert files_with_it(tmp_path / "runs") == []
    assert PART not in "".join(said + inspected)
    assert bool(inspected) == (engine == "docker")
    check(run)


def inspecting(told: list[str]) -> object:
    """The removal of a container, which is looked at before."""
    from orchestrator.engines.docker import container

    real = container.remove

    def remove(client: "APIClient", name: str, *others: object) -> None:
        told.append(str(client.inspect_container(name)))
        real(client, name, *others)  # type: ignore[arg-type]

    return remove


def test_what_a_run_is_given_is_nothing_when_no_row_names_any() -> None:
    with laid_out([planned("pass", 0)], {}) as secrets:
        assert secrets == Secrets(masker=secrets.masker)


@pytest.fixture
def registry() -> Iterator[tuple[str, list[str]]]:
    """A registry on this host that wants a login, holds nothing, and remembers the logins it was shown."""
    shown: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            login = self.headers.get("Authorization", "")
            shown.append(login)
            self.send_response(404 if login else 401)
            self.send_header("WWW-Authenticate", 'Basic realm="test"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_HEAD = do_GET  # noqa: N815 - as http.server calls it

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}", shown
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.docker
def test_a_registry_is_shown_the_login_of_the_site_and_nobody_else_is(
    docker_engine: "APIClient", registry: tuple[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, shown = registry
    monkeypatch.setenv("CI_TOKEN", VALUE)
    commands = Commands()
    started: list[str] = []
    real = Commands.run
    monkeypatch.setattr(
        Commands, "run", lambda self, argv, **more: started.append(str(argv)) or real(self, argv, **more)
    )
    site = replace(load_site({"HOME": str(tmp_path)}), registries={host: "robot:env:CI_TOKEN"})
    with pytest.raises(StageFailed, match="could not be pulled") as caught:
        pull(f"{host}/team/image@sha256:{'0' * 64}", site, Docker(commands, os.environ))
    assert "Basic " + base64.b64encode(f"robot:{VALUE}".encode()).decode() in shown
    assert PART not in str(caught.value) + caught.value.log + "".join(started)
