from pathlib import Path

import pytest

from orchestrator.errors import ExitCode, InputError, TorchmatrixError
from orchestrator.images import containerfile
from orchestrator.images.containerfile import Values, fill, fingerprint, folder

VALUES = Values(
    image_id="torch2.13.0-cpu-py3.11-00000000",
    base="debian12",
    python="3.11",
    torch="2.13.0",
    torch_build="cpu",
    distribution=False,
    companions=("numpy",),
    cuda_compat="",
    compute_runtime="",
    level_zero="",
)


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    for file in folder().glob("*.j2"):
        (tmp_path / file.name).write_text(file.read_text())
    return tmp_path


def test_an_undefined_name_is_our_bug_with_template_and_line(templates):
    """Row 23: exit 70, and never an image with an empty FROM."""
    (templates / "cpu.Containerfile.j2").write_text("# one\nFROM {{ bass }}\n")

    with pytest.raises(TorchmatrixError, match=r"images/cpu\.Containerfile\.j2:2: 'bass' is undefined") as caught:
        fill("cpu.Containerfile.j2", VALUES, templates)

    assert caught.value.exit_code is ExitCode.OUR_BUG == 70


def test_an_undefined_name_in_a_macro_names_the_macros(templates):
    (templates / "macros.j2").write_text("{% macro header(template, image_id) %}\n\n{{ nothing }}{% endmacro %}")

    with pytest.raises(TorchmatrixError, match=r"images/macros\.j2:3: 'nothing' is undefined"):
        fill("cpu.Containerfile.j2", VALUES, templates)


def test_a_template_that_cannot_be_read_names_its_line(templates):
    (templates / "cpu.Containerfile.j2").write_text("FROM x\n{% if %}\n")

    with pytest.raises(TorchmatrixError, match=r"images/cpu\.Containerfile\.j2:2: "):
        fill("cpu.Containerfile.j2", VALUES, templates)


def test_a_platform_without_a_template_is_named(templates):
    with pytest.raises(TorchmatrixError, match=r"images/tpu\.Containerfile\.j2"):
        fill("tpu.Containerfile.j2", VALUES, templates)


def test_values_are_not_templates(templates):
    (templates / "cpu.Containerfile.j2").write_text("{{ base }}")
    hostile = Values(**{**{name: getattr(VALUES, name) for name in Values.__struct_fields__}, "base": "{{ 7*7 }}"})

    assert fill("cpu.Containerfile.j2", hostile, templates) == "{{ 7*7 }}"


@pytest.mark.parametrize("edited", ["cpu.Containerfile.j2", "macros.j2"])
def test_an_edited_template_has_another_fingerprint_though_the_text_is_the_same(templates, edited):
    before = fingerprint("cpu.Containerfile.j2", templates), fill("cpu.Containerfile.j2", VALUES, templates)
    (templates / edited).write_text((templates / edited).read_text() + "{#- a remark -#}\n")
    after = fingerprint("cpu.Containerfile.j2", templates), fill("cpu.Containerfile.j2", VALUES, templates)

    assert before[0] != after[0]
    assert before[1].rstrip() == after[1].rstrip()


def test_another_platforms_template_does_not_matter(templates):
    before = fingerprint("cpu.Containerfile.j2", templates)
    (templates / "cuda.Containerfile.j2").write_text("FROM x")

    assert fingerprint("cpu.Containerfile.j2", templates) == before


def test_an_installed_package_brings_its_templates(tmp_path, monkeypatch):
    assert (folder() / "macros.j2").is_file()
    (tmp_path / "templates").mkdir()
    monkeypatch.setattr(containerfile, "__file__", str(tmp_path / "containerfile.py"))

    assert folder() == tmp_path / "templates"


@pytest.mark.parametrize(
    "step", ["ARG INDEX_TOKEN", "ENV A=1 \\\n    MY_PASSWORD=x", "env API_KEY x", "ARG A=1 NPM_TOKEN=2"]
)
def test_a_secret_that_the_history_of_an_image_would_tell_is_refused(tmp_path, step):
    (tmp_path / "t.j2").write_text(f"FROM x\n{step}\n")

    with pytest.raises(InputError, match="looks like a secret: `docker history` would tell it") as caught:
        containerfile.fill("t.j2", VALUES, tmp_path)

    assert caught.value.place == "images/t.j2"


def test_a_mounted_secret_is_fine(tmp_path):
    (tmp_path / "t.j2").write_text("FROM x\nENV KEYBOARD=1 TOKEN_FILE=/x\nRUN --mount=type=secret,id=TOKEN true\n")

    assert "id=TOKEN" in containerfile.fill("t.j2", VALUES, tmp_path)
