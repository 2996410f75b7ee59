"""Environments for the process engine: the wheels of an image, without its base, in a venv on this machine."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator import text
from orchestrator.axes import image_axes
from orchestrator.images.command import Commands, locked
from orchestrator.images.failure import Stage, StageFailed, at
from orchestrator.images.lock import Lock
from orchestrator.images.locked import lock_of, wheels_of
from orchestrator.images.observe import observe_interpreter
from orchestrator.images.recipe import checked
from orchestrator.images.resolve import uv, uv_environment
from orchestrator.images.wheelhouse import check_torch, fetch, place_of
from orchestrator.model import Axes, Image
from orchestrator.settings import Site
from orchestrator.vocabulary import Cause

_DEADLINE_S = 1800.0
_HERMETIC = ("--no-config", "--offline", "--no-python-downloads")
_DONE = "torchmatrix.done"  # written last: a venv without it is not whole


def make_venv(key: str, axes: Axes, site: Site, commands: Commands, say: Callable[[str], None]) -> Image:
    """The venv of a combination, made unless it is there; `Image.ref` is its Python. StageFailed otherwise."""
    full = checked(axes)
    if full["torch_from"] != "wheel":
        raise StageFailed(Stage.BASE, "a venv takes torch from wheels only", cause=Cause.MISSING_PACKAGE)
    python = find_python(full["python"], site, commands)
    held = wheels_of(lock_of(full, site, say), full, site, commands)
    fetch(held.wheels, site, commands, say)
    check_torch(held.torch, full["torch_build"], site)
    digest = text.digest([python, [wheel.identity for wheel in held.wheels]])
    folder = site.cache / "venvs" / digest[:16]
    with at(Stage.BUILD):
        if not (folder / _DONE).is_file():
            with locked(folder.with_suffix(".lock")):
                if not (folder / _DONE).is_file():
                    say(f"venv {key}: making {folder}")
                    _make(folder, python, held, site, commands)
    interpreter = str(folder / "bin" / "python")
    observed = observe_interpreter(interpreter, digest, site, commands)
    return Image(id=key, name=f"venv {digest[:12]}", ref=interpreter, axes=image_axes(axes), observed=observed)


def find_python(version: str, site: Site, commands: Commands) -> str:
    """The interpreter of that version on this machine; StageFailed (base) when there is none."""
    done = commands.run(
        (uv(), "python", "find", *_HERMETIC, "--system", version),
        deadline_s=60.0,
        env=uv_environment(site, os.environ),
    )
    if done.code != 0:
        raise StageFailed(
            Stage.BASE,
            f"this machine has no Python {version}",
            log=done.log,
            cause=Cause.MISSING_PACKAGE,
            hint=f"install one where uv finds it: `uv python install {version}`, or the system's package",
        )
    return done.out.strip()


def _make(folder: Path, python: str, held: Lock, site: Site, commands: Commands) -> None:
    shutil.rmtree(folder, ignore_errors=True)  # what a maker that died left
    with TemporaryDirectory(prefix="torchmatrix-venv-", dir=folder.parent) as name:
        # By their own places, which do not change, so that uv unpacks a wheel once and venvs share its files.
        places = Path(name) / "lock.txt"
        lines = [
            f"{wheel.name} @ {place_of(wheel, site).as_uri()} --hash=sha256:{wheel.sha256}" for wheel in held.wheels
        ]
        places.write_text("\n".join(lines) + "\n")
        for arguments in (
            ("venv", "--python", python, str(folder)),
            (
                *("pip", "install", "--no-index", "--no-deps", "--require-hashes", "--compile-bytecode"),
                *("--python", str(folder / "bin" / "python"), "--requirements", str(places)),
            ),
        ):
            done = commands.run(
                (uv(), *arguments, *_HERMETIC, f"--cache-dir={site.cache / 'uv'}"),
                deadline_s=_DEADLINE_S,
                env=uv_environment(site, os.environ),
            )
            if done.code != 0:
                why = f"took over {_DEADLINE_S:.0f} s" if done.timed_out else f"ended with {done.code}"
                raise StageFailed(Stage.BUILD, f"`uv {' '.join(arguments[:2])}` {why}", log=done.log)
    (folder / _DONE).write_text(python + "\n")
