"""Compile `orchestrator/support/facts/*.yaml` into the one file that the program reads: `make facts`."""

from pathlib import Path

import msgspec

from orchestrator.support.facts import COMPILED, FOLDER
from orchestrator.support.facts_files import merge, read_file


def compiled() -> bytes:
    files = sorted(FOLDER.glob("*.yaml"))
    whole = merge((path.stem, read_file(path)) for path in files)
    lines = msgspec.json.format(msgspec.json.encode(whole), indent=0)
    return lines.replace(b'},{"when"', b'},\n{"when"') + b"\n"


if __name__ == "__main__":
    Path(COMPILED).write_bytes(compiled())
