"""Compile `orchestrator/support/facts/*.yaml` into the one file that the program reads: `make facts`."""

from pathlib import Path

import msgspec

from orchestrator.support.facts import COMPILED, FOLDER
from orchestrator.support.facts_files import read_file
from orchestrator.support.layers import merge


def compiled() -> bytes:
    """What `compiled.json` must hold: one line for each row, so that a change of a fact is a change of a line."""
    files = sorted(FOLDER.glob("*.yaml"))
    whole = merge((path.stem, read_file(path)) for path in files)
    rows = msgspec.json.format(msgspec.json.encode(whole), indent=-1)
    for first in (b'{"when":', b'{"id":', b'{"name":', b'{"need":', b'{"until":'):
        rows = rows.replace(b"}," + first, b"},\n" + first)
    return rows + b"\n"


if __name__ == "__main__":
    Path(COMPILED).write_bytes(compiled())
