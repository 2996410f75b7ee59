from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import InputErrors
from orchestrator.matrix.extras import FACTS, LOADS, SECRETS, check_given, check_paths
from orchestrator.matrix.problems import Problems
from orchestrator.vocabulary import Tier


def test_a_load(read: Any) -> None:
    one, other = read(LOADS, "[{path: ./ours, tiers: [production], data: /datasets/mini}, {path: theirs}]")
    assert (one.path, one.tiers, one.data) == ("./ours", (Tier.PRODUCTION,), "/datasets/mini")
    assert (other.tiers, other.data) == (tuple(Tier), "")


def test_a_load_that_is_not_there_is_told(read: Any, tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    problems = Problems()
    check_paths(read(LOADS, "[{path: ours}, {path: theirs}]"), tmp_path, problems)
    with pytest.raises(InputErrors) as caught:
        problems.raise_any()
    assert str(caught.value) == "m:1:23: there is no load at `theirs` (paths begin beside this file)"


@pytest.mark.parametrize("path", ["../x", "a/../b", "..", "-x", "", "a\\nb", "$HOME", "é"])
def test_what_is_no_path(told: Any, path: str) -> None:
    assert len(told(FACTS, f'["{path}"]')) == 1


def test_facts_may_be_globs(read: Any) -> None:
    assert read(FACTS, "[./facts/*.yaml, ~/more.yaml]") == ("./facts/*.yaml", "~/more.yaml")


def test_a_secret_is_where_it_is(read: Any) -> None:
    one, other = read(SECRETS, "{INDEX_TOKEN: {file: /run/secrets/index}, KEY: {env: CI_KEY}}")
    assert (one.name, one.file, one.env) == ("INDEX_TOKEN", "/run/secrets/index", "")
    assert (other.name, other.file, other.env) == ("KEY", "", "CI_KEY")


@pytest.mark.parametrize(
    "snippet", ["hunter2", "[hunter2]", "{env: hunter2}", "{file: '$hunter2'}", "{file: a, env: B}", "{}"]
)
def test_a_secret_by_value_or_from_nowhere_is_told_without_it(told: Any, snippet: str) -> None:
    (problem,) = told(SECRETS, f"{{TOKEN: {snippet}}}")
    assert "hunter2" not in problem


def test_secrets_are_a_mapping(told: Any) -> None:
    assert told(SECRETS, "[A]") == ["m:1:1: `key` takes a mapping, not a list"]


def test_the_name_of_a_secret_is_that_of_a_variable(told: Any) -> None:
    assert told(SECRETS, "{token: {env: X}}") == [
        "m:1:2: the name of a secret or variable takes capital letters, digits and underscores"
    ]


def test_a_load_names_its_secrets(read: Any) -> None:
    (load,) = read(LOADS, "[{path: ours, secrets: [DATA_TOKEN]}]")
    assert load.secrets == ("DATA_TOKEN",)


def test_a_secret_that_nobody_declares_is_told(read: Any) -> None:
    secrets = read(SECRETS, "{INDEX_TOKEN: {env: A}}")
    loads = read(LOADS, "[{path: ours, secrets: [INDEX_TOKNE, INDEX_TOKEN]}, {path: x, secrets: [OTHER]}]")
    problems = Problems()
    check_given(loads, secrets, problems)
    with pytest.raises(InputErrors) as caught:
        problems.raise_any()
    assert str(caught.value).splitlines() == [
        "m:1:9: `INDEX_TOKNE` is not among the `secrets` of this file (did you mean `INDEX_TOKEN`?)",
        "m:1:60: `OTHER` is not among the `secrets` of this file (declare where it is: secrets: {OTHER: {env: OTHER}})",
    ]
