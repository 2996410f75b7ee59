import os
from pathlib import Path

import pytest

from orchestrator.images.docker import Docker, Found
from orchestrator.images.failure import StageFailed
from orchestrator.images.ready import look, of_its_base, ready_image, volumes_of

IMAGE = f"sha256:{'ab' * 32}"
SEEN = {
    "torch": "2.13.0+cpu",
    "python": "3.11.2",
    "interpreter": "/opt/conda/bin/python3",
    "user": "10001:10001",
    "package pytest": "9.1.0",
}


def found(**changes) -> Found:
    return Found(**{"id": IMAGE, "names": (), "labels": {}, "size": 1, **changes})


def words(engine) -> list[str]:
    return engine.calls("run")[-1]["argv"]


def test_it_is_asked_as_our_user_and_without_what_would_steer_it(engine, site, commands):
    engine.observes(SEEN)
    image = found(env={"LD_PRELOAD": "/evil.so", "LANG": "C", "HOME": "/x"}, user="app", volumes=("/data", "/tmp"))
    seen = look(image, site, Docker(commands, {**os.environ, "LD_PRELOAD": ""}))

    assert seen == SEEN
    assert "--user=10001:10001" in words(engine)
    assert "--env=LD_PRELOAD" in words(engine)
    assert "--env=HOME=/tmp" in words(engine)
    assert "--mount=type=tmpfs,tmpfs-size=67108864,destination=/data" in words(engine)
    assert not any("destination=/tmp" in word for word in words(engine))
    assert look(image, site, Docker(commands, os.environ)) == seen
    assert len(engine.calls("run")) == 1


def test_no_try_waits_for_the_container_of_another(engine, site, commands):
    engine.set("only-user", "12345")
    engine.observes({**SEEN, "user": "12345:99"})
    look(found(user="12345"), site, Docker(commands, os.environ))
    runs = [call["argv"] for call in engine.calls("run")]
    names = {word for words in runs for word in words if word.startswith("--name=")}
    assert len(names) == len(runs) > 1


def test_as_its_own_user_only_where_ours_cannot_import_torch(engine, site, commands):
    engine.set("only-user", "12345")
    engine.observes({**SEEN, "user": "12345:99"})
    image = ready_image(
        "key", {"image": IMAGE}, found(user="12345"), site, Docker(commands, os.environ), commands, print
    )

    assert [word for call in engine.calls("run") for word in call["argv"] if word.startswith("--user=")] == [
        "--user=10001:10001",
        "--user=12345",
    ]
    assert image.ready.user == "12345:99"
    assert "runs as the image's own user 12345 (12345:99): torch cannot be imported as 10001:10001" in image.ready.notes


def test_an_image_does_not_become_another_user_by_saying_so(engine, site, commands):
    engine.observes({**SEEN, "user": "0:0"})

    assert look(found(), site, Docker(commands, os.environ))["user"] == "10001:10001"


@pytest.mark.parametrize("wrong", [{"user": "root"}, {"user": "0:0\n1"}, {"user": ""}, {"interpreter": "python"}])
def test_an_answer_in_no_form_that_can_be_is_refused(engine, site, commands, wrong):
    engine.set("only-user", "app")
    engine.observes({**SEEN, "user": "1:1", **wrong})
    with pytest.raises(StageFailed, match="cannot be read"):
        look(found(user="app"), site, Docker(commands, os.environ))


def test_each_python_is_tried_until_one_starts(engine, site, commands):
    engine.set("only-python", "/opt/conda/bin/python")
    engine.observes(SEEN)
    look(found(), site, Docker(commands, os.environ))

    assert words(engine)[words(engine).index(IMAGE) - 1] == "--entrypoint=/opt/conda/bin/python"


def test_an_image_without_python_says_so(engine, site, commands):
    engine.set("only-python", "none")
    with pytest.raises(StageFailed, match="no Python that user 0:0 can start"):
        look(found(), site, Docker(commands, os.environ))


def test_what_it_lacks_is_brought_and_told(engine, site, commands):
    engine.observes(
        {key: value for key, value in SEEN.items() if key != "package pytest"} | {"package packaging": "26.0"}
    )
    image = ready_image("key", {"image": IMAGE}, found(), site, Docker(commands, os.environ), commands, print)

    assert image.ready.notes[-1] == "brought beside the image: pytest 9.1.0"
    assert [path.name for path in Path(image.ready.tools).iterdir()] == ["pytest-9.1.0.dist-info"]
    assert image.observed == {"torch": "2.13.0+cpu", "python": "3.11.2"}


def test_without_an_index_that_has_it_the_reason_is_said(engine, with_site, commands, tmp_path):
    engine.observes({key: value for key, value in SEEN.items() if key != "package pytest"})
    site = with_site(find_links=())
    with pytest.raises(StageFailed, match="the image has no pytest, and none could be had for it"):
        ready_image("key", {"image": IMAGE}, found(), site, Docker(commands, os.environ), commands, print)


def test_what_a_pulled_base_says_does_not_steer_an_image_of_ours():
    ours = {
        "PATH": "/opt/venv/bin",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NVIDIA_VISIBLE_DEVICES": "all",
        "LD_LIBRARY_PATH": "/x",
    }
    assert of_its_base(found(env=ours)) is None

    ready = of_its_base(found(env={**ours, "LD_PRELOAD": "/evil.so", "PYTHONSTARTUP": "x"}, volumes=("/data",)))
    assert (ready.python, ready.user) == ("/opt/venv/bin/python", "10001:10001")
    assert (ready.unset, ready.volumes) == (("LD_PRELOAD", "PYTHONSTARTUP"), ("/data",))
    assert ready.notes == (
        "variables of the base that are left out: LD_PRELOAD, PYTHONSTARTUP",
        "the image's VOLUMEs are empty and in memory: /data",
    )


def test_volumes_that_we_mount_ourselves_are_not_mounted_twice():
    assert volumes_of(found(volumes=("/data", "/results", "/tmp/", "/opt/torchmatrix/tools"))) == ("/data",)
