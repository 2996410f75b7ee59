"""`facts learn`: what a wheel or an image adds to what is known."""

import datetime as dt
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator import text
from orchestrator.cli.inputs import site_in_force
from orchestrator.cli.options import facts_option, json_option, options
from orchestrator.cli.output import colour, say, show, show_json, width
from orchestrator.errors import InfrastructureError, InputError

if TYPE_CHECKING:
    from orchestrator.support.facts import Facts
    from orchestrator.support.learned import Learned

_IMAGE = re.compile(r"[a-z0-9][a-zA-Z0-9._/:@-]{0,254}", re.ASCII)


@click.command()
@click.argument("what", metavar="WHEEL|IMAGE")
@options(facts_option, json_option)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE.yaml", help="Write the rows to a file of facts.")
def learn(what: str, overlays: tuple[Path, ...], as_json: bool, out: Path | None) -> None:
    """Read facts from a wheel or a built image, without a GPU, and show how they differ from what was believed.

    A wheel is read without being installed: metadata, Python tag, pins, the glibc that its libraries ask for, and the
    architectures that its device code was compiled for. An image is asked what it contains. With --out the rows become
    a file to name under `facts:` in matrix.yaml; without it they are printed.
    """
    from orchestrator.support.differences import differences
    from orchestrator.support.facts import load_facts
    from orchestrator.support.learned import overlay
    from orchestrator.support.overlay import written

    believed = load_facts(overlays)
    rows = _learned(what, believed)
    found = differences(rows, believed)
    name = Path(what).name if _is_wheel(what) else what
    today = dt.datetime.now(tz=dt.UTC).date()
    made = overlay(rows, believed, name, today)
    yaml = written(made, f"Learned from {name} by `torchmatrix facts learn` on {today.isoformat()}.")
    if out is not None:
        _write(out, yaml)
    if as_json:
        from msgspec import to_builtins

        show_json({"of": name, "learned": [to_builtins(one) for one in found], "facts": to_builtins(made)})
        return
    from orchestrator.reports.facts import compared

    show(compared(name, found, width=width(), colour=colour()))
    show(f"\nfacts    {out}" if out is not None else f"\n{text.visible(yaml)}")


def _is_wheel(what: str) -> bool:
    return what.endswith(".whl") or Path(what).exists()


def _learned(what: str, believed: "Facts") -> "tuple[Learned, ...]":
    from orchestrator.support import learn as learning

    if _is_wheel(what):
        from orchestrator.support.wheel import read

        return learning.from_wheel(read(Path(what)))
    return learning.from_image(_contents(what), believed)


def _contents(image: str) -> Mapping[str, str]:
    """What an image says that it contains; it is pulled when it is named by its digest and is not there."""
    from orchestrator.images.failure import BuildFailure
    from orchestrator.images.prepare import prepare_images

    if not _IMAGE.fullmatch(image):
        raise InputError(f"`{text.shown(image)}` is neither a wheel that is there nor the name of an image")
    made = prepare_images({"learn": {"image": image}}, site_in_force(), jobs=1, say=say)["learn"]
    if isinstance(made, BuildFailure):
        raise InfrastructureError(made.reason, place=image)
    return made.observed


def _write(out: Path, yaml: str) -> None:
    from orchestrator.results.files import replacing

    with replacing(out) as half:
        half.write_text(yaml, encoding="utf-8")
