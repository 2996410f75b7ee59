"""Axes in, images or failures out: the real resolver and cache, an engine that is a script."""

import shutil
from pathlib import Path

import pytest

from orchestrator.axes import differences, image_id
from orchestrator.errors import InfrastructureError, TorchmatrixError
from orchestrator.images import containerfile
from orchestrator.images.failure import Stage, StageFailed
from orchestrator.images.prepare import BuildFailure, prepare_images, prepare_venvs
from orchestrator.model import Image
from orchestrator.vocabulary import Cause

OBSERVED = {"torch": "2.13.0+cpu", "torch_build": "cpu", "python": "3.11.2", "base": "debian12"}


def prepare(site, *axes, jobs=2):
    said: list[str] = []
    made = prepare_images({image_id(each): each for each in axes}, site, jobs=jobs, say=said.append)
    assert list(made) == [image_id(each) for each in axes]
    return list(made.values()), said


def test_images_are_built_once_and_a_second_call_does_nothing(cpu, site, engine):
    engine.observes(OBSERVED)
    beside = {**cpu, "openvino": "2025.4.1"}
    first, said = prepare(site, cpu, beside)
    before = len(engine.calls())
    second, said_again = prepare(site, cpu, beside)

    assert all(isinstance(image, Image) and image.ref.startswith("sha256:") for image in first)
    assert first == second
    assert sorted(engine.builds) == sorted(image.name for image in first)
    assert len(engine.bootstraps) == 1
    assert said
    assert said_again == []
    assert [call["argv"][0] for call in engine.calls()[before:]] == ["version", "image", "image"]


def test_what_was_observed_stands_beside_what_was_asked(cpu, site, engine):
    """Row 27: the image contains another torch than asked; both are kept for the judge."""
    engine.observes({**OBSERVED, "torch": "2.13.0+cu130", "torch_build": "cu130"})
    (image,), _ = prepare(site, cpu)

    assert image.axes["torch_build"] == "cpu"
    assert differences(image.axes, image.observed) == {"torch_build": ("cpu", "cu130")}


def test_one_failure_never_stops_the_others(cpu, site, engine):
    """Row 26 for every stage at once: each failure names its stage and keeps the log's end."""
    engine.observes(OBSERVED)
    engine.set("fail-build", "openvino2025\n#9 ERROR: write /var/lib/docker/x: no space left on device")
    good, full, lost, swapped, unknown, bad = prepare(
        site,
        cpu,
        {**cpu, "openvino": "2025.4.1"},
        {**cpu, "openvino": "1999.1"},
        {**cpu, "torchvision": "0.29.1"},
        {**cpu, "base": "ubuntu24.04"},
        {**cpu, "numpy": "; rm -rf /"},
    )[0]

    assert isinstance(good, Image)
    assert (full.stage, full.cause) == ("build", Cause.OUT_OF_DISK)
    assert "  | #9 ERROR: write /var/lib/docker/x: no space left on device" in full.log_tail
    assert (lost.stage, lost.cause) == ("wheels", Cause.MISSING_PACKAGE)
    assert (swapped.stage, swapped.cause) == ("wheels", Cause.VERSION_MISMATCH)
    assert (unknown.stage, unknown.reason.split("; ")[1]) == (
        "base",
        "set bases: {ubuntu24.04-py3.11: repo@sha256:…} in site.yaml",
    )
    assert (bad.stage, bad.cause) == ("recipe", Cause.BUILD)


@pytest.mark.parametrize(
    ("name", "content", "stage", "cause"),
    [
        ("fail-bootstrap", "Temporary failure resolving 'mirror.example'", "base", Cause.BUILD),
        ("fail-bootstrap", "cannot write: No space left on device", "base", Cause.OUT_OF_DISK),
        ("fail-build", "torchmatrix\nreceived unexpected HTTP status: 500", "build", Cause.BUILD),
        ("fail-run", "ModuleNotFoundError: No module named 'torch'", "observe", Cause.MISSING_PACKAGE),
    ],
)
def test_a_failing_stage_is_named_and_tried_again_the_next_time(cpu, site, engine, name, content, stage, cause):
    engine.observes(OBSERVED)
    engine.set(name, content)
    (failed,), said = prepare(site, cpu)

    assert isinstance(failed, BuildFailure)
    assert (failed.stage, failed.cause) == (stage, cause)
    assert content.split("\n")[-1] in failed.log_tail
    assert said[-1] == f"image {image_id(cpu)}: {failed.reason}"

    (engine.state / name).unlink()
    assert isinstance(prepare(site, cpu)[0][0], Image)


def test_a_registry_that_has_lost_the_digest_fails_only_its_own_images(cpu, with_site, engine):
    engine.observes(OBSERVED)
    engine.set("fail-pull", "manifest unknown")
    site = with_site(bases={"rocky9": f"registry.example/rocky@sha256:{'0' * 64}"})
    gone, good = prepare(site, {**cpu, "base": "rocky9"}, cpu)[0]

    assert (gone.stage, "manifest unknown" in gone.log_tail) == ("base", True)
    assert isinstance(good, Image)


