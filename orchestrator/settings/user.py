"""Settings of the user: `site.yaml`, and variables, which win."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import axes, text
from orchestrator.errors import InputError, InputErrors
from orchestrator.settings.kinds import FORMS, KINDS, Found, Value
from orchestrator.yaml_bounds import admit

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node


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
        variable = f"TORCHMATRIX_{name.upper()}"
        if value := environ.get(variable, "").strip():
            yield name, _split(kind, value, variable), f"environment {variable}"


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
    try:
        content = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        if "TORCHMATRIX_SITE" in environ:
            raise InputError("no such file", place=str(file), cause="named by TORCHMATRIX_SITE") from None
        return
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"cannot be read: {text.one_line(str(problem))}", place=str(file)) from problem
    problems: list[InputError] = []
    for key, node in _entries(file, content):
        name, place = str(key.value), f"{file}:{key.start_mark.line + 1}:{key.start_mark.column + 1}"
        shown, kind = text.one_line(name, 60), KINDS.get(name, "")
        value = _plain(kind, node)
        if not kind:
            problems.append(InputError(f"`{shown}` is no setting", place=place, hint=axes.suggestion(name, KINDS)))
        elif value is None:
            problems.append(InputError(f"`{shown}` takes {FORMS[kind]}", place=place))
        else:
            yield name, value, place
    if problems:
        raise InputErrors(problems)


def _entries(file: Path, content: str) -> "Sequence[tuple[Node, Node]]":
    """The keys of the file and their values, as nodes that know their places."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError
    from ruamel.yaml.nodes import MappingNode

    try:
        admit(content)
        root = YAML(typ="safe", pure=True).compose(content)
    except (YAMLError, ValueError, LookupError, TypeError, AttributeError, AssertionError) as problem:
        # The pure parser lets a few of its own slips through on hostile input.
        raise InputError(f"is not YAML: {text.one_line(str(problem))}", place=str(file)) from problem
    if root is None:
        return ()
    if not isinstance(root, MappingNode):
        raise InputError("holds no settings", place=str(file), hint="a mapping of setting names")
    return tuple(root.value)


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
