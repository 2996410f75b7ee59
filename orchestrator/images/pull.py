"""An image from a registry: as docker is logged in there, or with the site's own login for it.

Docker's own logins and credential helpers are docker's business. A password of the site goes to the engine in the body
of the pull: on a command line every user of this machine could read it.
"""

import os
import time
from contextlib import closing

from orchestrator import text
from orchestrator.engines.docker import connection
from orchestrator.engines.docker.calls import calling
from orchestrator.errors import InfrastructureError
from orchestrator.images.docker import Docker
from orchestrator.images.failure import Stage, StageFailed
from orchestrator.masking import Masker
from orchestrator.settings import Site
from orchestrator.settings.logins import login_for, registry_of
from orchestrator.settings.sources import value_of

_DEADLINE_S = 3600.0


def pull(ref: str, site: Site, docker: Docker) -> None:
    """Brings an image by digest; StageFailed (base) when it cannot, InputError when the password is not there."""
    login = login_for(ref, site.registries)
    if login is None:
        docker.pull(ref)
        return
    user, where = login
    password = value_of(where, os.environ).decode(errors="surrogateescape").strip("\r\n")
    failure = _failure(ref, {"username": user, "password": password, "serveraddress": registry_of(ref)})
    if failure:
        masked = Masker([password.encode(errors="surrogateescape")]).text(failure)
        raise StageFailed(Stage.BASE, f"`{ref}` could not be pulled", log=masked)


def _failure(ref: str, login: dict[str, str]) -> str:
    """Pulls; what the engine says against it, or an empty text."""
    give_up = time.monotonic() + _DEADLINE_S
    name, _, digest = ref.partition("@")
    try:
        with closing(connection.client(os.environ)) as client, calling("pulling an image"):
            told = client.pull(name, tag=digest, auth_config=login, stream=True, decode=True)
            for line in told:
                if time.monotonic() > give_up:
                    return f"it took over {_DEADLINE_S:.0f} s"
                if isinstance(line, dict) and "error" in line:
                    return text.one_line(str(line["error"]))
    except InfrastructureError as error:
        return str(error)
    return ""
