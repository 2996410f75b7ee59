import os
import re
import resource
import sys
import threading
import time
from pathlib import Path

import pytest

from orchestrator.errors import InfrastructureError, Interrupted
from orchestrator.images.command import Commands, locked


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_both_outputs_and_the_code_come_back(commands):
    done = commands.run(python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"), deadline_s=60)

    assert (done.code, done.out, done.err, done.log) == (3, "out\n", "err\n", "out\nerr")


def test_a_killed_tool_is_told_by_its_signal(commands):
    assert commands.run(python("import os; os.kill(os.getpid(), 9)"), deadline_s=60).code == -9


def test_a_tool_that_is_not_there_is_named(commands):
    with pytest.raises(InfrastructureError, match="cannot start `/nonexistent/tool`: No such file"):
        commands.run(["/nonexistent/tool"], deadline_s=60)


def test_a_deadline_ends_the_tool_and_what_it_started(commands, tmp_path):
    code = (
        f"import subprocess, sys; p = subprocess.Popen(['sleep', '60']); open({str(tmp_path / 'pid')!r}, 'w')"
        ".write(str(p.pid)); p.wait()"
    )
    done = commands.run(python(code), deadline_s=1.5)

    assert done.timed_out
    assert _ended(int((tmp_path / "pid").read_text()))


def _ended(pid: int) -> bool:
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_a_tool_that_ignores_the_request_is_killed(commands):
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
    )
    done = commands.run(python(code), deadline_s=1.0)

    assert (done.timed_out, done.code) == (True, -9)


def test_stopping_ends_what_runs_and_refuses_what_comes():
    commands = Commands()
    threading.Timer(0.3, commands.stop).start()

    with pytest.raises(Interrupted):
        commands.run(["sleep", "60"], deadline_s=120)
    with pytest.raises(Interrupted):
        commands.run(["true"], deadline_s=60)


def test_of_a_flood_head_and_tail_are_kept_the_cut_is_told_and_bad_bytes_are_shown(commands):
    code = "import os, sys; w = sys.stdout.buffer.write; w(b'head ' + b'a' * (5 << 20)); w(b'\\xff end')"
    done = commands.run(python(code), deadline_s=60)

    assert done.out.startswith("head aaaa")
    assert f"[… {5 + (5 << 20) + 5 - (4 << 20)} of {5 + (5 << 20) + 5} bytes left out …]" in done.out
    assert done.out.endswith("a\ufffd end")
    assert len(done.out) < (4 << 20) + 100


def test_a_tool_that_never_stops_writing_takes_no_disk_and_little_memory(commands):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = commands.run(["sh", "-c", "exec yes to-both >&2"], deadline_s=3)

    assert done.timed_out
    assert done.err.startswith("to-both\n")
    assert int(re.search(r"of (\d+) bytes left out", done.err)[1]) > 64 << 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # KiB


def test_what_a_tool_leaves_running_keeps_nobody_waiting(commands):
    begun = time.monotonic()
    done = commands.run(["sh", "-c", "sleep 20 & echo done"], deadline_s=60)

    assert (done.code, done.out) == (0, "done\n")
    assert time.monotonic() - begun < 10


def test_a_tool_that_closes_its_outputs_is_waited_for(commands):
    done = commands.run(["sh", "-c", "echo x; exec >&- 2>&-; sleep 0.5; exit 7"], deadline_s=60)

    assert (done.code, done.out) == (7, "x\n")


def test_one_holder_of_a_lock_at_a_time(tmp_path):
    order: list[str] = []

    def second() -> None:
        with locked(tmp_path / "deep" / "lock"):
            order.append("second")

    with locked(tmp_path / "deep" / "lock"):
        waiting = threading.Thread(target=second)
        waiting.start()
        waiting.join(0.3)
        order.append("first")
    waiting.join()

    assert order == ["first", "second"]


def test_the_environment_is_the_one_given(commands):
    done = commands.run(
        python("import os; print(os.environ.get('A'), 'HOME' in os.environ)"), deadline_s=60, env={"A": "b"}
    )

    assert done.out == "b False\n"
    assert "HOME" in os.environ
