"""The loader as a whole: each document under data/matrix/bad stands beside the text of everything wrong with it."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.errors import ExitCode, InputErrors
from orchestrator.matrix.document import load
from orchestrator.model import Matrix

DATA = Path(__file__).parents[2] / "data" / "matrix"
BAD = sorted((DATA / "bad").glob("*.yaml"))
REAL = Path(__file__).parents[3] / "matrix.yaml"


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_every_problem_of_a_bad_document_is_told_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    with pytest.raises(InputErrors) as caught:
        load(Path(path.name))
    assert f"{caught.value}\n" == path.with_suffix(".txt").read_text()
    assert caught.value.exit_code == ExitCode.BAD_INPUT


def test_a_tag_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What would be made where a loader of Python's objects read it is not: tags.yaml, with a file of this test's."""
    made = tmp_path / "owned"
    tagged = (DATA / "bad" / "tags.yaml").read_text()
    assert "touch /tmp/owned" in tagged
    (tmp_path / "matrix.yaml").write_text(tagged.replace("/tmp/owned", str(made)))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputErrors, match="tags are not supported"):
        load(Path("matrix.yaml"))
    assert not made.exists()


def test_problems_stand_in_the_order_of_the_file() -> None:
    with pytest.raises(InputErrors) as caught:
        load(DATA / "bad" / "ten-at-once.yaml")
    places = [tuple(map(int, problem.place.rsplit(":", 2)[1:])) for problem in caught.value.problems]
    assert len(places) >= 10
    assert places == sorted(places)


def test_a_secret_given_by_value_is_not_repeated() -> None:
    with pytest.raises(InputErrors) as caught:
        load(DATA / "bad" / "secrets.yaml")
    assert "hunter2" not in str(caught.value)
    assert "shadow" not in str(caught.value)


def test_the_matrix_of_the_repository_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REAL.parent)
    matrix = load(Path("matrix.yaml"))
    builds = {row.axes.get("torch_build") for row in matrix.production}
    assert builds == {"cpu", "cu126", "cu130", "rocm7.1", "xpu"}
    assert sum(row.axes.get("torch_build") == "cpu" for row in matrix.production) >= 10
    assert matrix.file == "matrix.yaml"


def test_text_stays_as_it_is_written() -> None:
    matrix = load(DATA / "small.yaml")
    assert next(entry for entry in matrix.axes if entry.axis == "torch").values == ("2.6.0", "2.10.0", "2.13.0")
    assert matrix.production[1].axes["torch"] == "2.10.0"


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "matrix.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + REAL.read_bytes())
    assert load(path).production[0].axes == load(REAL).production[0].axes


@given(st.binary(max_size=400))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_arbitrary_bytes_are_told_to_be_bad_and_nothing_else(tmp_path: Path, data: bytes) -> None:
    outcome = outcome_of(tmp_path / "matrix.yaml", data)
    assert isinstance(outcome, InputErrors)
    check_told(outcome, tmp_path / "matrix.yaml")


MARKS = st.sampled_from(
    [*"\t{}[]:\n\"'#@é,\r\u2028~", "", "*a", "&a ", "!!x ", "!<", "- ", "? ", ">\n", "<<: ", "%", "---\n"]
)


@given(st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 20), MARKS), min_size=1, max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
def test_a_damaged_matrix_loads_or_is_told_to_be_bad(tmp_path: Path, cuts: list[tuple[int, int, str]]) -> None:
    data = bytearray((DATA / "small.yaml").read_bytes())
    for start, length, fragment in cuts:
        data[start : start + length] = fragment.encode()
    (tmp_path / "load").mkdir(exist_ok=True)
    outcome = outcome_of(tmp_path / "matrix.yaml", bytes(data))
    if isinstance(outcome, InputErrors):
        check_told(outcome, tmp_path / "matrix.yaml")


def outcome_of(path: Path, data: bytes) -> Matrix | InputErrors:
    path.write_bytes(data)
    try:
        return load(path)
    except InputErrors as error:
        return error


def check_told(errors: InputErrors, path: Path) -> None:
    """Each problem is one printable line with a place in the file."""
    assert errors.problems
    for problem in errors.problems:
        assert str(problem).isprintable()
        assert problem.place.startswith(os.fspath(path))


def test_an_alias_is_a_value_whose_version_is_not_known_yet(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(
        "version: 1\n"
        "axes: {torch: [2.6.0, newest 2.x], numpy: {when: {torch: '>=2.7'}, values: ['2.0']}, python: ['3.11']}\n"
        "production:\n"
        "- {name: a, torch: newest 2.x, torch_build: cpu, python: '3.11', numpy: '2.0'}\n"
        "- {name: b, torch: 2.13.0, torch_build: cpu, python: '3.11'}\n"
        "rules: [{forbid: {torch: '>=3'}, because: it is not out}]\n"
    )
    assert load(file).production[0].axes["torch"] == "newest 2.x"
    file.write_text("version: 1\nproduction: []\nrunners: [{name: a, driver: newest}]\n")
    with pytest.raises(InputErrors, match="`newest` is not a value of `driver`"):
        load(file)
