from collections.abc import Callable

from orchestrator.engines.task import INPUTS, RESULTS, Task, arguments


def test_arguments_get_the_folders_of_the_engine(make_task: Callable[..., Task]) -> None:
    task = make_task(argv=("-m", "suites", "--cell", f"{INPUTS}/cell.json", "--out", RESULTS))
    assert arguments(task, inputs="/i", results="/o") == ["-m", "suites", "--cell", "/i/cell.json", "--out", "/o"]
