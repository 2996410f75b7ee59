"""The `loads`, `facts` and `secrets` sections: what a team adds of its own, and what stays outside the file."""

import re
from collections.abc import Iterable
from pathlib import Path

from orchestrator.axes import suggestion
from orchestrator.matrix.forms import TEXT_SCHEMA, Field, Form, Record, choice, listing, mapping, scalar, table
from orchestrator.matrix.problems import Problems
from orchestrator.matrix.tree import Listing, Node, Scalar
from orchestrator.model import Load, Row, Secret
from orchestrator.vocabulary import Tier

_PATH = re.compile(r"[A-Za-z0-9_.~/*-][A-Za-z0-9_.~/ *+-]{0,254}", re.ASCII)
_SECRET = re.compile(r"[A-Z][A-Z0-9_]{0,63}", re.ASCII)


def _path(written: str) -> str:
    if not _PATH.fullmatch(written) or ".." in written.split("/") or written.startswith("-"):
        raise ValueError("it takes a path of plain letters without `..`")
    return written


PATH = scalar(_path, {"type": "string"})
FACTS = listing(PATH)

_LOAD_PATH = Field("path", PATH, "the folder of the load, beside this file", required=True)
_TIERS = Field("tiers", listing(choice(tuple(Tier)), at_least=1), "the tiers that run it", default=tuple(Tier))
_DATA = Field("data", PATH, "a folder of data that is mounted read-only", default="")


def _secret_name(written: str) -> str:
    if not _SECRET.fullmatch(written):
        raise ValueError("the name of a secret or variable takes capital letters, digits and underscores")
    return written


GIVEN: Field[tuple[str, ...]] = Field(
    "secrets", listing(scalar(_secret_name, TEXT_SCHEMA)), "names of the secrets that builds and cells get", default=()
)


def _load(record: Record, _: Problems) -> Load:
    return Load(
        path=record[_LOAD_PATH],
        tiers=tuple(Tier(name) for name in record[_TIERS]),
        data=record[_DATA],
        place=record.places[_LOAD_PATH.name],
        secrets=record[GIVEN],
    )


LOADS = listing(table((_LOAD_PATH, _TIERS, _DATA, GIVEN), _load))


def check_paths(loads: Iterable[Load], folder: Path, problems: Problems) -> None:
    """Tells of loads that are not there; `folder` is the one that holds the matrix file."""
    for load in loads:
        if not (folder / load.path).exists():
            problems.add(load.place, f"there is no load at `{load.path}`", cause="paths begin beside this file")


_FILE = Field("file", scalar(_path, {"type": "string"}, show=False), "the file that holds it")
_ENV = Field("env", scalar(_secret_name, TEXT_SCHEMA, show=False), "the environment variable that holds it")


def _source(record: Record, problems: Problems) -> tuple[str, str] | None:
    file, env = record.get(_FILE), record.get(_ENV)
    if (file is None) == (env is None):
        problems.add(record.place, "a secret comes from either `file` or `env`")
        return None
    return file or "", env or ""


_SOURCE = table((_FILE, _ENV), _source)


def _read_source(node: Node, name: str, problems: Problems) -> tuple[str, str] | None:
    """Where a secret is; its value, should someone write it here, is not repeated in the message."""
    if isinstance(node, Scalar | Listing):
        problems.add(node.place, f"`{name}` takes {{file: …}} or {{env: …}}: a secret is never given by value")
        return None
    return _SOURCE.read(node, name, problems)


_ENTRIES = mapping(_secret_name, Form(read=_read_source, schema=_SOURCE.schema))


def _read_secrets(node: Node, name: str, problems: Problems) -> tuple[Secret, ...] | None:
    entries = _ENTRIES.read(node, name, problems)
    if entries is None:
        return None
    return tuple(Secret(name=key.value, file=file, env=env, place=key.place) for key, (file, env) in entries)


SECRETS: Form[tuple[Secret, ...]] = Form(read=_read_secrets, schema=_ENTRIES.schema)


def check_given(users: Iterable[Row | Load], secrets: Iterable[Secret], problems: Problems) -> None:
    """Tells of rows and loads that ask for a secret that nobody declares."""
    declared = dict.fromkeys(secret.name for secret in secrets)
    for user in users:
        for name in user.secrets:
            if name not in declared:
                problems.add(
                    user.place,
                    f"`{name}` is not among the `secrets` of this file",
                    cause=suggestion(name, declared) or f"declare where it is: secrets: {{{name}: {{env: {name}}}}}",
                )
