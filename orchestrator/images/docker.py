"""The docker command line, for what builds need: import, pull, inspect, build, one observed run."""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from orchestrator import text
from orchestrator.engines.docker.answers import ConfigOfImage, ImageAnswer
from orchestrator.engines.docker.connection import DEFAULT_HOST
from orchestrator.engines.docker.labels import OBSERVE, OWNER
from orchestrator.engines.docker.profile import OURS, VOLUME_BYTES
from orchestrator.engines.owner import this_process
from orchestrator.errors import InfrastructureError
from orchestrator.images.command import Commands, Finished
from orchestrator.images.failure import Stage, StageFailed
from orchestrator.vocabulary import Cause

LABEL = "org.torchmatrix."
_QUICK_S = 60.0
_PULL_S = 3600.0
_LAST_WITH_BUILDKIT = 22  # docker clients up to 22 speak BuildKit themselves, later ones through buildx


class Found(Struct, frozen=True, kw_only=True):
    """An image in the engine, and what it says of how it wants to be run."""

    id: str
    names: tuple[str, ...]
    labels: Mapping[str, str]
    size: int
    env: Mapping[str, str] = {}
    user: str = ""
    entrypoint: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()


class Docker:
    """One engine, through the docker clients on PATH."""

    def __init__(self, commands: Commands, environ: Mapping[str, str]) -> None:
        self._commands = commands
        # The engine that runs the cells. A client left to itself follows its own context, which may be another one.
        self._environ = {**environ, "DOCKER_HOST": environ.get("DOCKER_HOST") or DEFAULT_HOST}

    def _run(self, *arguments: str, deadline_s: float = _QUICK_S, without: Sequence[str] = ()) -> Finished:
        environ = {name: value for name, value in self._environ.items() if name not in without}
        return self._commands.run((self._clients[0], *arguments), deadline_s=deadline_s, env=environ)

    @cached_property
    def _clients(self) -> Sequence[str]:
        """Every docker client on PATH, first found first."""
        folders = self._environ.get("PATH", os.defpath).split(os.pathsep)
        found = [client for folder in folders if folder and (client := shutil.which("docker", path=folder))]
        clients = list({str(Path(client).resolve()): client for client in reversed(found)}.values())[::-1]
        if not clients:
            raise InfrastructureError("no docker client is on PATH", hint="apt-get install -y docker.io")
        return clients

    @cached_property
    def _builder(self) -> tuple[Sequence[str], Mapping[str, str]]:
        """How BuildKit is reached: the words of a build, and what they need in the environment."""
        refused = []
        for client in self._clients:
            if self._commands.run((client, "buildx", "version"), deadline_s=_QUICK_S, env=self._environ).code == 0:
                # The builder named as the context is the engine itself: another one would not see our bases.
                context = self._commands.run((client, "context", "show"), deadline_s=_QUICK_S, env=self._environ)
                builder = f"--builder={context.out.strip() or 'default'}"
                return (client, "buildx", "build", builder, "--load", "--provenance=false", "--progress=plain"), {}
            version = self._commands.run((client, "--version"), deadline_s=_QUICK_S, env=self._environ).out
            major = re.search(r"version (\d+)", version)
            if major and int(major[1]) <= _LAST_WITH_BUILDKIT:
                return (client, "build", "--progress=plain"), {"DOCKER_BUILDKIT": "1"}
            refused.append(f"{client} {major[1] if major else '?'} has no buildx plugin")
        raise StageFailed(
            Stage.BUILD,
            f"no docker client here can build with BuildKit: {'; '.join(refused)}",
            cause=Cause.ENGINE,
            hint="apt-get install -y docker.io (Debian 12), or docker-buildx",
        )

    def answers(self) -> None:
        """InfrastructureError when no engine answers."""
        done = self._run("version", "--format", "{{.Server.Version}}")
        if done.code != 0:
            raise InfrastructureError(
                "no docker engine answers",
                cause=done.log.strip()[-300:],
                hint="is it started, and may this user use it?",
            )

    def inspect(self, ref: str) -> Found | None:
        """The image of that name, id or digest; None when the engine has none."""
        done = self._run("image", "inspect", ref)
        if done.code != 0:
            if "no such image" in done.err.lower():
                return None
            raise StageFailed(Stage.BUILD, f"the engine could not say whether it has `{ref}`", log=done.log)
        return _found(done.out)[0]

    def pull(self, ref: str) -> None:
        """Brings an image by digest; StageFailed (base) when it cannot."""
        done = self._run("pull", "--quiet", ref, deadline_s=_PULL_S)
        if done.code != 0:
            raise StageFailed(Stage.BASE, f"`{ref}` could not be pulled", log=done.log)

    def tag(self, image: str, ref: str) -> None:
        """Gives an image another name; a name that is a digest is its own already."""
        if "@" in ref:
            return
        done = self._run("tag", image, ref)
        if done.code != 0:
            raise StageFailed(Stage.BASE, f"`{image}` could not be named `{ref}`", log=done.log)

    def import_root(self, archive: Path, ref: str, labels: Mapping[str, str]) -> None:
        """Makes an image of a root in a tar file; its name is given last, so a half-made one has none."""
        changes = [part for key, value in labels.items() for part in ("--change", f"LABEL {key}={value}")]
        done = self._run("import", *changes, str(archive), ref, deadline_s=_PULL_S)
        if done.code != 0:
            raise StageFailed(Stage.BASE, f"the engine could not import `{ref}`", log=done.log)

    def build(
        self,
        context: Path,
        file: str,
        ref: str,
        labels: Mapping[str, str],
        deadline_s: float,
        secrets: Mapping[str, Path] = {},
    ) -> None:
        """Builds with BuildKit and no network; StageFailed (build) with the log's tail otherwise.

        `secrets` are files by id, for `RUN --mount=type=secret,id=…`: no layer and no history holds what is in them.
        """
        words, needs = self._builder
        argv = [*words, "--network=none", f"--file={context / file}", f"--tag={ref}"]
        argv += [f"--label={key}={value}" for key, value in labels.items()]
        argv += [f"--secret=id={name},src={path}" for name, path in secrets.items()]
        done = self._commands.run([*argv, str(context)], deadline_s=deadline_s, env={**self._environ, **needs})
        if done.code != 0:
            why = f"took over {deadline_s:.0f} s" if done.timed_out else f"ended with {done.code}"
            raise StageFailed(Stage.BUILD, f"the build of `{ref}` {why}", log=done.log)

    def ask(
        self,
        image: str,
        argv: Sequence[str],
        name: str,
        deadline_s: float,
        *,
        user: str = OURS,
        unset: Sequence[str] = (),
        volumes: Sequence[str] = (),
    ) -> Finished:
        """Runs one command in a container without network or rights, and removes the container.

        `unset` are variables of the image that the command does not get, `volumes` its VOLUMEs, which the engine
        would make on the disk, without a bound.
        """
        done = self._run(
            *("run", "--rm", "--init", f"--name={name}", f"--label={OBSERVE}=1", f"--label={OWNER}={this_process()}"),
            *("--network=none", "--read-only"),
            *("--tmpfs=/tmp:rw,exec,nosuid,size=1g", "--cap-drop=ALL", "--security-opt=no-new-privileges"),
            *("--pids-limit=512", "--memory=8g", "--memory-swap=8g", f"--user={user}", "--workdir=/tmp"),
            *("--no-healthcheck", "--stop-signal=SIGTERM", "--env=HOME=/tmp"),
            *(f"--mount=type=tmpfs,tmpfs-size={VOLUME_BYTES},destination={path}" for path in volumes),
            *(f"--env={variable}" for variable in unset if variable != "HOME"),  # a name alone takes the variable away
            *(f"--entrypoint={argv[0]}", image, *argv[1:]),
            deadline_s=deadline_s,
            without=unset,
        )
        if done.timed_out:
            self._run("rm", "--force", name)
        return done

    def root_dir(self) -> Path | None:
        """Where the engine keeps images, when that is on this machine."""
        done = self._run("info", "--format", "{{.DockerRootDir}}")
        folder = Path(done.out.strip() or "/nonexistent")
        return folder if done.code == 0 and folder.is_dir() else None


def _found(told: str) -> tuple[Found, ...]:
    """The images in what `docker image inspect` printed: at least one, or InfrastructureError."""
    try:
        listed = text.read_json(told, tuple[ImageAnswer, ...])
    except ValueError as error:
        raise _unknown(str(error)) from error
    found = tuple(_as_found(image, image.config or ConfigOfImage()) for image in listed)
    if not found:
        raise _unknown("it told of none")
    return found


def _as_found(image: ImageAnswer, config: ConfigOfImage) -> Found:
    return Found(
        id=image.id,
        names=image.names,
        labels=image.labels,
        size=image.size,
        env=dict(pair.partition("=")[::2] for pair in config.env or ()),
        user=config.user or "",
        entrypoint=config.entrypoint or (),
        volumes=tuple(sorted(config.volumes or ())),
    )


def _unknown(cause: str) -> InfrastructureError:
    return InfrastructureError("the engine told of an image in a form that is not known", cause=cause)
