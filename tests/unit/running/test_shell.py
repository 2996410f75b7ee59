import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace
from planned_run import plan_of, planned

from orchestrator.engines.owner import this_process
from orchestrator.engines.process.scratch import make_scratch
from orchestrator.engines.task import Task
from orchestrator.errors import InfrastructureError, InputError
from orchestrator.model import Attempt, Exit, Image
from orchestrator.running.shell import (
    RUN,
    Place,
    Shell,
    clear_away,
    find_cell,
    in_container,
    in_process,
    last_attempt,
    open_to_others,
    place_of,
    sweep_shells,
    task_of,
    venv_of,
)

MakeTask = Callable[..., Task]


@pytest.fixture(autouse=True)
def _temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temp"))


def attempt(image: str, **more: object) -> Attempt:
    return Attempt(cell="c", number=1, image=image, exit=Exit(), **more)  # type: ignore[arg-type]


def here(task: Task) -> Place:
    return place_of(make_scratch(task, this_process()))


def test_a_cell_is_found_by_its_id_and_by_each_of_its_names(tmp_path: Path) -> None:
    one, two = planned("pass", 0), replace(planned("pass", 1), name="ci-cpu, ci-other")
    plan = plan_of((one, two))
    assert [find_cell(plan, asked, tmp_path) for asked in (one.id, "ci-cpu", "ci-other")] == [one, two, two]
    with pytest.raises(InputError, match="`ci-cpx` is no cell of this run\nhint: did you mean `ci-cpu`"):
        find_cell(plan, "ci-cpx", tmp_path)


def test_a_cell_that_did_not_run_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did not run in this run"):
        last_attempt(tmp_path, planned("pass", 0))


def test_the_venv_is_the_one_that_the_attempt_names(tmp_path: Path) -> None:
    python = tmp_path / "venvs" / "0123456789abcdef" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert venv_of(attempt("venv 0123456789ab"), tmp_path) == python
    for other in ("venv ffffffffffff", "here", "torchmatrix/x:1"):
        with pytest.raises(InfrastructureError, match="the venv of `c` is gone"):
            venv_of(attempt(other), tmp_path)


def test_it_is_asked_what_the_attempt_was_asked(tmp_path: Path) -> None:
    cell = planned("pass", 7)
    image = Image(id="i", name="i", ref="sha256:0", axes={}, observed={})
    task = task_of(cell, attempt("i", devices=("0",)), image, tmp_path, {"T": tmp_path}, tmp_path)
    assert (task.env, task.devices, task.secrets) == ({"DOES": "pass", "CELL": "7"}, ("0",), {"T": tmp_path})
    assert cell.id.encode() in task.inputs["cell.json"]


def test_a_container_has_its_folders_and_the_engine_of_the_run(make_task: MakeTask) -> None:
    task = make_task(run_id=RUN)
    place = here(task)
    environ = {"DOCKER_HOST": "tcp://engine:2375", "PATH": "/bin"}
    opened = in_container(task, place, ("python3",), "/usr/bin/docker", environ, tty=False)
    assert opened.argv[:4] == ("/usr/bin/docker", "--host", "tcp://engine:2375", "run")
    assert f"--mount=type=bind,source={place.scratch.results},target=/results/out" in opened.argv
    assert f"--mount=type=bind,source={place.scratch.inputs},target=/results/in,readonly" in opened.argv
    assert "--entrypoint=python3" in opened.argv
    assert "--tty" not in opened.argv
    assert {"--rm", f"--name={opened.container}", f"--label=org.torchmatrix.run={RUN}"} <= set(opened.argv)
    assert f"--label=org.torchmatrix.owner={this_process()}" in opened.argv
    assert opened.printed().startswith("/usr/bin/docker --host tcp://engine:2375 run --name=torchmatrix-shell-")
    assert here(task).container != opened.container
    open_to_others(place.scratch)
    assert place.scratch.results.stat().st_mode & 0o777 == 0o777


def test_a_variable_that_is_taken_away_is_not_passed_on_by_the_client() -> None:
    opened = Shell(argv=("docker", "run", "x y"), env={}, unset=("LD_PRELOAD",))
    assert opened.printed() == "env -u LD_PRELOAD docker run 'x y'"


def test_a_process_has_the_environment_of_its_cell(make_task: MakeTask, tmp_path: Path) -> None:
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    task = make_task(ref=str(tmp_path / "venv/bin/python"), env={"A": "1 2"})
    place = here(task)
    scratch = place.scratch
    opened = in_process(task, place, (), {"PATH": "/bin", "HOME": "/root", "CI_TOKEN": "x", "TERM": "vt100"})
    assert opened.env["PATH"] == f"{tmp_path}/venv/bin:/bin"
    assert (opened.env["VIRTUAL_ENV"], opened.env["A"], opened.env["TERM"]) == (f"{tmp_path}/venv", "1 2", "vt100")
    assert opened.env["HOME"] == str(scratch.home)
    assert "CI_TOKEN" not in opened.env
    assert opened.cwd == scratch.start
    assert f"cd {scratch.start} && env -i " in opened.printed()
    assert " 'A=1 2' " in opened.printed()


def test_what_is_left_running_in_a_shell_ends_with_it(make_task: MakeTask) -> None:
    task = make_task(run_id=RUN)
    opened = in_process(task, here(task), (), {"PATH": os.environ["PATH"]})
    code = "import subprocess; print(subprocess.Popen(['sleep', '60'], start_new_session=True).pid)"
    done = subprocess.run([sys.executable, "-c", code], env=dict(opened.env), capture_output=True, check=True)
    left = psutil.Process(int(done.stdout))
    clear_away(task, opened, {})
    psutil.wait_procs([left], 30)
    assert not left.is_running()


def test_what_a_shell_left_that_was_killed_goes_with_the_next(make_task: MakeTask) -> None:
    dead = replace(this_process(), started=0)
    left, live = (make_scratch(make_task(run_id=RUN), owner) for owner in (dead, this_process()))
    of_a_run = make_scratch(make_task(run_id="20261129T100000Z-0001"), dead)
    sweep_shells({}, docker=False)
    assert [each.root.exists() for each in (left, live, of_a_run)] == [False, True, True]
