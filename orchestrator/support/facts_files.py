"""Facts files as people write them: YAML, checked against the one form, each problem with its file."""

import os
import re
import stat
import warnings
from collections.abc import Iterator
from pathlib import Path

from msgspec import ValidationError, convert

from orchestrator import text, yaml_bounds
from orchestrator.axes import AXES, suggestion
from orchestrator.errors import InputError, refuse_shortage
from orchestrator.support import conditions, written
from orchestrator.support.axes import DERIVED, is_version
from orchestrator.support.rows import Conditions, FactsFile

MAX_BYTES = 4 << 20


def read_file(path: Path) -> FactsFile:
    """One facts file. InputError with its name and what is wrong in it."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        content = _content(path)
        yaml_bounds.admit(content)
        loaded = YAML(typ="safe", pure=True).load(content)
    except OSError as error:
        refuse_shortage(error, str(path))
        raise InputError(error.strerror or "cannot be read", place=str(path)) from None
    except (YAMLError, ValueError, LookupError, TypeError, AttributeError, AssertionError, RecursionError) as error:
        # The pure parser lets a few of its own slips through on hostile input.
        raise InputError(f"is no YAML: {text.one_line(str(error))}", place=str(path)) from None
    try:
        file = convert(loaded, FactsFile)
    except ValidationError as error:
        raise InputError(f"is no facts file: {text.one_line(str(error))}", place=str(path)) from None
    if problem := next(_problems(file), ""):
        raise InputError(problem, place=str(path))
    return file


def _content(path: Path) -> str:
    """The text of a plain file under the cap; a pipe would never end."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise ValueError("it is not a regular file")
        content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES >> 20} MiB")
    return content.decode()


def _problems(file: FactsFile) -> Iterator[str]:
    """What has the form of a fact and could not be asked."""
    for rule in file.rules:
        for row in rule.rows:
            for needs in (row.when, row.need or {}, *row.need_any):
                yield from (f"rule `{rule.name}`, {problem}" for problem in _unreadable(needs))
    for derivation in file.derivations:
        yield from (f"a derivation, {problem}" for problem in _unreadable(derivation.when))
        for axis, value in derivation.gives.items():
            if is_version(axis) and written.version(axis, value) is None:
                yield f"a derivation: `{value}` is no value of `{axis}`"
    for device in file.devices:
        for pattern in device.patterns:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")  # a pattern that will mean something else one day
                    re.compile(pattern)
            except (re.error, OverflowError, RecursionError, Warning) as error:
                yield f"device `{device.id}`: `{text.shown(pattern)}` is no pattern: {error}"


def _unreadable(needs: Conditions) -> Iterator[str]:
    for axis, condition in needs.items():
        if axis not in AXES and axis not in DERIVED:
            near = suggestion(axis, AXES)
            yield f"no axis is named `{text.shown(axis)}`" + (f", {near}" if near else "")
            continue
        try:
            conditions.read(axis, condition)
        except ValueError as error:
            yield f"axis `{axis}`: {error}"
