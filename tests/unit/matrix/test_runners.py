from typing import Any

import pytest

from orchestrator.errors import InputErrors
from orchestrator.matrix.problems import Problems
from orchestrator.matrix.runners import RUNNERS, check_names
from orchestrator.model import ContainerNeeds


def test_a_runner_class(read: Any) -> None:
    (runner,) = read(
        RUNNERS,
        "[{name: h100, driver: '580', gpu: H100, gpus: 8, hosts: 4, tags: [gpu, h100], price_per_hour: 19.2, watts: 9, "
        "container: {ipc: host, memlock: unlimited, seccomp: unconfined, devices: [/dev/kfd], groups: ['44', video]}}]",
    )
    assert dict(runner.axes) == {"driver": "580", "gpu": "H100", "gpus": "8"}
    assert (runner.hosts, runner.tags, runner.price_per_hour, runner.watts) == (4, ("gpu", "h100"), 19.2, 9.0)
    assert runner.container == ContainerNeeds(
        ipc="host", memlock="unlimited", seccomp="unconfined", devices=("/dev/kfd",), groups=("44", "video")
    )


def test_what_a_runner_class_need_not_say(read: Any) -> None:
    (runner,) = read(RUNNERS, "[{name: cpu}]")
    assert (dict(runner.axes), runner.hosts, runner.tags, runner.price_per_hour) == ({}, 1, (), None)
    assert runner.container == ContainerNeeds()


@pytest.mark.parametrize(
    ("snippet", "problem"),
    [
        ("torch: 2.6.0", "`torch` is an axis that `key` does not set"),
        ("container: {devices: [/etc/passwd]}", "`devices` is `/etc/passwd`: it takes a path under /dev"),
        ("container: {devices: [/dev/../etc]}", "`devices` is `/dev/../etc`: it takes a path under /dev"),
        ("container: {privileged: true}", "`container` has no key `privileged`"),
        (
            "container: {groups: [a b]}",
            "`groups` is `a b`: it takes a name of letters, digits, dots, dashes and underscores,",
        ),
        ("hosts: 0", "`hosts` is `0`: it must be from 1 to 100000"),
    ],
)
def test_what_is_told(told: Any, snippet: str, problem: str) -> None:
    (line,) = told(RUNNERS, f"[{{name: a, {snippet}}}]")
    assert line.split(": ", 1)[1].startswith(problem)


@pytest.mark.parametrize(
    ("snippet", "problem"),
    [
        ("[{name: a}, {name: a}]", "m:1:13: two runner classes are named `a` (first in line 1)"),
        ("[{name: here}]", "m:1:2: a runner class cannot be named `here` (it means the machine that plans)"),
    ],
)
def test_names_are_unique_and_not_taken(read: Any, snippet: str, problem: str) -> None:
    problems = Problems()
    check_names(read(RUNNERS, snippet), problems)
    with pytest.raises(InputErrors) as caught:
        problems.raise_any()
    assert str(caught.value) == problem
