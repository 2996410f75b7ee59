"""The command as users type it: exit codes, its own configuration, and bundles for runs that could not begin."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from suites import bundle

ROOT = Path(__file__).parents[2]
Suite = Callable[..., subprocess.CompletedProcess[str]]
SMALL = ("--device", "cpu", "--size", "32", "--steps", "1")


def bare(*options: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """The command in a Python that sees no installed package at all."""
    code = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
{before}
from suites.command import main
sys.exit(main(sys.argv[1:]))
"""
    command = [sys.executable, "-I", "-S", "-B", "-c", code, *options]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


def the_case(folder: Path) -> tuple[str, str | None]:
    """Element and message of the only case."""
    cases = list(ET.fromstring((folder / bundle.JUNIT).read_bytes()).iter("testcase"))
    assert len(cases) == 1
    return cases[0][0].tag, cases[0][0].get("message")


def test_without_torch_the_bundle_says_so(tmp_path: Path) -> None:
    done = bare("--out", str(tmp_path))
    assert done.returncode == 1
    assert done.stdout == f"no load was run, the bundle says only why: {tmp_path}\n"
    said = done.stderr.splitlines()
    assert said[:2] == [
        "missing package: No module named 'torch'",
        f"the suite needs torch and pytest in the Python that runs it, which is {sys.executable}",
    ]
    assert f"`uv pip install --python {sys.executable} torch pytest`" in said[3]
    assert the_case(tmp_path) == ("error", "missing package: No module named 'torch'")
    last = json.loads((tmp_path / bundle.PROGRESS).read_text().splitlines()[-1])
    assert last == {"event": "final", "exit": 1, "tests": 1}
    assert {path.name for path in tmp_path.iterdir()} == {*bundle.FILES, bundle.CHECKSUMS}


