"""`lock`: what each image is made of, written down; and whether what is written down still holds."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli.inputs import locks_beside, plan_of, site_in_force
from orchestrator.cli.options import file_option, json_option, options, select_option, tier_option
from orchestrator.cli.output import colour, say, show, show_json, width
from orchestrator.errors import ExitCode, InputError
from orchestrator.vocabulary import Cause, LockState, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.model import Axes, LockedImage, Plan

_FOR_GOOD = {Cause.MISSING_PACKAGE, Cause.VERSION_MISMATCH}


@click.command()
@options(file_option, select_option, tier_option, json_option)
@click.option(
    "--upgrade",
    is_flag=True,
    help="Take the newest of all that the matrix does not say, each from the first index that has the package.",
)
@click.option(
    "--upgrade-package",
    "packages",
    multiple=True,
    metavar="NAME",
    help="Take the newest of this package or base alone, and leave the rest; repeatable.",
)
@click.option("--prune", is_flag=True, help="Remove locks that no row of this matrix has.")
@click.option("--check", is_flag=True, help="Change nothing: exit 1 when a lock is missing, does not fit or is stale.")
@click.option("--offline", is_flag=True, help="With --check: ask no index and no mirror.")
def lock(  # noqa: PLR0913, PLR0917 - one parameter an option
    file: Path,
    select: tuple[str, ...],
    tier: str,
    as_json: bool,
    upgrade: bool,
    packages: tuple[str, ...],
    prune: bool,
    check: bool,
    offline: bool,
) -> None:
    """Write what each image is made of into images/locks/, beside the matrix.

    \b
    torchmatrix lock                      # new images; the locks that fit stay as they are
    torchmatrix lock --upgrade            # the newest of all that the matrix does not say
    torchmatrix lock --upgrade-package numpy --upgrade-package debian12
    torchmatrix lock --prune              # and remove the locks of rows that are gone
    torchmatrix lock --check --offline    # for CI

    A lock names each wheel by version, file name and SHA-256, and the version of each distribution package of a base
    that is bootstrapped here. What is locked is what is built: nothing is resolved again, and what a site does not have
    any more is an error, `lock stale`. Images are resolved together, so that two differ only in what a rule forces;
    where one holds another version than most, the rule is told. No lock holds an address: wheels are looked for by
    their hash in the indexes of the site that builds.

    --check compares locks and matrix, and what each lock holds with what its image is asked to hold; then it asks each
    index and mirror whether it still has what is locked. An image without a lock is no failure while nothing of its
    torch build is locked and this machine does not run it. Exit codes: 0 all is locked; 1 an image cannot be, or a
    check found something; 4 an index or a mirror did not answer: whether a lock is stale is not known then.
    """  # noqa: D301 - click reads \b as the character that it is
    if (upgrade or packages or prune) and check:
        raise click.UsageError("`--check` changes nothing, `--upgrade` and `--prune` do: one of them")
    if prune and select:
        raise click.UsageError("`--prune` asks what the whole matrix has: give no `--select` with it")
    if offline and not check:
        raise click.UsageError("`--offline` goes with `--check`: a lock is made of what an index says")
    planned, _ = plan_of(file, select, tier, None)
    wanted, rows = _wanted(planned)
    folder = locks_beside(file)
    others = [] if select else _left_over(file, tier, folder, wanted, unreadable=check)
    if check:
        _check(planned, wanted, rows, others, folder, as_json=as_json, ask=not offline)
    else:
        renewed = upgrade or frozenset(packages)
        _lock(wanted, rows, others, folder, as_json=as_json, upgrade=renewed, prune=prune)


def _wanted(planned: "Plan") -> "tuple[dict[str, Axes], dict[str, tuple[str, ...]]]":
    """The axes of each image that is built and can be, and the rows that have it."""
    from orchestrator.axes import image_axes

    wanted: dict[str, Axes] = {}
    rows: dict[str, tuple[str, ...]] = {}
    for cell in planned.cells:
        if cell.support.verdict is not Verdict.UNSUPPORTED and "image" not in cell.axes:
            wanted[cell.image] = image_axes(cell.axes)
            rows[cell.image] = (*rows.get(cell.image, ()), cell.name)
    if not wanted:
        raise InputError("none of these cells has an image to lock: each is unsupported, or has a ready image")
    return wanted, rows


def _left_over(file: Path, tier: str, folder: Path, wanted: "Mapping[str, Axes]", *, unreadable: bool) -> "list[str]":
    """The locks that no image of the matrix has, whatever tier its cells are of; with those that cannot be read."""
    from orchestrator.images.locks import held_in

    held = held_in(folder)
    others = sorted((held.locks.keys() | (held.unreadable.keys() if unreadable else set())) - wanted.keys())
    if others and tier != "all":
        every, _ = _wanted(plan_of(file, (), "all", None)[0])
        others = [image for image in others if image not in every]
    return others


def _lock(
    wanted: "Mapping[str, Axes]",
    rows: "Mapping[str, tuple[str, ...]]",
    others: "Sequence[str]",
    folder: Path,
    *,
    as_json: bool,
    upgrade: bool | frozenset[str],
    prune: bool,
) -> None:
    from msgspec import to_builtins
    from msgspec.structs import replace

    from orchestrator.images.locks import place_of_lock
    from orchestrator.images.relock import relock
    from orchestrator.model import LockedImage, Locking
    from orchestrator.reports.locks import locking

    made = relock(wanted, folder, site_in_force(), upgrade=upgrade, say=say)
    images = [replace(one, rows=rows[one.image]) for one in made]
    for image in others:  # another matrix beside this one may have them
        if prune:
            place_of_lock(folder, image).unlink()
        images.append(LockedImage(image=image, rows=(), state=LockState.REMOVED if prune else LockState.LEFT_OVER))
    done = Locking(folder=str(folder), images=tuple(images))
    show_json(to_builtins(done)) if as_json else show(locking(done, width=width(), colour=colour()))
    sys.exit(_code(images))


def _code(images: "Sequence[LockedImage]") -> ExitCode:
    failed = [one for one in images if one.state is LockState.FAILED]
    if any(one.cause not in _FOR_GOOD for one in failed):
        return ExitCode.INFRASTRUCTURE
    return ExitCode.NOT_PASSED if failed else ExitCode.GOOD


def _check(
    planned: "Plan",
    wanted: "Mapping[str, Axes]",
    rows: "Mapping[str, tuple[str, ...]]",
    others: "Sequence[str]",
    folder: Path,
    *,
    as_json: bool,
    ask: bool,
) -> None:
    from msgspec import to_builtins
    from msgspec.structs import replace

    from orchestrator.images.lock_check import check_locks
    from orchestrator.reports.locks import checking

    needed = frozenset(cell.image for cell in planned.cells if cell.placement.placed)
    found = check_locks(wanted, needed, others, folder, site_in_force(), ask=ask)
    found = replace(found, locks=tuple(replace(one, rows=rows.get(one.image, ())) for one in found.locks))
    show_json(to_builtins(found)) if as_json else show(checking(found, width=width(), colour=colour()))
    if not found.answered:
        sys.exit(ExitCode.INFRASTRUCTURE)
    sys.exit(ExitCode.GOOD if found.good else ExitCode.NOT_PASSED)
