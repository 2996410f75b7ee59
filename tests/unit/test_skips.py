"""A test that skips in silence tests nothing: why one may is on a list, by the reason that it gives."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]


def session(*arguments: str, cwd: Path, **environ: str) -> tuple[int, str]:
    """The exit code of a session of tests that has our conftest, and what it said."""
    ours = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        env={**ours, "PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS / 'faults'}", **environ},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("reason", "environ", "code"),
    [
        ("no right to mount a file system", {}, 0),
        ("no container engine answers: nobody is there", {}, 0),
        ("the public Talos series are not at hand: …", {"CI": "true"}, 0),
        ("no right to mount a file system", {"CI": "true"}, 1),
        ("it was broken", {}, 1),
    ],
)
def test_a_reason_that_is_on_no_list_fails_the_session(
    tmp_path: Path, reason: str, environ: dict[str, str], code: int
) -> None:
    (tmp_path / "test_it.py").write_text(f"import pytest\n\ndef test_it():\n    pytest.skip({reason!r})\n")
    ended, said = session("-p", "conftest", cwd=tmp_path, **environ)
    assert ended == code, said
    assert (f"test_it.py::test_it: {reason}" in said) == bool(code)


def test_every_test_of_an_engine_may_skip_without_one() -> None:
    """Those of one room, so that it stays short: what each skips for is said in one place."""
    place = TESTS / "integration"
    ended, said = session("-m", "docker", str(place), cwd=TESTS.parent, DOCKER_HOST="unix:///nonexistent/docker.sock")
    assert ended == 0, said
    assert " passed" not in said
