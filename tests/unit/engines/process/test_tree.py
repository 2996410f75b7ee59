import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from orchestrator.engines.owner import this_process
from orchestrator.engines.process.tree import kill_marked, memory_used, signal_group, sweep_processes, token

SLEEP = "import sys, time; held = bytearray(int(sys.argv[1])); print('up', flush=True); time.sleep(600)"


class Child:
    def __init__(self, marks: dict[str, str], held: int = 0) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SLEEP, str(held)],
            env={**os.environ, **marks},
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"up\n"


@pytest.fixture
def children() -> Iterator[list[Child]]:
    made: list[Child] = []
    yield made
    for child in made:
        child.process.kill()
        with child.process:
            pass


def test_marked_processes_die_wherever_they_went(children: list[Child]) -> None:
    marks = token("run-a", "cell", this_process())
    children += [Child(marks), Child(token("run-b", "cell", this_process()))]
    kill_marked(marks)
    assert children[0].process.wait(10) == -9
    assert children[1].process.poll() is None


def test_only_processes_of_dead_owners_are_swept(children: list[Child]) -> None:
    dead = replace(this_process(), started=0)
    children += [Child(token("run-c", "x", dead)), Child(token("run-c", "x", this_process()))]
    assert sweep_processes("run-c") == (f"process {children[0].process.pid}",)
    assert children[0].process.wait(10) == -9
    assert children[1].process.poll() is None
    assert sweep_processes("another") == ()


def test_memory_is_what_the_process_holds(children: list[Child]) -> None:
    children.append(Child({}, 64 << 20))
    assert 64 << 20 <= memory_used(children[0].process.pid) < 128 << 20


def test_a_process_that_ended_holds_nothing_and_takes_no_signal(children: list[Child]) -> None:
    child = Child({})
    children.append(child)
    child.process.kill()
    child.process.wait(10)
    assert memory_used(child.process.pid) == 0
    signal_group(child.process.pid, 9)
