"""The inside of a cell of a run, for a person: what it ran in, with the same rights, and a scratch for results."""

import os
import secrets
import shlex
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

from msgspec import Struct

from orchestrator import text
from orchestrator.axes import suggestion
from orchestrator.engines.docker import connection, container
from orchestrator.engines.docker.command_line import bind, left_to_unset, run_arguments
from orchestrator.engines.docker.connection import DEFAULT_HOST
from orchestrator.engines.docker.container import owning_groups
from orchestrator.engines.docker.labels import OWNER
from orchestrator.engines.docker.profile import INPUTS, RESULTS, profile
from orchestrator.engines.docker.sweep import sweep
from orchestrator.engines.owner import Owner, this_process
from orchestrator.engines.process.run import environment
from orchestrator.engines.process.scratch import Scratch, sweep_folders
from orchestrator.engines.process.tree import kill_marked, sweep_processes, token
from orchestrator.engines.task import Task
from orchestrator.errors import InfrastructureError, InputError
from orchestrator.formats import CELL
from orchestrator.model import Attempt, Image, Plan, PlannedCell
from orchestrator.results.merge import read_plan
from orchestrator.running import attempts
from orchestrator.running.folder import PLAN
from orchestrator.running.runs import list_runs

_NAMED = 5  # runs that an error names
RUN = "shell"  # what the container, the processes and the scratch of a shell name as their run

# The first that is there: a shell in which one can go back and forth, or what every image has.
_SHELL = ("/bin/sh", "-c", "command -v bash >/dev/null && exec bash; exec sh")


class Place(Struct, frozen=True, kw_only=True):
    """Where a shell is opened: its scratch, what its container is named, and who is there to tidy up after both."""

    scratch: Scratch
    container: str
    owner: Owner | None = None


