"""What all tests share: the engine that docker tests need, a small image, a task, and guards around unit tests."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import private_engine as private
import pytest
import python_image as image_of_python
from private_engine import PrivateEngine
from python_image import NAME as PYTHON_IMAGE

from orchestrator.engines.docker import connection
from orchestrator.engines.task import INPUTS, RESULTS, Task
from orchestrator.model import ContainerNeeds, Image, Limits, Placement, PlannedCell
from orchestrator.vocabulary import Tier

if TYPE_CHECKING:
    from docker import APIClient

UNIT = Path(__file__).parent / "unit"
MAY_SKIP = Path(__file__).parent / "may_skip.txt"
NOT_OURS = Path(__file__).parent / "may_skip_in_ci.txt"


# A busy machine is no counterexample: hypothesis would fail an example that takes over 200 ms.
hypothesis.settings.register_profile("unhurried", deadline=None)
hypothesis.settings.load_profile("unhurried")


def pytest_configure() -> None:
    """A shell ignores ^C for what it starts in the background, `nohup` the hangup; all we start would inherit that."""
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.fixture(scope="session")
def docker_engine() -> Iterator["APIClient"]:
    """A client of the engine; without one the test is skipped, and fails in CI."""
    answers, why = connection.probe(os.environ)
    if not answers:
        _unavailable(f"no container engine answers: {why}")
    with closing(connection.client(os.environ)) as client:
        yield client


@pytest.fixture(scope="session")
def python_image(docker_engine: "APIClient") -> str:
    """The name of an image with Python where our images have it."""
    if why := image_of_python.why_not(docker_engine):
        _unavailable(why)
    return image_of_python.python_image(docker_engine)


@pytest.fixture(scope="session")
def private_daemon(python_image: str) -> Iterator[PrivateEngine]:
    """A Docker daemon of the tests' own, which has that image."""
    if why := private.why_not():
        _unavailable(why)
    with private.private_engine(python_image) as engine:
        yield engine


@pytest.fixture
def private_engine(private_daemon: PrivateEngine) -> PrivateEngine:
    """The same, which answers, though another test stopped it."""
    private_daemon.start()
    return private_daemon


@pytest.fixture
def make_task(tmp_path: Path) -> Callable[..., Task]:
    """Makes tasks that run a line of Python with the inputs and the results folder as its arguments."""
    package = tmp_path / "lib" / "suites"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")

    def make(code: str = "", *, limits: Limits | None = None, **changes: Any) -> Task:
        cell = PlannedCell(
            id="cell-1",
            name="cell-1",
            owner="",
            tier=Tier.PRODUCTION,
            why="production",
            axes=changes.pop("axes", {"torch_build": "cpu"}),
            image="image-1",
            placement=Placement(placed=True, runner=None, reason=""),
            allow_fallback=False,
            limits=limits or Limits(memory=256 << 20, shm=64 << 20, pids=64),
            container=changes.pop("container", ContainerNeeds()),
            known_issues=(),
        )
        given: dict[str, Any] = {
            "run_id": f"test-{tmp_path.name}-{os.getpid()}",
            "cell": cell,
            "number": 1,
            "image": Image(id="image-1", name="image-1", ref=changes.pop("ref", PYTHON_IMAGE), axes={}, observed={}),
            "argv": ("-c", code, INPUTS, RESULTS),
            "suites": package.parent,
            "inputs": {"cell.json": b"{}"},
            "env": {},
            "out": tmp_path / "out",
            "deadline_s": 60.0,
            "devices": (),
        }
        return Task(**{**given, **changes})

    return make


@pytest.fixture(autouse=True)
def _unit_tests_stay_in_their_world(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit test has no home and no network: what touches them there would touch the developer's."""
    if not request.path.is_relative_to(UNIT):
        return
    monkeypatch.setenv("HOME", "/nonexistent/a-unit-test-has-no-home")
    connect = socket.socket.connect

    def local_only(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in {"127.0.0.1", "::1", "localhost"}:
            raise AssertionError(f"a unit test connects to {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", local_only)


def _unavailable(why: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(f"{why}; in CI that is a failure")
    pytest.skip(why)


_skipped: dict[str, str] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped:
        said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        _skipped[report.nodeid] = said.removeprefix("Skipped: ")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A test that skips for a reason on no committed list fails the session; in CI only what needs others' data may."""
    if hasattr(session.config, "workerinput"):  # the process that started it hears of every test
        return
    files = [NOT_OURS] if "CI" in os.environ else [NOT_OURS, MAY_SKIP]
    lines = (line.split("#")[0].strip() for file in files for line in file.read_text().splitlines())
    reasons = tuple(filter(None, lines))
    if stray := [f"{name}: {reason}" for name, reason in sorted(_skipped.items()) if not reason.startswith(reasons)]:
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        assert reporter is not None
        reporter.write_line(f"\nskipped, and not in {MAY_SKIP.name}:\n  " + "\n  ".join(stray), red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
