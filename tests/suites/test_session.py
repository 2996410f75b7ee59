"""Sessions over loads of our own: what each kind of end leaves behind."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from suites import bundle

pytestmark = pytest.mark.torch

RUN = """
import sys, pathlib
from suites import command, session
session._HERE = pathlib.Path(sys.argv[1])
command.__file__ = sys.argv[1] + "/command.py"
sys.exit(command.main(["--device", "cpu", "--out", sys.argv[2], *sys.argv[3:]]))
"""


@pytest.fixture
def done(
    snippet: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the suite over one file of loads."""

    def run(loads: str, *options: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "loads").mkdir()
        (tmp_path / "pytest.ini").write_text((Path(bundle.__file__).parent / "pytest.ini").read_text())
        (tmp_path / "loads" / "test_ours.py").write_text("import pytest\n" + loads)
        return snippet(RUN, str(tmp_path), str(tmp_path / "out"), *options)

    return run


@pytest.fixture
def session(done: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> Callable[..., tuple[int, Path]]:
    """The same; returns the exit code and the bundle's folder."""
    return lambda loads, *options: (done(loads, *options).returncode, tmp_path / "out")


def cases(folder: Path) -> dict[str, tuple[str, str]]:
    """Name -> (element, message) of each case."""
    found = {}
    for case in ET.fromstring((folder / bundle.JUNIT).read_bytes()).iter("testcase"):
        child = case[0] if len(case) else None
        name = str(case.get("name")).removeprefix("loads/test_ours.py::")
        found[name] = ("passed", "") if child is None else (child.tag, str(child.get("message")))
    return found


def progress(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / bundle.PROGRESS).read_text().splitlines()]


def test_each_outcome_and_the_line_it_is_told_by(session: Callable[..., tuple[int, Path]]) -> None:
    code, out = session("""
def test_good(bench): pass
def test_worded(bench): raise AssertionError("numerics: off by 2\\nand more")
def test_plain(bench): assert 1 + 1 == 3
def test_raised(bench): raise KeyError("x")
def test_full(bench): raise OSError(28, "No space left on device")
def test_skipped(bench): pytest.skip("not applicable: because")
@pytest.fixture
def broken(): raise ValueError("no fixture")
def test_setup(broken): pass
@pytest.fixture
def messy():
    yield
    raise ValueError("no end")
def test_teardown(messy): pass
""")
    assert code == 1
    assert cases(out) == {
        "test_good": ("passed", ""),
        "test_worded": ("failure", "numerics: off by 2"),
        "test_plain": ("failure", "assert (1 + 1) == 3"),
        "test_raised": ("failure", "KeyError: 'x'"),
        "test_full": ("failure", "out of disk: OSError: [Errno 28] No space left on device"),
        "test_skipped": ("skipped", "not applicable: because"),
        "test_setup": ("error", "ValueError: no fixture"),
        "test_teardown": ("error", "ValueError: no end"),
    }
    outcomes = [line["outcome"] for line in progress(out) if line["event"] == "end"]
    assert outcomes == ["passed", "failed", "failed", "failed", "failed", "skipped", "error", "error"]
    assert progress(out)[-1] == {"event": "final", "exit": 1, "tests": 8}


def test_what_is_known_to_fail_is_skipped_with_its_link_and_fails_once_it_passes(
    session: Callable[..., tuple[int, Path]],
) -> None:
    code, out = session("""
known = pytest.mark.xfail(raises=AssertionError, reason="https://example.org/1")
@known
def test_fails(bench): raise AssertionError("numerics: off by 2")
@known
def test_breaks(bench): raise KeyError("x")
@known
def test_passes(bench): pass
""")
    assert code == 1
    assert cases(out) == {
        "test_fails": ("skipped", "known issue: https://example.org/1: numerics: off by 2"),
        "test_breaks": ("failure", "KeyError: 'x'"),
        "test_passes": ("failure", "[XPASS(strict)] https://example.org/1"),
    }


def test_a_file_that_cannot_be_collected_is_an_error_of_its_own(session: Callable[..., tuple[int, Path]]) -> None:
    code, out = session("import nothing_of_this_name\n")
    assert code == 1
    assert cases(out) == {
        "loads/test_ours.py": ("error", "collection: ModuleNotFoundError: No module named 'nothing_of_this_name'")
    }
    assert progress(out)[-1] == {"event": "final", "exit": 1, "tests": 1}