class Shell(Struct, frozen=True, kw_only=True):
    """A command that opens a cell, and all of its environment; in a container, its name and the client's own words."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path | None = None
    unset: tuple[str, ...] = ()
    client: tuple[str, ...] = ()
    container: str = ""

    def printed(self) -> str:
        """The command for another terminal: a container needs nothing of the environment, a process all of it."""
        line = shlex.join(self.argv)
        if self.cwd is None:
            away = "".join(f"-u {name} " for name in self.unset)
            return f"env {away}{line}" if away else line
        given = " ".join(shlex.quote(f"{name}={value}") for name, value in self.env.items())
        return f"cd {shlex.quote(str(self.cwd))} && env -i {given} {line}"


def find_cell(plan: Plan, asked: str, place: Path) -> PlannedCell:
    """The cell of that id or name; InputError when the plan has none."""
    for cell in plan.cells:
        if asked == cell.id or asked in cell.name.split(", "):
            return cell
    known = dict.fromkeys(name for cell in plan.cells for name in (cell.id, *cell.name.split(", ")))
    raise InputError(
        f"`{text.shown(asked)}` is no cell of this run", place=str(place), hint=suggestion(asked, known) or "see `plan`"
    )


def newest_with(runs: Path, asked: str) -> Path:
    """The newest run in which a cell of that id or name has run; InputError names those that were looked at."""
    found = [Path(run.path) for run in list_runs(runs)]
    if not found:
        raise InputError("there is no run", place=str(runs), hint="`--run RUN`, or `--runs FOLDER`")
    for place in found:
        with suppress(InputError, InfrastructureError):  # one that cannot be read holds up none before it
            last_attempt(place, find_cell(read_plan(place / PLAN), asked, place))
            return place
    looked = ", ".join(place.name for place in found[:_NAMED]) + (", …" if len(found) > _NAMED else "")
    raise InputError(
        f"`{text.shown(asked)}` ran in none of {text.counting(len(found), 'run')}: {looked}",
        place=str(runs),
        hint="`torchmatrix plan` names the cells; `--runs FOLDER` looks elsewhere",
    )


def last_attempt(run: Path, cell: PlannedCell) -> Attempt:
    """The attempt that is looked at; InputError when the cell did not run there."""
    made = [attempt for attempt in attempts.committed(run, cell.id) if attempt.image]
    if not made:
        raise InputError(f"`{cell.id}` did not run in this run", place=str(run), hint="see `torchmatrix runs ls`")
    return made[-1]


def venv_of(attempt: Attempt, cache: Path) -> Path:
    """The Python of the venv that the attempt ran with; InfrastructureError when it was removed."""
    digest = attempt.image.removeprefix("venv ")
    found = sorted((cache / "venvs").glob(f"{digest}*/bin/python")) if attempt.image.startswith("venv ") else []
    if not found:
        raise InfrastructureError(
            f"the venv of `{attempt.cell}` is gone", place=str(cache / "venvs"), hint="torchmatrix build"
        )
    return found[0]


def task_of(
    cell: PlannedCell, attempt: Attempt, image: Image, suites: Path, secret_files: Mapping[str, Path], out: Path
) -> Task:
    """What the attempt was asked to do, once more; nothing tells it from the first but its results."""
    return Task(
        run_id=RUN,
        cell=cell,
        number=attempt.number,
        image=image,
        argv=attempts.ARGV,
        suites=suites,
        inputs={CELL: attempts.cell_file(cell)},
        env=attempts.environment(cell),
        out=out,
        deadline_s=cell.limits.timeout_s,
        devices=attempt.devices,
        secrets=secret_files,
    )


def place_of(scratch: Scratch) -> Place:
    """A place of ours, under a name that no other shell has."""
    return Place(scratch=scratch, container=f"torchmatrix-shell-{secrets.token_hex(6)}", owner=this_process())


def open_to_others(scratch: Scratch) -> None:
    """Lets the user inside a container, who has another number, at the inputs and the results."""
    for folder, mode in ((scratch.inputs, 0o755), (scratch.results, 0o777)):
        folder.chmod(mode)
    for file in scratch.inputs.iterdir():
        file.chmod(0o444)


def in_container(
    task: Task, place: Place, command: Sequence[str], client: str, environ: Mapping[str, str], *, tty: bool
) -> Shell:
    """The container of a task with another command; its inputs and its results lie in the scratch."""
    owner = place.owner or this_process()
    config = profile(task, owner, owning_groups(profile(task, owner).config)).config
    binds = (
        bind(str(place.scratch.inputs), INPUTS, read_only=True),
        bind(str(place.scratch.results), RESULTS, read_only=False),
    )
    found_by = {name: value for name, value in config["Labels"].items() if place.owner or name != OWNER}
    words = run_arguments(config, tuple(command) or _SHELL, binds, tty=tty)
    words[1:1] = [f"--name={place.container}", *(f"--label={name}={value}" for name, value in found_by.items())]
    unset = left_to_unset(config)
    host = environ.get("DOCKER_HOST") or DEFAULT_HOST  # and not what the client's own context says
    return Shell(
        argv=(client, "--host", host, *words),
        env={name: value for name, value in environ.items() if name not in unset},
        unset=unset,
        client=(client, "--host", host),
        container=place.container,
    )


def in_process(task: Task, place: Place, command: Sequence[str], environ: Mapping[str, str]) -> Shell:
    """A shell with the task's interpreter first on its path, and with the environment that a cell has."""
    beside = Path(task.image.ref).parent
    env = environment(task, place.scratch, environ)
    env["PATH"] = os.pathsep.join((str(beside), env.get("PATH", os.defpath)))
    if (beside.parent / "pyvenv.cfg").is_file():
        env["VIRTUAL_ENV"] = str(beside.parent)
    if term := environ.get("TERM"):
        env["TERM"] = term
    if place.owner:
        env |= token(RUN, task.cell.id, place.owner)
    return Shell(argv=tuple(command) or _SHELL, env=env, cwd=place.scratch.start)


def clear_away(task: Task, opened: Shell, environ: Mapping[str, str]) -> None:
    """Removes the container of a shell that has ended, or ends what it left running; nothing of it is no error.

    A client that is ended with its terminal leaves its container running.
    """
    if not opened.container:
        kill_marked(token(RUN, task.cell.id, this_process()))
        return
    with closing(connection.client(environ)) as client:
        container.remove(client, opened.container)


def sweep_shells(environ: Mapping[str, str], *, docker: bool) -> None:
    """Removes what shells left whose process was killed."""
    sweep_processes(RUN)
    sweep_folders(RUN)
    if docker:
        with closing(connection.client(environ)) as client:
            sweep(client, RUN)
