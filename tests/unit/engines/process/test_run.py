from collections.abc import Callable
from contextlib import nullcontext

from orchestrator.engines.owner import this_process
from orchestrator.engines.process.run import ProcessEngine, environment
from orchestrator.engines.process.scratch import make_scratch, remove_scratch
from orchestrator.engines.task import Task
from orchestrator.vocabulary import Step


def test_the_environment_is_made_by_name(make_task: Callable[..., Task]) -> None:
    task = make_task(axes={"torch_build": "cu130", "gpu": "H100"}, devices=("3",), env={"A": "1"})
    scratch = make_scratch(task, this_process())
    ours = {
        "PATH": "/bin",
        "CI_JOB_TOKEN": "s",
        "HOME": "/root",
        "PYTHONPATH": "/x",
        "CUDA_HOME": "/cuda",
        "LD_PRELOAD": "x",
    }
    made = environment(task, scratch, ours | {"CUDA_VISIBLE_DEVICES": "0"})
    remove_scratch(scratch)
    assert (made["PATH"], made["CUDA_HOME"], made["CUDA_VISIBLE_DEVICES"], made["A"]) == ("/bin", "/cuda", "3", "1")
    assert made["HOME"] == str(scratch.home)
    assert made["PYTHONPATH"] == str(scratch.path)
    assert not {"CI_JOB_TOKEN", "LD_PRELOAD"} & made.keys()


def test_a_python_that_is_not_there(make_task: Callable[..., Task]) -> None:
    seen = ProcessEngine().run(make_task(ref="/none/bin/python"), lambda _: nullcontext()).exit
    assert seen.step is Step.START
    assert "/none/bin/python: the cell's Python cannot be started" in seen.problem
    assert seen.code is None


def test_after_a_stop_nothing_is_begun(make_task: Callable[..., Task]) -> None:
    engine = ProcessEngine()
    engine.stop_all()
    seen = engine.run(make_task(ref="/none"), lambda _: nullcontext()).exit
    assert (seen.cancelled, seen.code, seen.problem) == (True, None, "")
