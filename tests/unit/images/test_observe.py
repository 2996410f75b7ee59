import json
import os

import pytest

from orchestrator.engines.owner import this_process
from orchestrator.images.command import Finished
from orchestrator.images.contents import MARK
from orchestrator.images.docker import Docker
from orchestrator.images.failure import Stage, StageFailed
from orchestrator.images.observe import axes_in, observe_image, question, read_found
from orchestrator.vocabulary import Cause

IMAGE = f"sha256:{'ab' * 32}"


def answer(out: str, err: str = "", *, timed_out: bool = False, code: int = 0) -> Finished:
    return Finished(code=code, out=out, err=err, timed_out=timed_out)


def test_an_image_is_asked_once(engine, site, commands):
    engine.observes({"torch": "2.13.0+cpu", "package openvino": "2025.4.1"})
    docker = Docker(commands, os.environ)
    first = observe_image(IMAGE, "python", site, docker)

    assert first == {"torch": "2.13.0+cpu", "openvino": "2025.4.1"}
    assert observe_image(IMAGE, "python", site, docker) == first
    assert len(engine.calls("run")) == 1


def test_each_container_that_asks_has_its_own_name_and_is_known_by_its_label(engine, site, commands):
    engine.observes({"torch": "2.13.0+cpu"})
    for python in ("python", "python3"):
        observe_image(IMAGE, python, site, Docker(commands, os.environ))
    runs = [call["argv"] for call in engine.calls("run")]
    names = [word for words in runs for word in words if word.startswith("--name=torchmatrix-observe-abababababab-")]
    assert len(set(names)) == 2
    assert all("--label=org.torchmatrix.observe=1" in words for words in runs)
    assert all(f"--label=org.torchmatrix.owner={this_process()}" in words for words in runs)


def test_the_question_names_every_package_that_has_an_axis():
    assert {"numpy", "intel-extension-for-pytorch", "torch-tensorrt"} <= set(question("python")[3:])


def test_the_answer_is_text_that_we_did_not_write():
    found = {
        "torch": "2.13.0\x1b[31m\nevil",
        "python": 3,
        "no_axis": "x",
        "package unknown": "1",
        "base": "",
        "glibc": "9" * 500,
    }
    read = read_found(answer(f"noise\n{MARK}{json.dumps(found)}\n"))

    assert read["torch"] == "2.13.0 evil"
    assert set(axes_in(read)) == {"torch", "glibc"}
    assert len(read["glibc"]) == 400


@pytest.mark.parametrize("line", ["{", "[]", '"text"', "1", '{"torch": ' + "[" * 5000 + "]" * 5000 + "}"])
def test_an_answer_that_cannot_be_read_is_a_failure(line):
    with pytest.raises(StageFailed, match="the image's answer cannot be read"):
        read_found(answer(MARK + line))


@pytest.mark.parametrize(
    ("log", "cause"),
    [
        ("ModuleNotFoundError: No module named 'torch'", Cause.MISSING_PACKAGE),
        ("ImportError: libcudart.so.13: cannot open shared object file", Cause.MISSING_LIBRARY),
        ("AttributeError: x", Cause.BUILD),
    ],
)
def test_a_torch_that_cannot_be_imported_is_a_failure_with_its_cause(log, cause):
    with pytest.raises(StageFailed, match="torch cannot be imported") as caught:
        read_found(answer("", log))

    assert (caught.value.stage, caught.value.why, caught.value.log) == (Stage.OBSERVE, cause, log)


@pytest.mark.parametrize(
    ("code", "log", "cause"),
    [
        (127, 'exec: "python3": executable file not found in $PATH', Cause.BUILD),
        (125, "Cannot connect to the Docker daemon", Cause.ENGINE),
    ],
)
def test_an_image_without_the_interpreter_is_told_apart_from_a_torch_that_fails(code, log, cause):
    with pytest.raises(StageFailed, match="Python could not be started") as caught:
        read_found(answer("", log, code=code))

    assert caught.value.why is cause


def test_an_image_that_does_not_answer_is_a_hang():
    with pytest.raises(StageFailed, match="did not say in time") as caught:
        read_found(answer("", timed_out=True))

    assert caught.value.why is Cause.HANG
