"""The `runners` section: the classes of machines that cells can run on."""

import re
from collections.abc import Sequence
from typing import Literal, cast

from orchestrator import axes
from orchestrator.matrix import quantities
from orchestrator.matrix.forms import TEXT_SCHEMA, WORD, Field, Form, Record, choice, listing, scalar, table
from orchestrator.matrix.problems import Problems
from orchestrator.matrix.rows import axis_form
from orchestrator.model import ContainerNeeds, Place, RunnerClass

_DEVICE = re.compile(r"/dev/[A-Za-z0-9_./-]{1,100}", re.ASCII)


def _device(written: str) -> str:
    if not _DEVICE.fullmatch(written) or ".." in written:
        raise ValueError("it takes a path under /dev")
    return written


_NUMBER = {"type": "number"}
_COUNT = {"type": "integer"}

_IPC = Field("ipc", choice(("private", "host")), "NCCL and RCCL want the host's shared memory", default="private")
_MEMLOCK = Field("memlock", choice(("default", "unlimited")), "locked memory for RDMA", default="default")
_SECCOMP = Field("seccomp", choice(("default", "unconfined")), "ROCm's tools ask for unconfined", default="default")
_DEVICES = Field("devices", listing(scalar(_device, TEXT_SCHEMA)), "device files, such as /dev/kfd", default=())
_GROUPS = Field("groups", listing(WORD), "groups that own the device files, by number or name", default=())


def _container(record: Record, _: Problems) -> ContainerNeeds:
    return ContainerNeeds(
        ipc=cast("Literal['private', 'host']", record[_IPC]),
        memlock=cast("Literal['default', 'unlimited']", record[_MEMLOCK]),
        seccomp=cast("Literal['default', 'unconfined']", record[_SECCOMP]),
        devices=record[_DEVICES],
        groups=record[_GROUPS],
    )


_NAME = Field("name", WORD, "the class's name, unique in the file", required=True)
_HOSTS = Field("hosts", scalar(quantities.count(1, 100_000), _COUNT), "how many machines there are", default=1)
_TAGS = Field("tags", listing(WORD), "the tags of its CI runners", default=())
_PRICE = Field("price_per_hour", scalar(quantities.number(0, 1e6), _NUMBER), "money for one machine for an hour")
_WATTS = Field("watts", scalar(quantities.number(0, 1e6), _NUMBER), "what one machine draws under load")
_CONTAINER = Field(
    "container",
    table((_IPC, _MEMLOCK, _SECCOMP, _DEVICES, _GROUPS), _container),
    "what its devices need beyond the default container profile",
    default=ContainerNeeds(),
)
_AXES: tuple[Field[str], ...] = tuple(
    Field(axis.name, axis_form(axis), axis.grammar.value)
    for axis in axes.AXES.values()
    if axis.where is axes.Where.HOST or axis.name == "host_arch"
)


def _runner(record: Record, _: Problems) -> RunnerClass:
    return RunnerClass(
        name=record[_NAME],
        axes={field.name: value for field in _AXES if (value := record.get(field)) is not None},
        hosts=record[_HOSTS],
        tags=record[_TAGS],
        price_per_hour=record.get(_PRICE),
        watts=record.get(_WATTS),
        container=record[_CONTAINER],
        place=record.place,
    )


RUNNERS: Form[tuple[RunnerClass, ...]] = listing(
    table((_NAME, *_AXES, _HOSTS, _TAGS, _PRICE, _WATTS, _CONTAINER), _runner)
)


def check_names(runners: Sequence[RunnerClass], problems: Problems) -> None:
    """Tells of classes with one name; `here` is the machine that plans."""
    first: dict[str, Place] = {}
    for runner in runners:
        if runner.name == "here":
            problems.add(runner.place, "a runner class cannot be named `here`", cause="it means the machine that plans")
        elif runner.name in first:
            cause = f"first in line {first[runner.name].line}"
            problems.add(runner.place, f"two runner classes are named `{runner.name}`", cause=cause)
        first.setdefault(runner.name, runner.place)
