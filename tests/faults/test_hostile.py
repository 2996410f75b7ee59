"""Cells that want out: each is contained, ends in its time, and is told in one line that acts on nobody's screen.

Each program runs in a container as a cell does; what it left is judged as a run judges it.
"""

import json
import os
import resource
import socket
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from ci_servers import acts
from planned_run import plan_of
from ways_out import OUT, REFUSED

from orchestrator import text
from orchestrator.engines.docker.labels import RUN
from orchestrator.engines.docker.run import DockerEngine
from orchestrator.engines.log import HEAD_BYTES, TAIL_BYTES
from orchestrator.engines.task import Task
from orchestrator.formats import BUNDLE_FILES
from orchestrator.model import Attempt, CellResult, Limits, Run
from orchestrator.reports import terminal
from orchestrator.results.bundle import read_bundle
from orchestrator.results.judge import judge
from orchestrator.vocabulary import Status

if TYPE_CHECKING:
    from docker import APIClient

MakeTask = Callable[..., Task]
RunIt = Callable[..., tuple[CellResult, Attempt]]
AXES = {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11", "backend": "eager"}
MEMORY = 256 << 20
MORE = 96 << 20  # threads with their stacks; less than what the cells write and leave
pytestmark = pytest.mark.docker

# A suite's whole bundle, told by a cell that never ran one, with sums that fit.
FORGE = """
import hashlib, json, os, sys
AXES = {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11", "backend": "eager"}
SEEN = {**AXES, "torch": "2.13.0+cpu", "python": "3.11.2"}
def forge(cases, tests, code=0, ended=None, seen=SEEN):
    lines = []
    for name, outcome in cases if ended is None else ended:
        lines += [{"event": "start", "test": name}, {"event": "end", "test": name, "outcome": outcome}]
    lines.append({"event": "final", "exit": code, "tests": tests})
    failure = {"passed": "", "failed": '<failure message="no"/>'}
    xml = "".join(f'<testcase name="{name}" time="0.1">{failure[outcome]}</testcase>' for name, outcome in cases)
    files = {
        "cell.json": json.dumps({"id": "cell-1", "axes": AXES}),
        "junit.xml": f"<testsuites><testsuite name='x' failures='0'>{xml}</testsuite></testsuites>",
        "metrics.jsonl": "",
        "environment.json": json.dumps({"started": "2026-11-29T10:00:00Z", "axes": seen, "facts": {}}),
        "structure.json": json.dumps({"backends": []}),
        "progress.jsonl": "".join(json.dumps(line) + "\\n" for line in lines),
    }
    sums = (f"{hashlib.sha256(told.encode()).hexdigest()}  {name}\\n" for name, told in files.items())
    files["SHA256SUMS"] = "".join(sums)
    for name, told in files.items():
        with open(os.path.join(sys.argv[2], name), "w") as file: file.write(told)
"""


@pytest.fixture
def run(docker_engine: "APIClient", python_image: str, make_task: MakeTask, tmp_path: Path) -> RunIt:
    """Runs a program as a cell, holds that it was contained, and judges what it left."""

    def run(code: str, **changes: object) -> tuple[CellResult, Attempt]:
        limits = Limits(memory=MEMORY, shm=16 << 20, pids=64)
        given = {"deadline_s": 20.0, "limits": limits, "axes": AXES, **changes}
        task = make_task(textwrap.dedent(code), ref=python_image, **given)
        with in_memory(MORE):
            attempt = DockerEngine().run(task, lambda _: nullcontext())
        assert (task.out / "log.txt").stat().st_size <= 3 * (HEAD_BYTES + TAIL_BYTES) + 100  # U+FFFD for a byte
        assert left(docker_engine, task.run_id) == []
        assert {path.name for path in task.out.iterdir()} <= {*BUNDLE_FILES, "log.txt"}
        assert not any(path.is_symlink() for path in task.out.iterdir())
        result = judge(task.cell, [(attempt, read_bundle(task.out))])
        for line in (result.reason, *result.notes):
            assert "\n" not in line
            assert len(line) <= 600
            assert text.visible(line) == line
        done = Run(id="r", plan=plan_of((task.cell,)), results=(result,), complete=True)
        shown = terminal.grid(done, width=100, colour=False).splitlines()
        for line in (*shown, *(f"{task.cell.id} {result.status} in 1 s: {result.reason}",)):  # the table, and the run
            assert text.visible(line) == line
            assert not acts(line)
        return result, attempt

    return run


@contextmanager
def in_memory(more: int) -> Iterator[None]:
    """This process takes no more address space than so many bytes beyond what it has: what needs more fails."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def left(client: "APIClient", run_id: str) -> list[str]:
    ours = {"label": f"{RUN}={run_id}"}
    containers = [item["Id"] for item in client.containers(all=True, filters=ours)]
    return containers + [item["Name"] for item in client.volumes(filters=ours)["Volumes"] or ()]


# --- what it takes ----------------------------------------------------------------------------------------------------


def test_it_forks_without_end(run: RunIt) -> None:
    result, attempt = run("import os\nwhile True:\n try: os.fork()\n except OSError: pass", deadline_s=2.0)
    assert result.status in {Status.TIMEOUT, Status.OOM}
    assert attempt.exit.timed_out or attempt.exit.oom


def test_it_takes_all_the_memory_there_is(run: RunIt) -> None:
    result, _ = run("held = []\nwhile True: held.append(bytearray(8 << 20))")
    assert (result.status, result.reason.split(",")[0]) == (
        Status.OOM,
        "the kernel killed a process at the limit of 0.25 GiB memory",
    )


def test_it_fills_its_tmp(run: RunIt) -> None:
    result, attempt = run(
        """
        import errno, os
        try:
            with open("/tmp/x", "wb") as file:
                while True: file.write(bytes(1 << 20))
        except OSError as error: print(errno.errorcode[error.errno])
        os.unlink("/tmp/x")
        """,
        limits=Limits(memory=MEMORY * 2, pids=64),
    )
    assert attempt.exit.log.head == "ENOSPC\n"
    assert result.status is Status.CRASHED


FILLS = {
    "in many files": """
        import sys, time
        for number in range(10**6):
            with open(f"{sys.argv[2]}/{number}", "wb") as file: file.write(bytes(1 << 20))
            time.sleep(0.005)
    """,
    "in a file that it removed and holds": """
        import os, sys, time
        file = open(f"{sys.argv[2]}/x", "wb")
        os.unlink(file.name)
        while True: file.write(bytes(1 << 20)); time.sleep(0.005)
    """,
    "in a file that a child without a session holds": """
        import os, sys, time
        if os.fork(): time.sleep(60)
        os.setsid()
        if os.fork(): os._exit(0)
        file = os.open(sys.argv[2], os.O_TMPFILE | os.O_RDWR)
        os.posix_fallocate(file, 0, 64 << 20)
        time.sleep(60)
    """,
    "in a file that is only mapped": """
        import ctypes, os, sys, time
        file = os.open(f"{sys.argv[2]}/x", os.O_CREAT | os.O_RDWR)
        os.posix_fallocate(file, 0, 64 << 20)
        assert ctypes.CDLL(None).mmap(None, ctypes.c_size_t(64 << 20), 1, 1, file, ctypes.c_long(0)) != -1
        os.close(file); os.unlink(f"{sys.argv[2]}/x")
        time.sleep(60)
    """,
}


@pytest.mark.parametrize("how", FILLS)
def test_it_fills_the_disk_with_results(run: RunIt, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.setattr("orchestrator.engines.quota.RESULTS_BYTES", 32 << 20)
    monkeypatch.setattr("orchestrator.engines.docker.watch.LOOK_S", 0.1)
    if os.geteuid() != 0:
        pytest.skip("only root sees the engine's volumes")
    result, _ = run(FILLS[how])
    assert result.status is Status.ERROR
    assert "the cell wrote more than 32 MiB into its results folder" in result.reason


def test_it_floods_its_log(run: RunIt) -> None:
    result, attempt = run(
        """
        import os
        block = bytes(range(256)) * 4096
        for _ in range(100): os.write(1, block)
        os.write(1, b"x" * (10 << 20))
        os.write(2, b"\\0\\xff no end of line")
        """,
        deadline_s=60.0,
    )
    assert attempt.exit.code == 0
    assert attempt.exit.log.bytes == (110 << 20) + len(b"\0\xff no end of line")
    assert len(attempt.exit.log.head) + len(attempt.exit.log.tail) < 1 << 20
    assert result.status is Status.CRASHED


# --- what it says -----------------------------------------------------------------------------------------------------

ACTS = (
    "::set-env name=PATH::/evil",
    "##[error]evil",
    "section_end:1:evil\r\x1b[0K",
    "\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b[2J\x1b[1;1Hpassed",
    "fine\rPASSED",
    "\u202egnp.exe",
    "##vso[task.setvariable variable=a]b",
)


@pytest.mark.parametrize("said", ACTS)
def test_it_speaks_to_the_terminal_and_to_the_ci_server(run: RunIt, said: str) -> None:
    result, attempt = run(f"import os, sys; print({said!r}, flush=True); print({said!r}, file=sys.stderr); os.abort()")
    assert attempt.exit.log.bytes > 0
    assert result.status is Status.CRASHED  # and `run` holds that its reason acts on nobody


# --- what it leaves ---------------------------------------------------------------------------------------------------


def test_it_leaves_everything_but_files(run: RunIt, tmp_path: Path) -> None:
    result, attempt = run(
        """
        import os, socket, sys
        os.chdir(sys.argv[2])
        os.symlink("/etc/passwd", "junit.xml")
        os.mkfifo("metrics.jsonl")
        os.mkdir("environment.json")
        with open("structure.json", "wb") as sparse: sparse.truncate(10 << 30)
        socket.socket(socket.AF_UNIX).bind("progress.jsonl")
        open("zz", "w").write("x"); os.link("zz", "SHA256SUMS")
        for name in ("attempt.json", "log.txt", "summary.json", "plan.json", "..x", "-rf", "a\\nb", "\\x1b[31m"):
            open(name, "w").write("{}")
        for number in range(10_000): open(f"extra-{number}", "w").close()
        """
    )
    assert result.status is Status.ERROR
    assert result.reason.startswith("refused ")
    assert not (tmp_path / "out" / "attempt.json").exists()
    assert len(attempt.exit.refused) < 40


def test_a_report_of_two_gigabytes_is_told_with_its_cap(run: RunIt) -> None:
    result, _ = run("import sys; open(sys.argv[2] + '/junit.xml', 'wb').truncate(2 << 30)")
    assert result.status is Status.ERROR
    assert f"junit.xml: {2 << 30} bytes, over the cap of " in result.reason


FORGED = {
    "more tests than cases": ("forge([('a', 'passed')], 5)", "5 tests ran, the report has 1"),
    "a final line without a test": ("forge([], 0)", "no tests ran"),
    "a failure that is a pass by its attributes": (
        "forge([('a', 'passed'), ('b', 'failed')], 2)",
        "1 of 2 cases: b: no",
    ),
    "a pass that failed while it ran": (
        "forge([('a', 'passed')], 1, ended=[('a', 'failed')])",
        "1 test failed while they ran, in the report 0",
    ),
    "another torch": (
        "forge([('a', 'passed')], 1, seen={**SEEN, 'torch': '2.6.0'})",
        "torch: requested 2.13.0, observed 2.6.0",
    ),
    "an exit that was another": ("forge([('a', 'passed')], 1, code=1)", "the process ended with 0"),
    "right sums for all but one": (
        "forge([('a', 'passed')], 1); open(sys.argv[2] + '/junit.xml', 'a').write(' ')",
        "junit.xml does not match SHA256SUMS",
    ),
}


@pytest.mark.parametrize("how", FORGED)
def test_it_forges_a_bundle_that_contradicts_itself(run: RunIt, how: str) -> None:
    code, said = FORGED[how]
    result, attempt = run(FORGE + code)
    assert (attempt.exit.code, attempt.exit.problem) == (0, "")
    assert result.status in {Status.ERROR, Status.FAILED, Status.MISMATCH}
    assert said in result.reason


def test_a_bundle_that_agrees_with_itself_is_believed(run: RunIt) -> None:
    """The limit of it: what runs in a cell is the witness of its own results. It is contained, not attested."""
    result, _ = run(FORGE + "forge([('a', 'passed')], 1)")
    assert result.status is Status.PASSED


# --- where it goes ----------------------------------------------------------------------------------------------------


def test_it_finds_every_way_out_closed(run: RunIt) -> None:
    host = os.getpid()  # alive, and somebody else's: in the cell there is no process of that number
    result, attempt = run(f"HOST = {host}\n{OUT}")
    lines = dict(line.rsplit(" ", 1) for line in attempt.exit.log.head.splitlines() if not line.startswith("sees"))
    assert set(lines) == set(REFUSED), attempt.exit.log
    assert {name: errno for name, errno in lines.items() if errno not in REFUSED[name]} == {}
    (seen,) = (line for line in attempt.exit.log.head.splitlines() if line.startswith("sees"))
    assert len(json.loads(seen.removeprefix("sees "))) <= 3  # its init, itself, and nobody of the host
    assert result.status is Status.CRASHED


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """Somebody on this machine who would hear a cell that gets out; the address, and who came."""
    heard: list[str] = []
    with socket.create_server(("0.0.0.0", 0)) as server:
        server.settimeout(0.1)
        over = threading.Event()

        def listen() -> None:
            while not over.is_set():
                try:
                    heard.append(str(server.accept()[1]))
                except TimeoutError:
                    continue

        thread = threading.Thread(target=listen)
        thread.start()
        yield f"{server.getsockname()[1]}", heard
        over.set()
        thread.join()


def test_nobody_on_this_machine_hears_it(run: RunIt, listener: tuple[str, list[str]]) -> None:
    port, heard = listener
    _, attempt = run(
        f"""
        import socket
        for host in ("127.0.0.1", "172.17.0.1", "host.docker.internal", "::1", "169.254.169.254"):
            try: socket.create_connection((host, {port}), 1); print("reached", host)
            except OSError: print("no")
        """
    )
    assert attempt.exit.log.head == "no\n" * 5
    assert heard == []


# --- how it ends ------------------------------------------------------------------------------------------------------

ENDS = {
    "kills its own suite": ("import os; os.kill(-1, 9); os.kill(os.getpid(), 9)", Status.CRASHED),
    "stops itself": ("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", Status.TIMEOUT),
    "ignores SIGTERM": (
        "import signal, time\nfor n in (1, 2, 3, 10, 12, 15): signal.signal(n, signal.SIG_IGN)\ntime.sleep(99)",
        Status.TIMEOUT,
    ),
    "leaves daemons": (
        "import os, time\nfor _ in range(20):\n if os.fork() == 0:\n  os.setsid(); os.fork(); time.sleep(99)\n",
        Status.CRASHED,
    ),
    "hides behind a daemon": (
        "import os, time\nif os.fork() == 0:\n os.setsid()\n while True: time.sleep(9)\ntime.sleep(99)",
        Status.TIMEOUT,
    ),
    "ends as if it had not been started": ("raise SystemExit(127)", Status.ERROR),
    "ends as if a device were lost": ("raise SystemExit(4)", Status.ERROR),
    "ends well without a word": ("raise SystemExit(0)", Status.CRASHED),
}


@pytest.mark.parametrize("how", ENDS)
def test_it_ends_as_it_likes_and_nothing_of_it_stays(run: RunIt, how: str) -> None:
    code, status = ENDS[how]
    result, attempt = run(code, deadline_s=1.5)
    assert result.status is status, result.reason
    assert result.reason
    assert attempt.exit.problem == ""