def test_a_torch_that_cannot_load_its_libraries_is_told_by_the_library(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise OSError('libcudart.so.13: cannot open shared object file')")
    out = tmp_path / "out"
    done = bare("--out", str(out), before=f"sys.path.insert(0, {str(tmp_path)!r})")
    assert done.returncode == 1
    assert the_case(out) == ("error", "missing library: libcudart.so.13: cannot open shared object file")
    assert "pip install" not in done.stderr, "there is a torch"


def test_a_torch_that_refuses_a_setting_is_told_by_what_it_raised_first(tmp_path: Path) -> None:
    # Torch registers its operators before it reads TORCH_LOGS: a second import fails for having registered them twice.
    (tmp_path / "torch.py").write_text("""
import sys
if hasattr(sys, "tried"):
    raise RuntimeError("Only a single TORCH_LIBRARY can be used")
sys.tried = True
raise ValueError("\\n\\nInvalid log settings: x")
""")
    out = tmp_path / "out"
    done = bare("--backend", "inductor", "--out", str(out), before=f"sys.path.insert(0, {str(tmp_path)!r})")
    assert done.returncode == 1
    assert the_case(out) == ("error", "ValueError: Invalid log settings: x")


def test_without_pytest_the_bundle_says_so(tmp_path: Path) -> None:
    torch = """
from types import SimpleNamespace
torch = sys.modules["torch"] = type(sys)("torch")
torch.__version__, torch.__file__, torch.version = "2.0", "/x/torch/__init__.py", SimpleNamespace()
torch.get_num_threads, torch.get_float32_matmul_precision = lambda: 1, lambda: "highest"
torch.backends = SimpleNamespace(mkldnn=SimpleNamespace(is_available=lambda: True))
"""
    done = bare("--out", str(tmp_path), before=torch)
    assert done.returncode == 1, done.stderr
    assert the_case(tmp_path) == ("error", "missing package: No module named 'pytest'")
    assert "the suite needs torch and pytest" in done.stderr


def test_a_cell_that_cannot_be_read_is_usage(tmp_path: Path) -> None:
    (tmp_path / "cell.json").write_text("{}")
    done = bare("--cell", str(tmp_path / "cell.json"), "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert "`axes` must map names to texts" in done.stderr
    assert not (tmp_path / "out").exists()


def test_an_out_that_cannot_be_made_is_usage(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = bare("--out", str(tmp_path / "file" / "out"))
    assert done.returncode == 2
    assert "Not a directory" in done.stderr


def test_without_out_the_folder_is_told(tmp_path: Path) -> None:
    done = bare(before=f"import os; os.environ['TMPDIR'] = {str(tmp_path)!r}")
    told = Path(done.stdout.splitlines()[-1].partition(": ")[2])
    assert (told / bundle.CHECKSUMS).is_file()
    assert [path for path in tmp_path.iterdir() if path != told] == []


def test_the_list_needs_no_torch_and_no_device(tmp_path: Path) -> None:
    done = bare("--list", "--device", "cuda", "--load", "matmul.square", "--out", str(tmp_path / "out"))
    assert done.returncode == 0
    assert [line.split() for line in done.stdout.splitlines()[:2]] == [
        ["case", "runs", "from", "compiled", "from"],
        ["matmul.square[bf16]", "smoke", "smoke"],
    ]
    assert not (tmp_path / "out").exists()


def test_a_load_that_is_none_is_usage(tmp_path: Path) -> None:
    done = bare("--load", "matmul", "--load", "matmull", "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert done.stderr.startswith(
        "python -m suites: no load is named matmull (did you mean matmul?): there are attention"
    )
    assert not (tmp_path / "out").exists()


def test_what_would_be_ignored_or_cannot_be_is_usage_before_anything_runs(tmp_path: Path) -> None:
    for options, told in (
        (("--list", "--load", "nothing"), "no load is named nothing: there are attention, "),
        (("--load", "matmul", "--save-checkpoint", str(tmp_path / "c.pt")), "--save-checkpoint would be ignored, "),
        (("--checkpoint", str(tmp_path / "none.pt")), f"--checkpoint {tmp_path / 'none.pt'}: no file"),
    ):
        done = bare(*options, "--out", str(tmp_path / "out"))
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"python -m suites: {told}")
        assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.torch
def test_a_backend_that_is_misspelt_is_usage(suite: Suite, tmp_path: Path) -> None:
    done = suite(*SMALL, "--backend", "inducter", "--load", "matmul.square", "--out", str(tmp_path / "out"))
    if "has no torch.compile" in done.stdout:
        pytest.skip("this torch has no torch.compile")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--backend inducter: there is no such backend (did you mean inductor?): known are aot_eager, " in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.torch
def test_a_device_that_is_not_there_is_exit_4_and_one_line(suite: Suite, tmp_path: Path) -> None:
    device = "mps" if sys.platform != "darwin" else "cuda"
    done = suite("--device", device, "--out", str(tmp_path))
    assert done.returncode == 4
    assert done.stderr.strip().splitlines()[-1].startswith(f"device missing: {device} was asked for and torch sees no")
    assert list(ET.fromstring((tmp_path / bundle.JUNIT).read_bytes()).iter("testcase")) == []
    assert (tmp_path / bundle.PROGRESS).read_text() == '{"event": "final", "exit": 4, "tests": 0}\n'
    assert "torch" in json.loads((tmp_path / bundle.ENVIRONMENT).read_text())["axes"]


@pytest.mark.torch
def test_the_folder_it_is_called_from_has_no_say(suite: Suite, tmp_path: Path) -> None:
    folder = tmp_path / "hostile"
    folder.mkdir()
    for name in ("conftest.py", "sitecustomize_not.py", "test_evil.py"):
        (folder / name).write_text("raise SystemExit('this file was run')")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --nosuch\n")
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--nosuch'\n")
    out = tmp_path / "out"
    done = suite(*SMALL, "--out", str(out), folder=folder, PYTEST_ADDOPTS="--nosuch", PYTEST_PLUGINS="nosuch")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_evil" not in (out / bundle.JUNIT).read_text()


@pytest.mark.torch
def test_the_cell_decides_and_its_variables_are_there_from_the_start(suite: Suite, tmp_path: Path) -> None:
    cell = {
        "schema_version": 1,
        "id": "asked-for-1",
        "axes": {"torch": "0.1", "python": "3", "matmul_precision": "high", "env": "OMP_NUM_THREADS=2 TORCH_X=a=b"},
        "device": "cpu",
        "profile": "smoke",
        "seed": 5,
    }
    (tmp_path / "cell.json").write_text(json.dumps(cell))
    out = tmp_path / "out"
    done = suite("--cell", str(tmp_path / "cell.json"), "--size", "32", "--steps", "1", "--out", str(out))
    assert done.returncode == 1
    assert json.loads((out / bundle.CELL).read_text()) == cell
    environment = json.loads((out / bundle.ENVIRONMENT).read_text())
    assert environment["axes"]["matmul_precision"] == "high"
    assert environment["facts"]["env.OMP_NUM_THREADS"] == environment["facts"]["torch_threads"] == "2"
    assert environment["facts"]["env.TORCH_X"] == "a=b"
    failures = {
        case.get("name"): case[0].get("message")
        for case in ET.fromstring((out / bundle.JUNIT).read_bytes()).iter("testcase")
        if case.find("failure") is not None
    }
    assert list(failures) == ["loads/test_environment.py::test_requested_is_observed[torch]"]
    assert str(*failures.values()).startswith("version mismatch: torch 0.1 was requested, ")


@pytest.mark.torch
def test_the_same_seed_gives_the_same_numbers(suite: Suite, tmp_path: Path) -> None:
    errors = []
    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        assert suite(*SMALL, "--seed", seed, "--out", str(tmp_path / name)).returncode == 0
        rows = [json.loads(line) for line in (tmp_path / name / bundle.METRICS).read_text().splitlines()]
        errors.append([row["value"] for row in rows if row["metric"] == "error" and row["load"].startswith("matmul")])
    assert errors[0] == errors[1] != errors[2]
