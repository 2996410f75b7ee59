"""`shell`: the inside of a cell as a run had it."""

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator import text
from orchestrator.cli.inputs import read_plan, site_in_force
from orchestrator.cli.options import options, runs_option
from orchestrator.cli.output import say, show
from orchestrator.errors import InfrastructureError

if TYPE_CHECKING:
    from orchestrator.engines.process.scratch import Scratch
    from orchestrator.engines.task import Task
    from orchestrator.model import Attempt, Image, PlannedCell
    from orchestrator.running.shell import Place, Shell


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("cell", metavar="CELL")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND…]")
@click.option(
    "--run", type=click.Path(path_type=Path), metavar="RUN", help="Of this run; default: the newest in which CELL ran."
)
@options(runs_option)
@click.option("--print", "only_print", is_flag=True, help="Print a script that does the same, and run nothing.")
def shell(cell: str, command: tuple[str, ...], run: Path | None, runs: Path, only_print: bool) -> None:
    """Open the container of CELL as RUN had it: its image, user, rights, mounts and variables; results go to a scratch.

    Without a container engine it is a shell with the venv of the cell first on its path. What is typed there is seen
    by nobody else: nothing masks what it prints.
    """
    from orchestrator.engines.owner import this_process
    from orchestrator.engines.process.scratch import make_scratch, remove_scratch
    from orchestrator.running.folder import named
    from orchestrator.running.foreground import foreground
    from orchestrator.running.run import suites_folder
    from orchestrator.running.secret_files import laid_out
    from orchestrator.running.shell import (
        clear_away,
        find_cell,
        last_attempt,
        newest_with,
        place_of,
        sweep_shells,
        task_of,
    )

    place = named(run, runs) if run else newest_with(runs, cell)
    with foreground() as front, ExitStack() as undo:
        found = find_cell(read_plan(place / "plan.json"), cell, place)
        attempt = last_attempt(place, found)
        image = _image_of(found, attempt)
        client = _client() if attempt.engine == "docker" else ""
        if only_print:
            asked = {secret.name: Path("/path/to", secret.name) for secret in found.secrets}
            _print(task_of(found, attempt, image, suites_folder(), asked, place), client, command)
            return
        sweep_shells(os.environ, docker=bool(client))
        front.hold()
        secrets = undo.enter_context(laid_out([found], os.environ)).readable
        task = task_of(found, attempt, image, suites_folder(), secrets, place)
        where = place_of(make_scratch(task, this_process()))
        undo.callback(remove_scratch, where.scratch)
        opened = _opened(task, where, command, client, tty=sys.stdin is not None and sys.stdin.isatty())
        say(f"{found.id} as in {text.one_line(str(place), 200)}; the suite: {_suite(task, attempt, where.scratch)}")
        undo.callback(clear_away, task, opened, os.environ)
        code = front.run(opened.argv, opened.env, opened.cwd)
    sys.exit(code)


def _image_of(cell: "PlannedCell", attempt: "Attempt") -> "Image":
    """What the attempt ran in: the same, or InfrastructureError when it is not there any more."""
    from orchestrator.axes import image_axes
    from orchestrator.images.command import Commands
    from orchestrator.images.docker import Docker
    from orchestrator.images.failure import BuildFailure
    from orchestrator.images.ready import of_its_base
    from orchestrator.model import Image
    from orchestrator.running.shell import venv_of
    from orchestrator.running.supply import supply

    site, ready = site_in_force(), None
    axes = image_axes(cell.axes)
    if attempt.engine == "docker" and "image" in cell.axes:
        made = supply("docker", {cell.image: axes}, site, jobs=1, say=say)[cell.image]
        if isinstance(made, BuildFailure):
            raise InfrastructureError(made.reason)
        return made
    if attempt.engine == "docker":
        docker = Docker(Commands(), os.environ)
        docker.answers()
        held = docker.inspect(attempt.image)
        if held is None:
            raise InfrastructureError(
                f"the engine no longer has `{text.one_line(attempt.image)}`",
                hint=f"torchmatrix build --select {cell.id}",
            )
        ref, ready = held.id, of_its_base(held)
    else:
        ref = sys.executable if attempt.engine == "here" else str(venv_of(attempt, site.cache))
    return Image(id=cell.image, name=attempt.image, ref=ref, axes=axes, observed={}, ready=ready)


def _client() -> str:
    import shutil

    client = shutil.which("docker")
    if client is None:
        raise InfrastructureError("no docker client is on PATH", hint="apt-get install -y docker.io")
    return client


def _print(task: "Task", client: str, command: tuple[str, ...]) -> None:
    from orchestrator.running.shell_script import place_to_be_made, script

    if task.secrets:
        say(f"note: put in where {', '.join(task.secrets)} lie: their files are made for the time of a run")
    place = place_to_be_made()
    show(script(task, place, _opened(task, place, command, client, tty=True)))


def _opened(task: "Task", place: "Place", command: tuple[str, ...], client: str, *, tty: bool) -> "Shell":
    from orchestrator.running.shell import in_container, in_process, open_to_others

    if not client:
        return in_process(task, place, command, os.environ)
    if place.owner:
        open_to_others(place.scratch)
    return in_container(task, place, command, client, os.environ, tty=tty)


def _suite(task: "Task", attempt: "Attempt", scratch: "Scratch") -> str:
    import shlex

    from orchestrator.engines.docker.profile import INPUTS, RESULTS, interpreter
    from orchestrator.engines.task import arguments

    if attempt.engine == "docker":
        return shlex.join([interpreter(task), *arguments(task, inputs=INPUTS, results=RESULTS)])
    words = arguments(task, inputs=str(scratch.inputs), results=str(scratch.results))
    return shlex.join([task.image.ref, *words])
