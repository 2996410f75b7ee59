"""A shell as a script for another terminal: it makes its own scratch, and leaves nothing behind. Pure."""

import secrets
import shlex
from pathlib import Path

from orchestrator.engines.process.scratch import FOLDERS, scratch_below
from orchestrator.engines.task import Task
from orchestrator.running.shell import Place, Shell


def place_to_be_made() -> Place:
    """Where the script will be at, in names that `script` replaces; `$` in them has each word with one quoted."""
    mark = secrets.token_hex(8)
    return Place(scratch=scratch_below(Path(f"$scratch-{mark}")), container=f"$name-{mark}")


def script(task: Task, place: Place, opened: Shell) -> str:
    """The whole script, in a subshell: what it traps is its own."""
    line = opened.printed()
    for mark, variable in ((str(place.scratch.root), "scratch"), (place.container, "name")):
        line = line.replace(mark, f"'\"${variable}\"'")  # each stands between single quotes
    tidy = 'rm -rf "$scratch"'
    if opened.container:
        tidy = f'{shlex.join(opened.client)} rm --force --volumes "$name" >/dev/null 2>&1; {tidy}'
    return "\n".join(
        (
            "(set -e; scratch=$(mktemp -d -t torchmatrix-XXXXXXXXXX); name=torchmatrix-shell-${scratch##*-}",
            f"trap {shlex.quote(f'set +e; {tidy}')} EXIT",
            "trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM",
            'cd "$scratch" && mkdir ' + " ".join(FOLDERS),
            f"ln -s {shlex.quote(str(task.suites.resolve() / 'suites'))} path/suites",
            *(
                f"printf %s {shlex.quote(content.decode())} >inputs/{shlex.quote(name)}"
                for name, content in task.inputs.items()
            ),
            *(("chmod 755 . inputs; chmod 777 results; chmod 444 inputs/*",) if opened.container else ()),
            f"{line})",
        )
    )
