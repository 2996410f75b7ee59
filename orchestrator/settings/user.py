"""Settings of the user: `site.yaml`, and variables, which win."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import axes, disk, text
from orchestrator.errors import InputError, InputErrors, refuse_shortage
from orchestrator.masking import without_passwords
from orchestrator.settings.kinds import FORMS, KINDS, Found, Value
from orchestrator.yaml_bounds import admit

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_PREFIX = "TORCHMATRIX_"
_NO_SETTINGS = frozenset({"FAULT", "RUN", "OWNER", "CELL"})  # of the tests, and what marks the processes of a cell
_LONGEST = 1 << 20
_OF_OURS = re.compile(r"line \d+: ")


def at_home(path: str) -> Path:
    """The path, with a leading `~` as the home that it names; one of a user who is not there stays as it is written."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def site_file(environ: Mapping[str, str]) -> Path:
    """The user's file: `$TORCHMATRIX_SITE`, else `torchmatrix/site.yaml` in the configuration folder."""
    if named := environ.get("TORCHMATRIX_SITE"):
        return at_home(named)
    home = Path(environ.get("HOME") or "~").expanduser()
    return Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "torchmatrix/site.yaml"


def from_variables(environ: Mapping[str, str]) -> Found:
    """What `TORCHMATRIX_*` variables say; InputError for what is not of the setting's form."""
    for name, kind in KINDS.items():
        variable = f"{_PREFIX}{name.upper()}"
        if value := environ.get(variable, "").strip():
            yield name, _split(kind, value, variable), f"environment {variable}"


def unknown_variables(environ: Mapping[str, str], logins: Iterable[str]) -> Iterator[str]:
    """A note on each `TORCHMATRIX_*` variable that sets nothing: its name, what was meant perhaps, never its value.

    Those that `logins` (`USER:env:NAME`) name for a password have their use.
    """
    settings = {name.upper(): name for name in (*KINDS, "site")}
    used = {login.rpartition(":")[2] for login in logins} | {f"{_PREFIX}{name}" for name in (*settings, *_NO_SETTINGS)}
    for variable in sorted(name for name in environ if name.startswith(_PREFIX) and name not in used):
        near = axes.suggestion(variable.removeprefix(_PREFIX), settings).replace("`", f"`{_PREFIX}", 1)
        yield f"environment {text.shown(variable)} is no setting; {near or '`torchmatrix site` lists them'}"


def _split(kind: str, value: str, variable: str) -> Value:
    if kind == "text":
        return value
    if kind == "list":
        return tuple(value.split())
    pairs = [item.partition("=") for item in value.split()]
    if bad := [number for number, pair in enumerate(pairs, start=1) if not all(pair)]:
        # Not what it is: an address without a name may have a password in it.
        raise InputError(f"item {bad[0]} is not a name=value pair", place=f"environment {variable}", hint="a=b c=d")
    return {key: target for key, _, target in pairs}


def from_file(environ: Mapping[str, str]) -> Found:
    """What the user's file says, each value with its line; InputErrors with every problem in it."""
    file = site_file(environ)
    named = without_passwords(str(file))
    if named == os.devnull:  # as one says to programs that they have no settings
        return
    try:
        content = disk.read_bounded(file, _LONGEST).decode("utf-8-sig")
    except FileNotFoundError:
        if "TORCHMATRIX_SITE" in environ:
            raise InputError("no such file", place=named, cause="named by TORCHMATRIX_SITE") from None
        return
    except (OSError, UnicodeDecodeError) as problem:
        refuse_shortage(problem, named)
        why = (
            problem.strerror or str(problem)
            if isinstance(problem, OSError)
            else f"it is not UTF-8 at byte {problem.start}"
        )
        raise InputError(f"cannot be read: {why}", place=named) from problem
    problems: list[InputError] = []
    for key, node in _entries(named, content):
        name, place = str(key.value), f"{named}:{key.start_mark.line + 1}:{key.start_mark.column + 1}"
        shown, kind = f"`{name}`" if _NAME.fullmatch(name) else "this", KINDS.get(name, "")
        value = _plain(kind, node)
        if not kind:
            problems.append(InputError(f"{shown} is no setting", place=place, hint=axes.suggestion(name, KINDS)))
        elif value is None:
            problems.append(InputError(f"{shown} takes {FORMS[kind]}", place=place))
        else:
            yield name, value, place
    if problems:
        raise InputErrors(problems)


def _entries(file: str, content: str) -> "Sequence[tuple[Node, Node]]":
    """The keys of the file and their values, as nodes that know their places."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError
    from ruamel.yaml.nodes import MappingNode

    try:
        admit(content)
        root = YAML(typ="safe", pure=True).compose(content)
    except (YAMLError, ValueError, LookupError, TypeError, AttributeError, AssertionError) as problem:
        # The pure parser lets a few of its own slips through on hostile input.
        raise InputError(f"is not YAML: {_said(problem)}", place=file) from problem
    if root is None:
        return ()
    if not isinstance(root, MappingNode):
        raise InputError("holds no settings", place=file, hint="a mapping of setting names")
    return tuple(root.value)


def _said(problem: Exception) -> str:
    """What a parser says and where, with nothing of the file in it: the line may hold a password."""
    from ruamel.yaml.error import MarkedYAMLError

    if isinstance(problem, MarkedYAMLError) and problem.problem_mark:
        mark = problem.problem_mark
        fact = re.sub(r"(['\"`])(?!<).*\1", "…", text.one_line(str(problem.problem)))
        return f"line {mark.line + 1}, column {mark.column + 1}: {fact}"
    told = str(problem)
    return told if _OF_OURS.match(told) else f"it cannot be parsed ({type(problem).__name__})"


def _plain(kind: str, node: object) -> Value | None:
    """The node as that kind of value, every scalar as text; None when it is something else."""
    from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

    if kind == "text" and isinstance(node, ScalarNode):
        return str(node.value)
    if kind == "list" and isinstance(node, SequenceNode) and all(isinstance(item, ScalarNode) for item in node.value):
        return tuple(str(item.value) for item in node.value)
    if kind == "pairs" and isinstance(node, MappingNode):
        items = node.value
        if all(isinstance(key, ScalarNode) and isinstance(value, ScalarNode) for key, value in items):
            return {str(key.value): str(value.value) for key, value in items}
    return None