def test_an_edited_template_is_a_new_image_and_the_old_one_is_not_used(cpu, site, engine, tmp_path, monkeypatch):
    """Row 24."""
    engine.observes(OBSERVED)
    (before,), _ = prepare(site, cpu)
    templates = shutil.copytree(containerfile.folder(), tmp_path / "templates")
    with (templates / "cpu.Containerfile.j2").open("a") as file:
        file.write("{# no other text, another recipe #}")
    monkeypatch.setattr(containerfile, "folder", lambda: templates)
    (after,), _ = prepare(site, cpu)

    assert after.name != before.name
    assert engine.builds == [before.name, after.name]


def test_our_own_bug_is_not_one_images_failure(cpu, site, engine, tmp_path, monkeypatch):
    templates = shutil.copytree(containerfile.folder(), tmp_path / "templates")
    (templates / "cpu.Containerfile.j2").write_text("FROM {{ bass }}")
    monkeypatch.setattr(containerfile, "folder", lambda: templates)

    with pytest.raises(TorchmatrixError, match="'bass' is undefined"):
        prepare(site, cpu)
    assert engine.builds == []


def test_no_engine_is_said_before_anything_is_fetched(cpu, site, engine):
    engine.set("down", "yes")

    with pytest.raises(InfrastructureError, match="no docker engine answers"):
        prepare(site, cpu)
    assert not (site.cache / "wheels").exists()


def test_a_cache_that_cannot_be_written_is_told_with_its_stage(cpu, with_site, engine, tmp_path):
    (tmp_path / "a-file").write_text("")
    (failed,), _ = prepare(with_site(cache=tmp_path / "a-file"), cpu)

    assert failed.stage == "wheels"
    assert "Not a directory" in failed.reason


READY = {"interpreter": "/usr/bin/python3", "user": "10001:10001", "package pytest": "9.1.0"}


def test_a_local_image_that_is_gone_is_not_pulled(site, engine):
    (failed,), _ = prepare(site, {"image": f"sha256:{'ab' * 32}"})

    assert failed.reason.startswith("ready image: this engine has no image of the id sha256:abababababab")
    assert engine.calls("pull") == []


def test_a_ready_image_that_cannot_be_pulled_is_not_told_as_a_base(site, engine, monkeypatch):
    def refused(ref: str, *_: object) -> None:
        raise StageFailed(Stage.BASE, f"`{ref}` could not be pulled")

    monkeypatch.setattr("orchestrator.images.prepare.pull", refused)
    (failed,), _ = prepare(site, {"image": f"nvcr.example/pytorch@sha256:{'ab' * 32}"})
    assert failed.reason.startswith("ready image: `nvcr.example/pytorch@sha256:")


def test_a_ready_image_is_pulled_by_digest_and_observed(site, engine):
    ref = f"nvcr.example/pytorch@sha256:{'ab' * 32}"
    engine.observes({"torch": "2.9.0a0+nv25", "torch_build": "cu130", **READY})
    (image,), said = prepare(site, {"image": ref})

    assert (image.name, image.axes, image.observed["torch"]) == (ref, {"image": ref}, "2.9.0a0+nv25")
    assert said == [f"image {image.id}: pulling {ref}"]
    assert prepare(site, {"image": ref})[0] == [image]
    assert len(engine.calls("pull")) == 1


def test_no_more_than_the_jobs_run_at_once(cpu, site, engine):
    engine.observes(OBSERVED)
    made, _ = prepare(site, *({**cpu, "openvino": version} for version in ("2025.4.1", "2026.0.0")), jobs=0)

    assert all(isinstance(image, Image) for image in made)


def test_nothing_wanted_is_nothing_made(site, engine):
    assert prepare(site) == ([], [])


def test_names_that_reach_paths_stay_in_the_cache(cpu, site, engine, tmp_path):
    """Row 20: what an image leaves lies in the cache, whatever its values are."""
    before = set(tmp_path.iterdir())
    engine.observes(OBSERVED)
    prepare(site, {**cpu, "base": "a..b"}, {**cpu, "base": "../../x"}, cpu)

    assert {path.name for path in set(tmp_path.iterdir()) - before} <= {"cache", "uv-cache"}
    assert not Path("/x").exists()


def test_an_interruption_comes_through_and_begins_no_other_build(cpu, site, engine):
    def say(line: str) -> None:
        if "building" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare_images({"a": cpu, "b": {**cpu, "openvino": "2025.4.1"}}, site, jobs=2, say=say)

    assert engine.builds == []


def test_an_interruption_of_venvs_comes_through(cpu, site):
    def say(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare_venvs({"a": cpu}, site, say=say)
