import json
import os
from pathlib import Path

import pytest
from msgspec import to_builtins

from orchestrator.errors import InputError
from orchestrator.settings import load_site
from orchestrator.settings.told import answer

SITE = """\
indexes: {default: "https://ci:hunter22@pypi.example/simple", cu130: https://pypi.example/cu130}
find_links: [/one, /two]
registries: {registry.example: robot:env:REGISTRY_TOKEN}
proxies: {https: "http://me:hunter33@proxy.example"}
"""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "site.yaml").write_text(SITE)
    return {
        "HOME": str(tmp_path),
        "PIP_CONFIG_FILE": os.devnull,
        "TORCHMATRIX_SITE": str(tmp_path / "site.yaml"),
        "TORCHMATRIX_CACHE": "/cache",
        "REGISTRY_TOKEN": "hunter44",
    }


def test_each_value_is_told_with_its_origin_and_without_a_secret(environ: dict[str, str], tmp_path: Path) -> None:
    site = load_site(environ)
    told = answer(site, environ)
    found = {(each.name, each.value): each.origin for each in told.settings}
    file = f"{tmp_path}/site.yaml"
    expected = {
        ("indexes.default", "https://ci:[MASKED]@pypi.example/simple"): f"{file}:1:1",
        ("indexes.cu130", "https://pypi.example/cu130"): f"{file}:1:1",
        ("find_links", "/one"): f"{file}:2:1",
        ("find_links", "/two"): f"{file}:2:1",
        ("registries.registry.example", "robot:env:REGISTRY_TOKEN"): f"{file}:3:1",
        ("proxies.https", "http://me:[MASKED]@proxy.example"): f"{file}:4:1",
        ("cache", "/cache"): "environment TORCHMATRIX_CACHE",
        ("extra_indexes", ""): "default",
        ("bases", ""): "default",
    }
    assert {key: found.get(key) for key in expected} == expected
    assert (told.file, told.file_found) == (file, True)
    assert "hunter" not in json.dumps(to_builtins(told))
    assert site.passwords == (b"hunter22", b"hunter33")


def test_an_index_for_each_torch_build_is_told_while_nobody_sets_one(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PIP_CONFIG_FILE": os.devnull}
    told = {each.name: each.value for each in answer(load_site(environ), environ).settings}
    assert told["indexes.<torch_build>"].endswith("/<torch_build>")


def test_the_registries_of_docker_are_told_by_name_alone(tmp_path: Path) -> None:
    config = {
        "auths": {"ghcr.example": {"auth": "aHVudGVyOmh1bnRlcjIy"}, "nvcr.example": {}},
        "credHelpers": {"gcr.example": "gcloud"},
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    environ = {"HOME": str(tmp_path), "PIP_CONFIG_FILE": os.devnull, "DOCKER_CONFIG": str(tmp_path)}
    told = answer(load_site(environ), environ)
    found = {each.name: each.value for each in told.settings if each.name.startswith("registries.")}
    assert found == {
        "registries.ghcr.example": "docker's own login",
        "registries.nvcr.example": "docker's own login",
        "registries.gcr.example": "docker's credential helper gcloud",
    }
    assert "aHVud" not in str(told)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"auths": 1}', '{"auths": ["a"]}'])
def test_a_docker_file_that_docker_would_refuse_does_not_stop_us(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    environ = {"HOME": str(tmp_path), "PIP_CONFIG_FILE": os.devnull, "DOCKER_CONFIG": str(tmp_path)}
    assert answer(load_site(environ), environ).settings


@pytest.mark.parametrize("login", ["robot", "robot:hunter22", "robot:env:", "robot:file:", ":env:X", "a b:env:X"])
def test_a_login_that_may_be_a_password_is_refused_without_it(tmp_path: Path, login: str) -> None:
    (tmp_path / "s.yaml").write_text(f'registries: {{r.example: "{login}"}}')
    with pytest.raises(InputError, match=r"s\.yaml:1:1: registry `r\.example`: a login is USER:env:NAME") as caught:
        load_site({"HOME": str(tmp_path), "TORCHMATRIX_SITE": str(tmp_path / "s.yaml")})
    assert "hunter22" not in str(caught.value)
