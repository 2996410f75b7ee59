"""A secret of a known value through a real build and a real cell that tells it: nothing that is kept holds it."""

import base64
import json
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

import msgspec
import pytest
from deep_search import files_with
from msgspec.structs import replace
from planned_run import HOST, TINY, check, new_run, plan_of, planned, statuses
from tiny_command import command
from tiny_site import CPU, site_of

from orchestrator.axes import image_id
from orchestrator.engines.docker.run import DockerEngine
from orchestrator.images import containerfile
from orchestrator.images.command import Commands
from orchestrator.images.docker import Docker
from orchestrator.images.failure import BuildFailure, StageFailed
from orchestrator.images.given import Given
from orchestrator.images.prepare import prepare_images
from orchestrator.images.pull import pull
from orchestrator.model import Image, SecretSource
from orchestrator.results import metrics_table
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


def files_with_it(place: Path) -> list[str]:
    """The files below a folder in which the value stands, in whatever form, packed ones too."""
    return files_with(PART.encode(), place)


def torchmatrix(*arguments: object, **environ: str) -> tuple[int, str]:
    """The command as a process that has the secret: its exit code, and all that it printed."""
    process = command(*arguments, CI_TOKEN=VALUE, **environ)
    told = "".join(process.communicate(timeout=300))
    return process.returncode, told


def run_and_told_again(*arguments: object, runs: Path, **environ: str) -> tuple[int, str, Path]:
    """A run that prints its table, told once more as JSON: its exit code, what was printed, and its folder."""
    code, told = torchmatrix("run", *arguments, "--runs", runs, **environ)
    (run,) = runs.iterdir()
    again, summary = torchmatrix("run", "--resume", run, "--json", **environ)
    assert again == code, told + summary
    return code, told + summary, run


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


@pytest.mark.docker
def test_the_container_of_a_cell_that_tells_a_secret_holds_none_of_it(
    docker_engine: "APIClient", python_image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "MIN_FREE", 0)
    image = docker_engine.inspect_image(python_image)["Id"]
    ready = Image(id="ready", name="ready", ref=image, axes={}, observed={})
    monkeypatch.setattr(running, "supply", lambda _, wanted, *__, **___: dict.fromkeys(wanted, ready))
    said: list[str] = []
    inspected: list[str] = []
    cell = replace(planned("tell", 0, image=image), secrets=(SOURCE,))
    run = new_run(tmp_path / "runs")
    monkeypatch.setattr("orchestrator.engines.docker.run.container.remove", inspecting(inspected))
    with laid_out([cell], {"CI_TOKEN": VALUE}) as secrets:
        run_plan(
            plan_of((cell,)), load_site(os.environ), DockerEngine(), run,
            host=HOST, suites=TINY, say=said.append, secrets=secrets,
        )  # fmt: skip
    assert_masked(run, "failed")
    assert inspected
    assert files_with_it(tmp_path / "runs") == []
    assert PART not in "".join(said + inspected)
    check(run)


def assert_masked(run: Path, *ends: str) -> None:
    """A run whose first cell told its secret wherever it could has told it nowhere, and says so in each place."""
    assert statuses(run) == list(ends)
    first = run / "cells" / json.loads((run / "plan.json").read_text())["cells"][0]["id"] / "attempt-1"
    log = (first / "log.txt").read_text()
    assert log.splitlines() == ["whole [MASKED]", "split [MASKED]", "quoted '[MASKED]' \"[MASKED]\""]
    in_bundle = ("junit.xml", "metrics.jsonl", "environment.json", "structure.json", "progress.jsonl", "SHA256SUMS")
    for file in (
        *(first / name for name in in_bundle),
        first / "attempt.json",
        run / "junit.xml",
        run / "summary.json",
    ):
        assert "[MASKED]" in file.read_text(), file
    (row,) = metrics_table.read(run / "metrics.parquet")
    assert (row.load, row.why, row.value) == ("[MASKED]", "[MASKED]", 1.0)


def test_a_run_whose_cell_tells_its_secret_everywhere_tells_it_nowhere(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_bytes(msgspec.json.encode(plan_of((replace(planned("tell", 0), secrets=(SOURCE,)),))))
    code, told, run = run_and_told_again(
        *("--engine", "here", "--plan", plan), runs=tmp_path / "runs", TMPDIR=str(tmp_path / "temp")
    )
    assert code == 1, told
    assert told.count("numerics: [MASKED]") >= 2, told  # in the table, and in the summary
    assert PART not in told
    assert_masked(run, "failed")
    assert files_with_it(tmp_path) == []
    check(run)


@pytest.mark.slow
@pytest.mark.docker
def test_a_run_that_builds_with_a_secret_and_a_build_that_tells_it(
    tiny_site: Site, bare: str, template: Path, tmp_path: Path
) -> None:
    """All outputs of `run` and `build`: two images, of which one is made and one tells the secret as it fails."""
    installed = "/opt/venv/lib/python3*/site-packages/numpy-2.4.5.dist-info"
    with_step(template, f'! ls -d {installed} || {{ echo "the token is $(cat /run/secrets/TOKEN)" && false; }}')
    torch = "torch: 2.13.0, torch_build: cpu, python: '3.11', secrets: [TOKEN], env: 'DOES=tell CELL=0'"
    matrix = tmp_path / "team" / "matrix.yaml"  # not beside the templates, where locks of ours lie
    matrix.parent.mkdir()
    matrix.write_text(
        "version: 1\naxes: {}\nlimits: {memory: 1GiB}\nsecrets: {TOKEN: {env: CI_TOKEN}}\n"
        f"production:\n- {{name: teller, {torch}}}\n- {{name: broken, numpy: 2.4.5, {torch}}}\n"
    )
    environ = {**variables_of(tiny_site), "TEMPLATES": str(template.parent), "TMPDIR": str(tmp_path / "temp")}
    try:
        code, told, run = run_and_told_again("--matrix", matrix, runs=tmp_path / "runs", **environ)
        assert code == 4, told
        assert_masked(run, "failed", "error")
        for form in ((), ("--json",)):
            code, built = torchmatrix("build", "--matrix", matrix, *form, **environ)
            assert code == 4, built
            told += built
        made = images_on(bare)
        assert len(made) > 1
        for image in made:
            told += docker("history", "--no-trunc", image) + docker("image", "inspect", image)
        docker("save", "--output", str(tmp_path / "images.tar"), *made)
        assert "the token is [MASKED]" in told
        assert PART not in told
        assert files_with_it(tmp_path) == []
        check(run)
    finally:
        for image in images_on(bare) - {bare}:
            docker("rmi", "--force", image)


def images_on(base: str) -> set[str]:
    """The ids of an image of a session of tests and of all that was made from it: they inherit its label."""
    session = docker("image", "inspect", '--format={{index .Config.Labels "org.torchmatrix.test"}}', base)
    assert session
    return set(docker("images", "--quiet", "--no-trunc", f"--filter=label=org.torchmatrix.test={session}").split())


def variables_of(site: Site) -> dict[str, str]:
    """The site as a process is told of it, with nothing of this machine's own."""
    return {
        "TORCHMATRIX_SITE": os.devnull,
        "PIP_CONFIG_FILE": os.devnull,
        "TORCHMATRIX_INDEXES": f"default={site.indexes['']}",
        "TORCHMATRIX_FIND_LINKS": " ".join(site.find_links),
        "TORCHMATRIX_BASES": " ".join(f"{name}={base}" for name, base in site.bases.items()),
        "TORCHMATRIX_CACHE": str(site.cache),
    }


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
