"""`init`: a first matrix for the machine one stands on."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator import disk, text
from orchestrator.cli.inputs import host_of, site_in_force
from orchestrator.cli.options import engine_option, json_option
from orchestrator.cli.output import say, show_json
from orchestrator.errors import InfrastructureError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orchestrator.model import Axes, Host

_QUESTIONS = 12  # a second each: who has none of the newest releases has another way of getting them


@click.command()
@click.argument("file", type=click.Path(path_type=Path), default=Path("matrix.yaml"))
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@engine_option
@json_option
def init(file: Path, force: bool, engine: str | None, as_json: bool) -> None:
    """Write a commented first matrix.yaml: the newest releases that are supported on this machine."""
    from msgspec import to_builtins

    from orchestrator.matrix.document import read
    from orchestrator.matrix.starter import Started, starter
    from orchestrator.results.files import replacing
    from orchestrator.studies.first_rows import first_matrix
    from orchestrator.support.check import Support
    from orchestrator.support.facts import load_facts

    if not force and (file.exists() or file.is_symlink()):
        raise InputError("there is a file already", place=str(file), hint="another name, or `--force`")
    host = host_of(engine)
    facts = load_facts()
    known = {axis: facts.listed(axis) for axis in ("torch", "torch_build")}
    absent: list[str] = []
    start = first_matrix(host, _pythons(host), known, Support(facts), _is_there(absent))
    if absent:
        say(f"note: not in the indexes of this site (`torchmatrix site`): torch {', '.join(absent)}")
    if not start.rows:
        say("note: the rows are chosen by what vendors say alone")
        start = first_matrix(host, _pythons(host), known, Support(facts))
    if not start.rows:
        raise InfrastructureError(
            "nothing that is known is supported on this machine", cause="; ".join(start.found), hint="torchmatrix check"
        )
    written = starter(start)
    read(written, str(file), file.parent)  # what we write is read as every other
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        disk.remove_halves(file.parent, file.name.__eq__)  # what an `init` that was killed left
        with replacing(file, new=not force) as half:  # who made one meanwhile keeps it
            half.write_text(written, encoding="utf-8")
    except OSError as error:
        raise InfrastructureError(error.strerror or str(error), place=str(file)) from error
    if as_json:
        rows = tuple(row.name for row in start.rows)
        show_json(to_builtins(Started(file=str(file), found=start.found, rows=rows)))
    for line in start.found:
        say(text.one_line(line))
    say(f"wrote {file} with {text.counting(len(start.rows), 'row')}; next: torchmatrix plan, torchmatrix run --here")


def _is_there(absent: list[str]) -> "Callable[[Axes], bool]":
    """Whether this site has the wheels of an image; those that it has not go to `absent`.

    After enough questions without an answer the rest is not asked.
    """
    from orchestrator.images.command import Commands
    from orchestrator.images.failure import StageFailed
    from orchestrator.images.lock import lock

    site, commands = site_in_force(), Commands()
    told: dict[str, bool] = {}

    def asked(image: "Axes") -> bool:
        try:
            lock(image, site, commands)
        except StageFailed:
            absent.append(f"{image['torch']} {image['torch_build']}")
            return False
        return True

    def is_there(image: "Axes") -> bool:
        key = text.pairs(image)
        if key not in told and len(absent) < _QUESTIONS:
            told[key] = asked(image)
        return told.get(key, False)

    return is_there


def _pythons(host: "Host") -> "Sequence[str]":
    """The Pythons that cells can have here, best first: those that are installed, or those that bases bring."""
    if host.engine in {"process", "here"} and host.pythons:
        return host.pythons
    from orchestrator.axes import AXES
    from orchestrator.images.bases import RELEASES

    default = RELEASES.get(AXES["base"].default or "")
    return (default.python,) if default else ()
