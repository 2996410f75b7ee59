"""Whether settings can be used as they are, said without what may be a password in them."""

import re
from collections.abc import Iterator, Mapping

from orchestrator import axes
from orchestrator.errors import InputError
from orchestrator.masking import without_passwords
from orchestrator.settings import addresses, logins
from orchestrator.settings.kinds import Value, items

_BUILD = (re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,59}"), "letters, digits and `. _ + -`")
_HOST = (re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}(?::[0-9]{1,5})?"), "HOST or HOST:PORT")
_NAMES: Mapping[str, tuple[re.Pattern[str], str]] = {
    "indexes": _BUILD,
    "bases": _BUILD,
    "registries": _HOST,
    "proxies": (re.compile(r"[A-Za-z]{1,20}"), "`http`, `https` or `no`"),
}
_ONE = {"bases": "base", "registries": "registry"}
_ADDRESSES = frozenset({"indexes", "extra_indexes", "find_links", "apt_mirror", "proxies", "store"})


def check(values: Mapping[str, Value], origins: Mapping[str, str]) -> None:
    """InputError for the first name or value that cannot be used."""
    for setting, value in values.items():
        for name, each in items(value):
            place = origins.get(f"{setting}.{name}" if name else setting, "")
            for fact in (*_of_name(setting, name), *_of_value(setting, name, each)):
                raise InputError(fact, place=place)


def _of_name(setting: str, name: str) -> Iterator[str]:
    # What was meant for a value may stand before its `=`, so a name is shown only where it is one.
    if name and setting in _NAMES and not _NAMES[setting][0].fullmatch(name):
        yield f"a name in `{setting}` is {_NAMES[setting][1]}, and this one is not"


def _of_value(setting: str, name: str, value: str) -> Iterator[str]:
    problem = ""
    if setting == "bases" and axes.problem_with(axes.AXES["image"], value):
        problem = axes.problem_with(axes.AXES["image"], without_passwords(value))
    elif setting == "registries":
        problem = logins.problem_with(value)
    elif setting in _ADDRESSES and name != "no":
        problem = addresses.problem_with(addresses.as_proxy(value) if setting == "proxies" else value)
    if problem:
        yield f"{_ONE.get(setting, setting)} `{name}`: {problem}" if name else f"`{setting}`: {problem}"
