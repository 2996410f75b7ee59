"""`torchmatrix` itself with the stand-in for the smoke suite, on a machine that is as the environment says.

python tiny_command.py ARGUMENTS…
"""

import os
import subprocess
import sys
from pathlib import Path

from planned_run import TINY

from orchestrator.cli import admission, main
from orchestrator.images import containerfile
from orchestrator.running import folder, run


def command(*arguments: object, **environ: str) -> subprocess.Popen[str]:
    """The command as a process of its own."""
    return subprocess.Popen(
        [sys.executable, __file__, *map(str, arguments)],
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _prepare() -> None:
    run.suites_folder = lambda: TINY
    folder.MIN_FREE = int(os.environ.get("MIN_FREE", "0"))
    folder.MOUNTS = Path(os.environ.get("MOUNTS", folder.MOUNTS))
    if "NO_ADMISSION" in os.environ:  # a disk fills all the same while a run goes on
        admission._RUN_BYTES = admission._CELL_BYTES = 0
    if "FIRST_ID" in os.environ:
        ids, made = iter((os.environ["FIRST_ID"],)), folder.run_id
        folder.run_id = lambda now, tail: next(ids, "") or made(now, tail)
    if "TEMPLATES" in os.environ:
        containerfile.folder = lambda: Path(os.environ["TEMPLATES"])


if __name__ == "__main__":
    _prepare()
    main()