def test_no_case_at_all_is_not_good(session: Callable[..., tuple[int, Path]]) -> None:
    code, out = session("")
    assert (code, cases(out)) == (1, {})


def test_a_lost_device_ends_the_session_with_4(session: Callable[..., tuple[int, Path]]) -> None:
    code, out = session("""
def test_first(bench): pass
def test_lost(bench): raise RuntimeError("device lost: fallen off the bus")
def test_after(bench): pass
""")
    assert code == 4
    assert list(cases(out)) == ["test_first", "test_lost", "cascade"]
    assert progress(out)[-1] == {"event": "final", "exit": 4, "tests": 3}


STICKY = """
from suites.devices import cpu
def break_it():
    def raising(): raise RuntimeError("CUDA error: misaligned address")
    cpu.synchronise = raising
def test_first(bench): pass
def test_second(bench):
    break_it()
    raise RuntimeError("CUDA error: misaligned address\\nCUDA kernel errors might be reported later")
@pytest.mark.parametrize("number", range(198))
def test_after(bench, number): bench.device.synchronise()
"""


def test_an_error_that_sticks_to_the_device_is_one_cause_and_one_line(session: Callable[..., tuple[int, Path]]) -> None:
    code, out = session(STICKY)

    assert code == 4
    assert cases(out) == {
        "test_first": ("passed", ""),
        "test_second": ("failure", "device lost: RuntimeError: CUDA error: misaligned address"),
        "cascade": (
            "skipped",
            "cascade: 198 cases were not run, the device is broken since loads/test_ours.py::test_second",
        ),
    }
    assert progress(out)[-1] == {"event": "final", "exit": 4, "tests": 3}
    assert "misaligned address" in (out / bundle.JUNIT).read_text().split("health check afterwards: ")[1]


def test_an_error_that_is_known_to_stick_ends_the_session_though_the_device_still_answers(
    session: Callable[..., tuple[int, Path]],
) -> None:
    sticking = STICKY.replace("    break_it()\n", "    cpu.STICKY = 'misaligned address'\n").replace("198", "3")
    code, out = session(sticking)

    assert code == 4
    assert list(cases(out)) == ["test_first", "test_second", "cascade"]
    assert "health check afterwards: not asked, this error stays" in (out / bundle.JUNIT).read_text()


def test_a_failure_on_a_healthy_device_stops_nothing(session: Callable[..., tuple[int, Path]]) -> None:
    code, out = session(STICKY.replace("    break_it()\n", "").replace("range(198)", "range(3)"))

    assert code == 1
    assert [outcome for outcome, _ in cases(out).values()] == ["passed", "failure", *["passed"] * 3]


def test_wrong_numbers_of_the_health_check_stop_nothing(session: Callable[..., tuple[int, Path]]) -> None:
    code, out = session(STICKY.replace('RuntimeError("CUDA', 'AssertionError("numerics').replace("198", "1"))

    assert (code, len(cases(out))) == (1, 3)


def test_cases_that_are_written_down_and_did_not_run_are_missed(
    session: Callable[..., tuple[int, Path]], tmp_path: Path
) -> None:
    there = {f"loads/test_{name}": ["smoke", "smoke"] for name in ("ours.py::test_one", "lost.py::test_x[1]")}
    (tmp_path / "cases.json").write_text(json.dumps(there))

    code, out = session("def test_one(bench): pass")

    assert code == 1
    assert cases(out)["number of cases"] == ("error", "collection: 1 of 2 cases did not run: lost.x[1]")
    assert progress(out)[-1] == {"event": "final", "exit": 1, "tests": 2, "expected": 2}


def test_what_another_profile_or_another_load_has_is_not_missed(
    session: Callable[..., tuple[int, Path]], tmp_path: Path
) -> None:
    there = {"ours.py::test_one": ["smoke", "smoke"], "ours.py::test_two": ["smoke", "smoke"]}
    there |= {"lost.py::test_x": ["deep", "deep"]}
    (tmp_path / "cases.json").write_text(json.dumps({f"loads/test_{name}": least for name, least in there.items()}))

    code, out = session("def test_one(bench): pass\ndef test_two(bench): pass", "--load", "*.two")

    assert (code, list(cases(out))) == (0, ["test_two"])
    assert progress(out)[-1] == {"event": "final", "exit": 0, "tests": 1, "expected": 1}


