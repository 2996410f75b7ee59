"""`torchmatrix` itself with the stand-in for the smoke suite, on a machine that is as the environment says.

python tiny_command.py ARGUMENTS…
"""

import os
from pathlib import Path

from planned_run import TINY

from orchestrator.cli import main
from orchestrator.images import containerfile
from orchestrator.running import folder, run


def _prepare() -> None:
    run.suites_folder = lambda: TINY
    folder.MIN_FREE = int(os.environ.get("MIN_FREE", "0"))
    if "TEMPLATES" in os.environ:
        containerfile.folder = lambda: Path(os.environ["TEMPLATES"])


if __name__ == "__main__":
    _prepare()
    main()
