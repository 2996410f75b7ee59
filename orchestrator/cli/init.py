"""`init`: a first matrix for the machine one stands on."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator import disk, text
from orchestrator.cli.inputs import host_of, site_in_force
from orchestrator.cli.options import engine_option, json_option
from orchestrator.cli.output import say, show_json
from orchestrator.errors import InfrastructureError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.images.resolve import Question, Wheel
    from orchestrator.model import Axes, Host

_QUESTIONS = 12  # a second each: who has none of the newest releases has another way of getting them
_PATIENCE_S = 60.0  # for all of them: uv alone would wait for minutes, of each, where an index does not answer


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
    indexes = _Indexes(_PATIENCE_S)
    start = first_matrix(host, _pythons(host), known, Support(facts), indexes.have)
    if indexes.absent:
        say(f"note: not in the indexes of this site (`torchmatrix site`): torch {', '.join(indexes.absent)}")
    if indexes.late:
        say(f"note: the indexes of this site did not tell all within {_PATIENCE_S:g} s: torchmatrix site --check")
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


class _Indexes:
    """What this site has the wheels of. After enough questions without an answer, or enough time, no more is asked."""

    def __init__(self, patience_s: float) -> None:
        from orchestrator.images.command import Commands

        self._site, self._commands = site_in_force(), Commands()
        self._until = time.monotonic() + patience_s
        self._told: dict[str, bool] = {}
        self.absent: list[str] = []
        self.late = False

    def have(self, image: "Axes") -> bool:
        """Whether it has those of an image."""
        key = text.pairs(image)
        if key not in self._told and len(self.absent) < _QUESTIONS and not self.late:
            self._told[key] = self._asked(image)
        return self._told.get(key, False)

    def _asked(self, image: "Axes") -> bool:
        from orchestrator.images.failure import StageFailed
        from orchestrator.images.lock import lock_with

        try:
            lock_with(self._wheels, image)
        except StageFailed:
            self.late = time.monotonic() >= self._until
            if not self.late:
                self.absent.append(f"{image['torch']} {image['torch_build']}")
            return False
        return True

    def _wheels(self, question: "Question") -> "tuple[Wheel, ...]":
        from orchestrator.images.resolve import resolve

        return resolve(question, self._site, self._commands, deadline_s=max(0.0, self._until - time.monotonic()))


def _pythons(host: "Host") -> "Sequence[str]":
    """The Pythons that cells can have here, best first: those that are installed, or those that bases bring."""
    if host.engine in {"process", "here"} and host.pythons:
        return host.pythons
    from orchestrator.axes import AXES
    from orchestrator.images.bases import RELEASES

    default = RELEASES.get(AXES["base"].default or "")
    return (default.python,) if default else ()
