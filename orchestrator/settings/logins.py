"""Logins of a site for its registries: who, and where the password is. `USER:env:NAME` or `USER:file:PATH`."""

import re
from collections.abc import Mapping
from pathlib import Path

from orchestrator.model import SecretSource

_LOGIN = re.compile(r"(?P<user>[^:\s]+):(?:env:(?P<env>[A-Za-z_][A-Za-z0-9_]*)|file:(?P<file>[^\s:]+))", re.ASCII)
_HUB = "docker.io"


def problem_with(login: str) -> str:
    """What is wrong with a login, without any of it, or an empty text: somebody may have written a password there."""
    return "" if _LOGIN.fullmatch(login) else "a login is USER:env:NAME or USER:file:PATH, never a password itself"


def registry_of(ref: str) -> str:
    """The host that an image is pulled from; Docker Hub where the reference names none."""
    first, slash, _ = ref.partition("/")
    return first if slash and ("." in first or ":" in first or first == "localhost") else _HUB


def login_for(ref: str, registries: Mapping[str, str]) -> tuple[str, SecretSource] | None:
    """The user and the place of the password for the registry of an image, where the site names one."""
    found = _LOGIN.fullmatch(registries.get(registry_of(ref), ""))
    if not found:
        return None
    file = found["file"]
    where = SecretSource(
        name=f"password of {registry_of(ref)}",
        env=found["env"] or "",
        file=str(Path(file).expanduser()) if file else "",
    )
    return found["user"], where
