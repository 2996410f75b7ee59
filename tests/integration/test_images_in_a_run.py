"""Images that somebody removes or tags anew while a run lasts, really: in a Docker daemon of the tests' own."""

import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from planned_run import HOST, TINY, check, new_run, plan_of, planned, statuses
from private_engine import PrivateEngine
from tiny_site import CPU, site_of

from orchestrator.axes import image_id
from orchestrator.engines.docker.run import DockerEngine
from orchestrator.images.prepare import prepare_images
from orchestrator.model import Image
from orchestrator.results.merge import read_plan
from orchestrator.running import attempts, folder
from orchestrator.running.run import run_plan
from orchestrator.settings import Site

pytestmark = [pytest.mark.docker, pytest.mark.slow]


@pytest.fixture
def bare(private_engine: PrivateEngine, tmp_path: Path) -> str:
    """The id of an image that has Python, and where no cell can run."""
    (tmp_path / "bare").mkdir()
    steps = f"FROM {private_engine.environ['READY_IMAGE']}\nLABEL org.torchmatrix.test={uuid.uuid4().hex}\n"
    (tmp_path / "bare" / "Dockerfile").write_text(f"{steps}RUN rm -rf /opt/venv\n")
    return private_engine.docker("build", "--quiet", "--network=none", str(tmp_path / "bare"))


@pytest.fixture
def site(bare: str, tmp_path: Path) -> Site:
    return site_of(bare, tmp_path)


@pytest.fixture
def built(private_engine: PrivateEngine, site: Site, monkeypatch: pytest.MonkeyPatch) -> Image:
    """The image of the cells, built before the run."""
    monkeypatch.setattr(folder, "MIN_FREE", 0)
    monkeypatch.setenv("DOCKER_HOST", private_engine.environ["DOCKER_HOST"])
    (made,) = prepare_images({image_id(CPU): CPU}, site, jobs=1, say=print).values()
    assert isinstance(made, Image), made
    return made


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return new_run(tmp_path / "runs")


def go(engine: PrivateEngine, site: Site, run: Path, cells: int, at: Callable[[int], object]) -> list[str]:
    """Runs so many cells; `at` is called before the first, with 0, and after each with its number. What was said."""
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        if " passed in " in line:
            at(int(line[1 : line.index("/")]))

    at(0)
    plan = plan_of(tuple(planned("pass", number) for number in range(cells)))
    run_plan(plan, site, DockerEngine(engine.environ), run, host=HOST, suites=TINY, say=say)
    assert engine.left() == []
    return said


def made_again(said: list[str]) -> int:
    return sum(": building torchmatrix/" in line for line in said)


def test_an_image_that_is_removed_is_made_once_more_and_then_an_error(
    private_engine: PrivateEngine, site: Site, built: Image, run: Path
) -> None:
    said = go(private_engine, site, run, 4, lambda _: private_engine.docker("rmi", "--force", built.name))
    assert statuses(run) == ["passed", "passed", "error", "error"]
    assert made_again(said) == 2  # before the first cell, and before the second
    assert sum("was removed by somebody: making it once more" in line for line in said) == 1
    for cell in read_plan(run / "plan.json").cells[2:]:
        assert ["No such image" in each.exit.problem for each in attempts.committed(run, cell.id)] == [True, True]
    check(run, attempts={cell.name: 2 for cell in read_plan(run / "plan.json").cells[2:]})


def test_a_name_that_is_given_to_another_image_changes_no_cell_of_a_run(
    private_engine: PrivateEngine, site: Site, built: Image, run: Path, bare: str
) -> None:
    def tag(number: int) -> None:
        if number == 1:
            private_engine.docker("tag", bare, built.name)

    said = go(private_engine, site, run, 2, tag)
    assert private_engine.docker("inspect", "--format={{.Id}}", built.name) == bare
    assert statuses(run) == ["passed", "passed"]
    assert made_again(said) == 0
    check(run)


@pytest.mark.parametrize("when", [0, 1], ids=["before the run", "between two cells"])
def test_an_image_that_took_the_place_of_one_is_never_run_in(
    private_engine: PrivateEngine, site: Site, built: Image, run: Path, bare: str, when: int
) -> None:
    def replace(number: int) -> None:
        if number == when:
            private_engine.docker("rmi", "--force", built.name)
            private_engine.docker("tag", bare, built.name)

    said = go(private_engine, site, run, 2, replace)
    assert private_engine.docker("inspect", "--format={{.Id}}", built.name) != bare
    assert statuses(run) == ["passed", "passed"]
    assert made_again(said) == 1
    check(run)


def test_a_ready_image_that_is_removed_is_an_error_that_names_it(
    private_engine: PrivateEngine, site: Site, built: Image, run: Path
) -> None:
    ready = private_engine.docker("commit", private_engine.docker("create", built.ref, "true"))
    cells = tuple(planned("pass", number, image=ready) for number in range(2))

    def say(line: str) -> None:
        if line.startswith("[1/2]"):
            private_engine.docker("rm", "--force", *private_engine.docker("ps", "--all", "--quiet").split())
            private_engine.docker("rmi", "--force", ready)

    run_plan(plan_of(cells), site, DockerEngine(private_engine.environ), run, host=HOST, suites=TINY, say=say)
    assert statuses(run) == ["passed", "error"]
    (problem,) = {each.exit.problem for each in attempts.committed(run, read_plan(run / "plan.json").cells[1].id)}
    assert f"this engine has no image of the id {ready[:19]}" in problem