def test_a_crash_keeps_what_was_and_names_the_test(session: Callable[..., tuple[int, Path]]) -> None:
    code, out = session("""
def test_first(bench): pass
def test_crash(bench):
    import os, signal
    os.kill(os.getpid(), signal.SIGSEGV)
""")
    assert code == -11
    assert [(line["event"], str(line["test"])[-10:]) for line in progress(out)] == [
        ("start", "test_first"),
        ("end", "test_first"),
        ("start", "test_crash"),
    ]
    assert json.loads((out / bundle.ENVIRONMENT).read_text())["axes"]["torch"]
    assert json.loads((out / bundle.CELL).read_text())["id"].startswith("torch")
    assert not (out / bundle.CHECKSUMS).exists()


def test_assertions_hold_where_python_leaves_them_out(
    session: Callable[..., tuple[int, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONOPTIMIZE", "2")
    code, out = session("def test_one(bench): assert 1 + 1 == 3")
    assert (code, cases(out)) == (1, {"test_one": ("failure", "assert (1 + 1) == 3")})


def test_a_metric_that_is_no_number_fails_its_case(session: Callable[..., tuple[int, Path]]) -> None:
    code, out = session("""
from suites.work import Labels
def test_nan(bench): bench.row(Labels("l", "1", "fp32", "m", "1"), "latency", float("nan"), "ms")
""")
    assert code == 1
    assert cases(out) == {"test_nan": ("failure", "numerics: metric latency of l is nan")}


def test_a_setting_of_the_process_that_a_case_leaves_changed_is_its_own_failure(
    session: Callable[..., tuple[int, Path]],
) -> None:
    code, out = session("""
import os, torch
def test_dtype(bench): torch.set_default_dtype(torch.float64)
def test_grad(bench): torch.set_grad_enabled(False)
def test_threads(bench): torch.set_num_threads(2)
def test_precision(bench): torch.set_float32_matmul_precision("medium")
def test_deterministic(bench): torch.use_deterministic_algorithms(True, warn_only=True)
def test_folder(bench): os.chdir("/")
def test_after(bench):
    assert torch.get_default_dtype() is torch.float32 and torch.is_grad_enabled() and torch.get_num_threads() == 1
    assert torch.get_float32_matmul_precision() == "highest" and os.getcwd() != "/"
    assert not torch.are_deterministic_algorithms_enabled()
""")
    assert code == 1
    found = cases(out)
    assert found.pop("test_after") == ("passed", "")
    assert {kind for kind, _ in found.values()} == {"error"}
    assert found["test_folder"][1].endswith(" to /")
    told = {name: message.partition(": changed ")[2] for name, (_, message) in found.items() if name != "test_folder"}
    assert told == {
        "test_dtype": "default dtype from torch.float32 to torch.float64",
        "test_grad": "gradients from True to False",
        "test_threads": "threads from 1 to 2",
        "test_precision": "matmul precision from highest to medium",
        "test_deterministic": "deterministic algorithms from (False, False) to (True, True)",
    }


def test_a_larger_profile_runs_more_and_a_compiler_less(session: Callable[..., tuple[int, Path]]) -> None:
    code, out = session(
        """
def test_always(bench): pass
@pytest.mark.profile("standard")
def test_standard(bench): pass
@pytest.mark.profile("deep")
def test_deep(bench): pass
@pytest.mark.compiled_from("deep")
def test_slow_to_compile(bench): pass
""",
        *("--profile", "standard", "--backend", "aot_eager"),
    )
    assert code == 0
    assert list(cases(out)) == ["test_always", "test_standard"]


def test_nothing_ends_the_suite_with_0_before_all_is_said(
    done: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    told = done("""
import os
def test_child(bench):
    child = os.fork()
    if not child:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, "a child of its own may"
def test_gone(bench): os._exit(0)
""")
    assert told.returncode == 1
    assert told.stderr.endswith("error: something ended the process before the suite had said all\n")
    assert [line["outcome"] for line in progress(tmp_path / "out") if line["event"] == "end"] == ["passed"]
    assert not (tmp_path / "out" / bundle.CHECKSUMS).exists()


def test_a_bundle_that_cannot_be_written_is_no_success_and_told(
    done: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    told = done("""
def test_good(bench): pass
def test_full(bench):
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))
""")
    assert told.returncode == 1
    assert told.stderr.endswith("error: the bundle was not completed: [Errno 27] File too large\n"), told.stderr
    assert not (tmp_path / "out" / bundle.CHECKSUMS).exists()
