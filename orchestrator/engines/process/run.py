"""The process engine: one task as a process with the cell's own Python, in a session of its own."""

import os
import resource
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from orchestrator.engines import compile_cache
from orchestrator.engines.codes import code_of
from orchestrator.engines.engine import StepLog
from orchestrator.engines.intake import make_ready
from orchestrator.engines.owner import this_process
from orchestrator.engines.process.collect import collect
from orchestrator.engines.process.scratch import Scratch, make_scratch, remove_scratch, sweep_folders
from orchestrator.engines.process.tree import sweep_processes, token
from orchestrator.engines.process.watch import Bounds, watch
from orchestrator.engines.sighting import Sighting
from orchestrator.engines.stop import Stop
from orchestrator.engines.surroundings import platform_of, variables, visible_devices
from orchestrator.engines.task import Task, arguments
from orchestrator.errors import InfrastructureError
from orchestrator.model import OWN_SYSTEM, Attempt, Image
from orchestrator.vocabulary import Step

# Passed on from our own environment: how programs and libraries are found, and what a site says about its devices.
_PASSED = frozenset({"PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH"})
_PASSED_PREFIXES = ("CUDA_", "NVIDIA_", "HIP_", "ROCR_", "ROCM_", "HSA_", "ZE_", "ONEAPI_", "NCCL_", "OMP_", "MKL_")

_NO_CONTAINER = (
    "no container: it sees this machine's files and network, its memory is watched and not limited, "
    "and what leaves its session and its environment outlives it"
)


class ProcessEngine:
    """Runs cells with the Python that `task.image.ref` names."""

    name = "process"

    def __init__(self) -> None:
        self._stop = Stop()

    def run(self, task: Task, step: StepLog) -> Attempt:
        """One attempt in a fresh folder, which is removed whatever happens."""
        return run_process(self.name, task.image.ref, task, step, self._stop)

    def has(self, image: Image) -> bool:
        """Whether its Python is there."""
        return Path(image.ref).exists()

    def sweep(self, run_id: str) -> tuple[str, ...]:
        """Kill processes and remove folders of the run whose owner is gone."""
        return (*sweep_processes(run_id), *sweep_folders(run_id))

    def stop_all(self) -> None:
        """See `Engine.stop_all`."""
        self._stop.request()


def run_process(engine: str, python: str, task: Task, step: StepLog, stop: Stop) -> Attempt:
    """One attempt with the interpreter at the path `python`."""
    seen = Sighting(task, step)
    seen.relaxed = (_NO_CONTAINER, OWN_SYSTEM)
    if stop.requested:
        seen.ending.cancel()
        return seen.attempt(engine)
    owner = this_process()
    marks = token(task.run_id, task.cell.id, owner)
    with suppress(InfrastructureError), ExitStack() as undo:  # it is in the Exit, with its step
        with seen.during(Step.CREATE):
            make_ready(task.out)
            scratch = make_scratch(task, owner)
            if task.cache:
                compile_cache.copy(task.cache.kept, task.cache.work)
            undo.callback(_remove, scratch, seen)
        with seen.during(Step.START):
            process = undo.enter_context(_started(python, task, scratch, marks))
        seen.begin()
        within = Bounds(memory=task.cell.limits.memory, results=scratch.results)
        with seen.during(Step.WAIT):
            code, oom = watch(process, marks, within, seen.log, seen.ending, stop)
            seen.end(code_of(code), oom=oom)
        with seen.during(Step.COLLECT):
            collect(scratch.results, seen.intake)
            if task.cache and code == 0 and not seen.ending.begun:
                _take_cache(task.cache)
    return seen.attempt(engine)


def _take_cache(cache: compile_cache.CompileCache) -> None:
    """Whole or not at all: a cell's result does not depend on it."""
    taking = compile_cache.Taking(cache.taken)
    try:
        compile_cache.take_folder(cache.work, taking)
    except OSError:
        taking.whole = False
    if not taking.whole:
        compile_cache.remove(cache.taken)


def _remove(scratch: Scratch, seen: Sighting) -> None:
    with seen.during(Step.REMOVE):
        remove_scratch(scratch)


def environment(task: Task, scratch: Scratch, ours: Mapping[str, str]) -> dict[str, str]:
    """The cell's whole environment, made of ours by name."""
    passed = {name: value for name, value in ours.items() if name in _PASSED or name.startswith(_PASSED_PREFIXES)}
    visible = visible_devices(platform_of(task), task.devices)
    secrets = {f"{name}_FILE": str(source) for name, source in task.secrets.items()}
    cache = str(task.cache.work) if task.cache else ""
    return {
        **passed,
        **visible,
        **secrets,
        **variables(task, scratch=str(scratch.home), path=str(scratch.path), cache=cache),
    }


def _started(python: str, task: Task, scratch: Scratch, marks: Mapping[str, str]) -> subprocess.Popen[bytes]:
    command = [python, *arguments(task, inputs=str(scratch.inputs), results=str(scratch.results))]
    try:
        process = subprocess.Popen(
            command,
            cwd=scratch.start,
            env={**environment(task, scratch, os.environ), **marks},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        raise InfrastructureError(
            "the cell's Python cannot be started",
            place=str(Path(python)),
            cause=str(error.strerror),
            hint="build it again: torchmatrix build",
        ) from error
    with suppress(ProcessLookupError):
        resource.prlimit(process.pid, resource.RLIMIT_CORE, (0, 0))
    return process
