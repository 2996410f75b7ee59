"""Engines on a real machine: what goes wrong in a cell is told apart, contained, and nothing of it stays."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from orchestrator.engines.docker.labels import RUN
from orchestrator.engines.docker.run import DockerEngine
from orchestrator.engines.engine import Engine
from orchestrator.engines.log import HEAD_BYTES, TAIL_BYTES
from orchestrator.engines.process.run import ProcessEngine
from orchestrator.engines.task import Task
from orchestrator.model import ContainerNeeds, Exit, Limits

if TYPE_CHECKING:
    from docker import APIClient

MakeTask = Callable[..., Task]
Run = Callable[..., Exit]


class Machine:
    """One engine, and how to see whether anything of a task is left."""

    def __init__(self, engine: Engine, ref: str, left: Callable[[str], list[str]]) -> None:
        self.engine = engine
        self.ref = ref
        self.left = left


@pytest.fixture(params=[pytest.param("docker", marks=pytest.mark.docker), "process"])
def machine(request: pytest.FixtureRequest) -> Machine:
    if request.param == "process":
        return Machine(ProcessEngine(), sys.executable, marked_processes)
    client: APIClient = request.getfixturevalue("docker_engine")
    return Machine(DockerEngine(), request.getfixturevalue("python_image"), lambda run_id: labelled(client, run_id))


@pytest.fixture
def run(machine: Machine, make_task: MakeTask) -> Run:
    """Runs a line of Python in the engine, and holds that nothing of it is left."""

    def run(code: str, **changes: Any) -> Exit:
        task = make_task(code, ref=machine.ref, **changes)
        seen = machine.engine.run(task, lambda _: nullcontext()).exit
        assert machine.left(task.run_id) == []
        return seen

    return run


def labelled(client: "APIClient", run_id: str) -> list[str]:
    ours = {"label": f"{RUN}={run_id}"}
    containers = [item["Id"] for item in client.containers(all=True, filters=ours)]
    return containers + [item["Name"] for item in client.volumes(filters=ours)["Volumes"] or ()]


def marked_processes(run_id: str) -> list[str]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("TORCHMATRIX_RUN") == run_id and process.status() != psutil.STATUS_ZOMBIE:
                found.append(str(process))
        except psutil.Error:
            continue
    return found


# --- what goes in, what comes out -------------------------------------------------------------------------------------


def test_inputs_go_in_and_results_come_out(run: Run, tmp_path: Path) -> None:
    seen = run(
        "import os, sys, pathlib, suites\n"
        "given, results = map(pathlib.Path, sys.argv[1:])\n"
        "(results / 'junit.xml').write_bytes((given / 'cell.json').read_bytes() * 2)\n"
        # A line in one piece each: an engine mixes the pieces of the two streams as they come to it.
        "os.write(1, b'out\\n'); os.write(2, b'err\\n')"
    )
    assert (seen.code, seen.signal, seen.problem) == (0, None, "")
    assert seen.files == ("junit.xml",)
    assert (tmp_path / "out" / "junit.xml").read_bytes() == b"{}{}"
    assert sorted(seen.log.head.splitlines()) == ["err", "out"]
    assert (tmp_path / "out" / "log.txt").read_text() == seen.log.head


def test_what_an_interrupted_try_left_goes_away(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "junit.xml").write_text("of the other try")
    assert run("pass").files == ()
    assert not (tmp_path / "out" / "junit.xml").exists()


def test_the_environment_is_what_we_say(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "hunter2")
    monkeypatch.setenv("CI_JOB_TOKEN", "hunter2")
    seen = run("import os; print(dict(os.environ)); print(os.environ['GIVEN'])", env={"GIVEN": "yes"})
    assert seen.code == 0
    assert "hunter2" not in seen.log.head
    assert seen.log.head.rstrip().endswith("yes")


# --- how a cell ends --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "exit_code", "number"),
    [
        ("raise SystemExit(1)", 1, None),
        ("raise SystemExit(4)", 4, None),
        ("import os; os._exit(0)", 0, None),
        ("import os; os._exit(1)", 1, None),
        ("import os; os.abort()", 134, signal.SIGABRT),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", 139, signal.SIGSEGV),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 137, signal.SIGKILL),
    ],
)
def test_exits_and_crashes(run: Run, code: str, exit_code: int, number: int | None) -> None:
    seen = run(code)
    assert (seen.code, seen.signal) == (exit_code, number)
    assert (seen.oom, seen.timed_out, seen.cancelled, seen.problem) == (False, False, False, "")


def test_a_crash_after_the_results(run: Run) -> None:
    seen = run(
        "import atexit, os, signal, sys\n"
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGSEGV))\n"
        "open(sys.argv[2] + '/junit.xml', 'w').write('<testsuites/>'); print('green')"
    )
    assert (seen.code, seen.signal) == (139, signal.SIGSEGV)
    assert seen.files == ("junit.xml",)
    assert "green" in seen.log.head


GROW = "held = []\nwhile True: held.append(bytearray(8 << 20))"


def test_out_of_memory(run: Run) -> None:
    seen = run(GROW, limits=Limits(memory=128 << 20, pids=64))
    assert seen.oom
    assert (seen.signal, seen.timed_out, seen.problem) == (signal.SIGKILL, False, "")


@pytest.mark.docker
def test_a_child_out_of_memory_though_the_exit_is_0(
    docker_engine: "APIClient", python_image: str, make_task: MakeTask
) -> None:
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {GROW!r}]); print('all is well')"
    task = make_task(code, ref=python_image, limits=Limits(memory=128 << 20, pids=64))
    seen = DockerEngine().run(task, lambda _: nullcontext()).exit
    assert (seen.code, seen.oom) == (0, True)
    assert "all is well" in seen.log.head


HANGS = {
    "sleeps": "import time; time.sleep(600)",
    "ignores SIGTERM": "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)",
    "closes its output": "import os, time; os.close(1); os.close(2); time.sleep(600)",
    "leaves a daemon": "import subprocess; subprocess.Popen(['sleep', '600'], start_new_session=True).wait()",
}


@pytest.mark.parametrize("how", HANGS)
def test_a_deadline(run: Run, how: str) -> None:
    seen = run("print('begun', flush=True)\n" + HANGS[how], deadline_s=1.0)
    assert seen.timed_out
    assert not seen.problem
    assert seen.signal in {signal.SIGTERM, signal.SIGKILL}
    assert "begun" in seen.log.head


def test_a_daemon_does_not_outlive_the_cell(run: Run) -> None:
    seen = run("import subprocess; subprocess.Popen(['sleep', '600'], start_new_session=True)")
    assert (seen.code, seen.timed_out, seen.problem) == (0, False, "")


@pytest.mark.docker
def test_a_fork_bomb_ends_at_the_deadline(docker_engine: "APIClient", python_image: str, make_task: MakeTask) -> None:
    code = "import os\nwhile True:\n try: os.fork()\n except OSError: pass"
    task = make_task(code, ref=python_image, deadline_s=1.0, limits=Limits(memory=256 << 20, pids=32))
    seen = DockerEngine().run(task, lambda _: nullcontext()).exit
    assert seen.timed_out or seen.oom
    assert labelled(docker_engine, task.run_id) == []


def test_a_stop_from_a_signal_handler(machine: Machine, run: Run) -> None:
    before = signal.signal(signal.SIGUSR1, lambda *_: machine.engine.stop_all())
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGUSR1)).start()
    try:
        seen = run("import time; time.sleep(600)")
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen.cancelled
    assert (seen.timed_out, seen.problem) == (False, "")


# --- what a cell prints -----------------------------------------------------------------------------------------------


def test_much_output_is_kept_in_part_and_counted(run: Run, tmp_path: Path) -> None:
    before = psutil.Process().memory_info().rss
    seen = run("import sys\nfor _ in range(100): sys.stdout.buffer.write(b'x' * (1 << 20))\nprint('the end')")
    assert seen.code == 0
    assert seen.log.bytes == (100 << 20) + len("the end\n")
    assert len(seen.log.head) == HEAD_BYTES
    assert len(seen.log.tail) == TAIL_BYTES
    assert seen.log.tail.endswith("xthe end\n")
    assert f"of {seen.log.bytes} bytes left out" in (tmp_path / "out" / "log.txt").read_text()
    assert psutil.Process().memory_info().rss - before < 50 << 20


def test_binary_output_without_an_end_of_line(run: Run) -> None:
    seen = run("import sys; sys.stdout.buffer.write(b'a\\0b\\xff\\x1b[31m' + bytes(range(256)))")
    assert seen.code == 0
    assert seen.log.bytes == 9 + 256
    assert seen.log.head.startswith("a\0b�\x1b[31m\0\x01")


# --- what a cell leaves -----------------------------------------------------------------------------------------------

HOSTILE = """
import os, sys, socket
os.chdir(sys.argv[2])
os.symlink('/etc/hostname', 'junit.xml')
os.mkfifo('metrics.jsonl')
os.mkdir('environment.json')
open('environment.json/cell.json', 'w').write('nested')
with open('structure.json', 'w') as sparse: sparse.truncate(10 << 30)
open('cell.json', 'w').write('mine')
open('zz', 'w').write('twice'); os.link('zz', 'progress.jsonl')
open('SHA256SUMS', 'w').write('sums')
socket.socket(socket.AF_UNIX).bind('socket')
for number in range(10000): open(f'extra-{number}', 'w').close()
open('-rf', 'w').close(); open('..evil', 'w').close()
"""


def test_only_regular_files_of_known_names_come_out(run: Run, tmp_path: Path) -> None:
    seen = run(HOSTILE)
    assert (seen.code, seen.problem) == (0, ""), seen.log
    assert sorted(seen.files) in (["SHA256SUMS", "cell.json"], ["SHA256SUMS", "cell.json", "progress.jsonl"])
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted((*seen.files, "log.txt"))
    refused = "\n".join(seen.refused)
    for named in ("junit.xml: a symbolic link", "metrics.jsonl: a FIFO", "environment.json: a folder"):
        assert named in refused
    assert f"structure.json: {10 << 30} bytes, over the cap" in refused
    assert seen.refused[-1].startswith("and ")


# --- the profile ------------------------------------------------------------------------------------------------------

LOOK = """
import os, socket, sys, suites, ctypes, resource
def errno_of(call):
    try: call()
    except OSError as error: return error.errno
    return 0
