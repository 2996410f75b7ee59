"""The docker engine: one task in one fresh container, from create to remove."""

import os
import secrets
from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from typing import TYPE_CHECKING

from orchestrator.engines.docker import connection, container
from orchestrator.engines.docker.calls import Gone, calling
from orchestrator.engines.docker.collect import collect, collect_cache
from orchestrator.engines.docker.output import Output
from orchestrator.engines.docker.profile import Profile, profile
from orchestrator.engines.docker.sweep import sweep
from orchestrator.engines.docker.watch import killed_by_somebody, watch
from orchestrator.engines.engine import StepLog
from orchestrator.engines.intake import make_ready
from orchestrator.engines.owner import this_process
from orchestrator.engines.sighting import Sighting
from orchestrator.engines.stop import Stop
from orchestrator.engines.task import Task
from orchestrator.errors import InfrastructureError
from orchestrator.model import Attempt, Image
from orchestrator.vocabulary import Step

if TYPE_CHECKING:
    from docker import APIClient


class DockerEngine:
    """Runs cells in the engine that `environ` names; each call of it ends within `call_s`."""

    name = "docker"

    def __init__(self, environ: Mapping[str, str] | None = None, call_s: float = connection.CALL_S) -> None:
        self._environ = os.environ if environ is None else environ
        self._call_s = call_s
        self._stop = Stop()
        self._left: dict[str, Mapping[str, str]] = {}  # containers that we could not remove, with their labels

    def run(self, task: Task, step: StepLog) -> Attempt:
        """One attempt in a container that is removed whatever happens."""
        seen = Sighting(task, step)
        if self._stop.requested:
            seen.ending.cancel()
            return seen.attempt(self.name)
        made = _profile(task)
        seen.relaxed = made.relaxed
        with suppress(InfrastructureError):  # it is in the Exit, with its step
            self._live(task, made, seen)
        return seen.attempt(self.name)

    def has(self, image: Image) -> bool:
        """Whether the engine has the image; what an earlier attempt could not remove goes first."""
        with closing(connection.client(self._environ, self._call_s)) as client:
            self._remove_left(client)
            try:
                with calling("looking for the image"):
                    client.inspect_image(image.ref)  # type: ignore[no-untyped-call]
            except Gone:
                return False
        return True

    def sweep(self, run_id: str) -> tuple[str, ...]:
        """Remove containers and volumes of the run whose owner is gone, and those that we could not remove."""
        with closing(connection.client(self._environ, self._call_s)) as client:
            return (*self._remove_left(client), *sweep(client, run_id))

    def stop_all(self) -> None:
        """See `Engine.stop_all`."""
        self._stop.request()

    def _live(self, task: Task, made: Profile, seen: Sighting) -> None:
        """Take a container through its life, noting in `seen` what comes of it."""
        name = f"torchmatrix-{task.cell.id}-{task.number}-{secrets.token_hex(4)}"
        with ExitStack() as undo:
            with seen.during(Step.CREATE):
                make_ready(task.out)
                client = undo.enter_context(closing(connection.client(self._environ, self._call_s)))
                # Before the creation: it may succeed and never be answered.
                undo.callback(self._remove, client, name, made, seen)
                container.create(client, name, made, task.inputs, task.cache)
            with seen.during(Step.START):
                output = undo.enter_context(closing(Output(client, name)))
                container.start(client, name)
            seen.begin()
            with seen.during(Step.WAIT):
                state = watch(client, name, output, seen.log, seen.ending, self._stop)
                seen.end(state.exit_code, oom=state.oom_killed)
                if not seen.ending.begun and killed_by_somebody(client, name, state):
                    raise InfrastructureError("the container was killed while the cell ran", cause="by somebody else")
            with seen.during(Step.COLLECT):
                collect(client, name, seen.intake)
                if task.cache and state.exit_code == 0 and not seen.ending.begun:
                    collect_cache(client, name, task.cache)

    def _remove(self, client: "APIClient", name: str, made: Profile, seen: Sighting) -> None:
        self._left[name] = made.config["Labels"]
        with suppress(InfrastructureError), seen.during(Step.REMOVE):  # what is on its way up must not be hidden
            connection.version(self._environ)  # one that hangs is not asked for more
            container.remove(client, name, made.config["Labels"])
            del self._left[name]

    def _remove_left(self, client: "APIClient") -> tuple[str, ...]:
        names = tuple(self._left)
        for name in names:
            container.remove(client, name, self._left[name])
            del self._left[name]
        return names


def _profile(task: Task) -> Profile:
    owner = this_process()
    made = profile(task, owner)
    groups = container.owning_groups(made.config)
    return profile(task, owner, groups) if groups else made
