"""The value of a secret, from the file or the variable where it is."""

import os
import stat
from collections.abc import Mapping

from orchestrator.errors import InputError, refuse_shortage
from orchestrator.masking import SHORTEST
from orchestrator.model import SecretSource

_LONGEST = 64 << 10


def value_of(secret: SecretSource, environ: Mapping[str, str]) -> bytes:
    """The value of a secret; InputError, which never repeats any of it, where there is none that can be used."""
    place = secret.file or f"environment {secret.env}"
    value = os.fsencode(environ.get(secret.env, "")) if secret.env else _content(secret)
    shown = value.strip(b"\r\n")
    if not shown:
        raise InputError(f"secret `{secret.name}` is empty or not set", place=place)
    if len(shown) < SHORTEST:
        raise InputError(
            f"secret `{secret.name}` is shorter than {SHORTEST} bytes", place=place, cause="it could not be masked"
        )
    return value


def _content(secret: SecretSource) -> bytes:
    try:
        descriptor = os.open(secret.file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise InputError(f"secret `{secret.name}`: this is not a regular file", place=secret.file)
            value = file.read(_LONGEST + 1)
    except (OSError, ValueError) as error:
        refuse_shortage(error, secret.file)
        why = (error.strerror if isinstance(error, OSError) else "") or "it cannot be read"
        raise InputError(f"secret `{secret.name}`: {why}", place=secret.file) from None
    if len(value) > _LONGEST:
        raise InputError(f"secret `{secret.name}` is longer than {_LONGEST >> 10} KiB", place=secret.file)
    return value
