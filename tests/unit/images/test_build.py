import json
import os

import pytest

from orchestrator.axes import image_axes
from orchestrator.images import build as building
from orchestrator.images.build import build, have, labels
from orchestrator.images.docker import Docker
from orchestrator.images.failure import Stage, StageFailed
from orchestrator.images.prepare import make_recipe
from orchestrator.vocabulary import Cause


@pytest.fixture
def docker(engine, commands):
    return Docker(commands, os.environ)


@pytest.fixture
def recipe(cpu, site, engine, commands):
    return make_recipe(cpu, site, commands, lambda _: None)


def test_a_build_is_given_links_to_exactly_what_the_recipe_names(recipe, site, docker, engine, commands):
    build(recipe, site, docker, commands, print)
    held = json.loads((engine.state / "context.json").read_text())

    assert set(held) == {
        "Containerfile",
        "tools/uv",
        *(f"wheels/{layer}/lock.txt" for layer in ("torch", "companions", "tools")),
        *(f"wheels/{layer}/{wheel.file}" for layer, wheels in recipe.lock.layers.items() for wheel in wheels),
    }
    assert all(links > 1 for name, links in held.items() if name.endswith(".whl"))
    assert list((site.cache / "contexts").iterdir()) == []


def test_an_image_says_what_it_is(recipe, site, docker, engine, commands):
    found = build(recipe, site, docker, commands, print)

    assert found.labels == labels(recipe)
    assert found.labels["org.torchmatrix.recipe"] == recipe.digest
    assert json.loads(found.labels["org.torchmatrix.axes"]) == image_axes(recipe.axes)
    assert have(recipe, docker) == found


def test_no_secret_can_reach_a_build_by_argument(recipe, site, docker, engine, commands, monkeypatch):
    monkeypatch.setenv("INDEX_TOKEN", "hunter2")
    build(recipe, site, docker, commands, print)

    assert "hunter2" not in json.dumps([call["argv"] for call in engine.calls()])
    assert not any(word.startswith("--build-arg") for call in engine.calls("build") for word in call["argv"])


def test_another_image_under_our_name_is_not_ours(recipe, docker, engine, tmp_path):
    docker.import_root(tmp_path, recipe.name, {"org.torchmatrix.recipe": "0" * 64})

    assert have(recipe, docker) is None


def test_a_build_is_not_begun_where_it_has_no_room(recipe, site, docker, engine, commands, monkeypatch):
    monkeypatch.setattr(building, "_ALWAYS", 1 << 60)

    with pytest.raises(StageFailed, match="MiB free, this image needs about") as caught:
        build(recipe, site, docker, commands, print)

    assert (caught.value.stage, caught.value.why) == (Stage.BUILD, Cause.OUT_OF_DISK)
    assert engine.builds == []


def test_packages_of_an_axis_lie_in_its_folder(cpu, site, docker, engine, commands, wheels, wheel_maker, tmp_path):
    deb = tmp_path / "packages/cuda_compat/560.35.05/cuda-compat.deb"
    deb.parent.mkdir(parents=True)
    deb.write_text("a package")
    wheel_maker(wheels, "torch", "2.13.0+cu126", files={"torch/version.py": "__version__ = '2.13.0+cu126'\n"})
    made = make_recipe({**cpu, "torch_build": "cu126", "cuda_compat": "560.35.05"}, site, commands, print)
    build(made, site, docker, commands, print)

    assert "packages/cuda_compat/cuda-compat.deb" in json.loads((engine.state / "context.json").read_text())


def test_a_secret_is_given_as_a_file(recipe, site, docker, engine, commands, tmp_path):
    secret = tmp_path / "TOKEN"
    secret.write_text("hunter22")
    build(recipe, site, docker, commands, print, {"TOKEN": secret})

    (called,) = engine.calls("build")
    assert f"--secret=id=TOKEN,src={secret}" in called["argv"]
    assert "hunter22" not in json.dumps(engine.calls())