status = dict(line.split(':', 1) for line in open('/proc/self/status'))
print('uid', os.getuid(), os.getgid(), os.getgroups())
print('caps', status['CapEff'].strip(), status['CapBnd'].strip())
print('nnp', status['NoNewPrivs'].strip(), 'seccomp', status['Seccomp'].strip())
print('root', errno_of(lambda: open('/x', 'w')))
print('suites', errno_of(lambda: open(os.path.dirname(suites.__file__) + '/x', 'w')))
print('inputs', errno_of(lambda: open(sys.argv[1] + '/cell.json', 'w')))
print('results', errno_of(lambda: os.rename(sys.argv[2], '/results/x')))
print('net', errno_of(lambda: socket.create_connection(('192.0.2.1', 80), 1)), sorted(os.listdir('/sys/class/net')))
print('mount', ctypes.CDLL(None, use_errno=True).mount(b'none', b'/tmp', b'tmpfs', 0, None))
print('cwd', os.getcwd(), 'core', resource.getrlimit(resource.RLIMIT_CORE))
open('/tmp/run', 'w').write('#!/bin/sh\\nexit 7'); os.chmod('/tmp/run', 0o755)
print('exec', os.system('/tmp/run') >> 8)
tmp = os.statvfs('/tmp'); print('tmp', tmp.f_blocks * tmp.f_frsize)
shm = os.statvfs('/dev/shm'); print('shm', shm.f_blocks * shm.f_frsize)
usual = 'core fd full mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero'
print('devices', sorted(set(os.listdir('/dev')) - set(usual.split())))
"""


@pytest.mark.docker
def test_a_cell_may_do_nothing_that_it_does_not_need(python_image: str, make_task: MakeTask) -> None:
    task = make_task(LOOK, ref=python_image, limits=Limits(memory=256 << 20, shm=64 << 20, pids=64))
    attempt = DockerEngine().run(task, lambda _: nullcontext())
    assert attempt.relaxed == ()
    assert attempt.exit.log.head.splitlines() == [
        "uid 10001 10001 [10001]",
        "caps 0000000000000000 0000000000000000",
        "nnp 1 seccomp 2",
        "root 30",
        "suites 30",
        "inputs 13",
        "results 13",
        "net 101 ['lo']",
        "mount -1",
        "cwd /tmp core (0, 0)",
        "exec 7",
        f"tmp {128 << 20}",
        f"shm {64 << 20}",
        "devices []",
    ]


@pytest.mark.docker
def test_what_a_runner_class_names_is_given_and_told(python_image: str, make_task: MakeTask) -> None:
    needs = ContainerNeeds(seccomp="unconfined", devices=("/dev/fuse",), groups=("44",))
    code = "import os; s = open('/proc/self/status').read(); print(os.getgroups(), 'Seccomp:\\t0' in s)"
    task = make_task(code, ref=python_image, container=needs)
    if not Path("/dev/fuse").exists():
        pytest.skip("no /dev/fuse here to hand on")
    attempt = DockerEngine().run(task, lambda _: nullcontext())
    assert attempt.exit.log.head == "[44, 10001] True\n"
    assert attempt.relaxed == ("device /dev/fuse", "group 44", "seccomp unconfined")


# --- hands from outside -----------------------------------------------------------------------------------------------


@pytest.mark.docker
@pytest.mark.parametrize(
    ("how", "said"),
    [("pause", "was paused"), ("kill", "was killed"), ("remove", "was")],  # a removal kills first
)
def test_a_container_touched_by_hand(
    docker_engine: "APIClient", python_image: str, make_task: MakeTask, how: str, said: str
) -> None:
    task = make_task("import time; time.sleep(600)", ref=python_image)

    def touch() -> None:
        while not (found := docker_engine.containers(filters={"label": f"{RUN}={task.run_id}"})):
            time.sleep(0.05)
        name = found[0]["Id"]
        {
            "pause": lambda: docker_engine.pause(name),
            "kill": lambda: docker_engine.kill(name),
            "remove": lambda: docker_engine.remove_container(name, force=True),
        }[how]()

    hand = threading.Thread(target=touch)
    hand.start()
    seen = DockerEngine().run(task, lambda _: nullcontext()).exit
    hand.join()
    assert said in seen.problem
    assert "while the cell ran (by somebody else)" in seen.problem
    assert labelled(docker_engine, task.run_id) == []


ORPHAN = """
import sys
from contextlib import nullcontext
from pathlib import Path
import msgspec
from orchestrator.engines.registry import ENGINES
from orchestrator.engines.task import Task
task = msgspec.json.decode(sys.stdin.read(), type=Task, dec_hook=lambda kind, value: kind(value))
ENGINES[sys.argv[1]]().run(task, lambda step: (print(step, flush=True), nullcontext())[1])
"""


def test_what_a_killed_orchestrator_left_is_swept(machine: Machine, make_task: MakeTask) -> None:
    import msgspec

    task = make_task("import time; print('here', flush=True); time.sleep(600)", ref=machine.ref)
    told = msgspec.to_builtins(task, enc_hook=str)
    written = msgspec.json.encode({name: value for name, value in told.items() if name != "masker"})
    owner = subprocess.Popen(
        [sys.executable, "-c", ORPHAN, machine.engine.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert owner.stdin is not None
    assert owner.stdout is not None
    with owner:
        try:
            owner.stdin.write(written)
            owner.stdin.close()
            while owner.stdout.readline().strip() not in {b"wait", b""}:
                pass
            while owner.poll() is None and not machine.left(task.run_id):
                time.sleep(0.01)
            assert machine.engine.sweep(task.run_id) == ()  # a live owner is never touched
            assert machine.left(task.run_id)
        finally:
            owner.kill()
    assert machine.engine.sweep("another run") == ()
    assert machine.engine.sweep(task.run_id)
    assert machine.left(task.run_id) == []
