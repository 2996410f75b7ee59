import os
from pathlib import Path

import pytest

from orchestrator.engines.docker.connection import DEFAULT_HOST
from orchestrator.errors import InfrastructureError
from orchestrator.images.command import Finished
from orchestrator.images.docker import Docker, Found
from orchestrator.images.failure import Stage, StageFailed
from orchestrator.vocabulary import Cause


@pytest.fixture
def docker(engine, commands):
    return Docker(commands, os.environ)


@pytest.fixture
def context(tmp_path: Path) -> Path:
    (tmp_path / "context").mkdir()
    return tmp_path / "context"


def build(docker: Docker, context: Path) -> None:
    docker.build(context, "Containerfile", "name:1", {"a": "b"}, 60)


def test_buildkit_is_reached_through_buildx_where_it_is(docker, engine, context):
    engine.set("buildx", "yes")
    build(docker, context)

    (call,) = engine.calls("buildx", "build")
    assert {"--builder=default", "--load", "--network=none", "--label=a=b"} <= set(call["argv"])


@pytest.mark.parametrize(
    ("told", "host"), [({}, DEFAULT_HOST), ({"DOCKER_HOST": "tcp://127.0.0.1:2375"}, "tcp://127.0.0.1:2375")]
)
def test_images_are_made_in_the_engine_that_runs_the_cells(engine, commands, told, host):
    environ = {name: value for name, value in os.environ.items() if name != "DOCKER_HOST"}
    Docker(commands, {**environ, **told}).answers()

    assert {call["host"] for call in engine.calls()} == {host}


def test_an_old_client_is_asked_for_buildkit(docker, engine, context):
    build(docker, context)

    (call,) = engine.calls("build")
    assert call["buildkit"] == "1"
    assert "--network=none" in call["argv"]


def second_client(engine, monkeypatch, version: str) -> Path:
    """A docker client before the first one on PATH."""
    client = engine.client("docker", (engine.programs / "docker").read_text().split("\n", 1)[1], "local")
    engine.set("version-local", f"Docker version {version}, build 0")
    monkeypatch.setenv("PATH", f"{client.parent}{os.pathsep}{os.environ['PATH']}")
    return client


def test_a_newer_client_without_buildx_is_passed_over_for_an_older_one(engine, commands, context, monkeypatch):
    newer = second_client(engine, monkeypatch, "28.2.2")
    docker = Docker(commands, os.environ)
    build(docker, context)

    assert docker.inspect("name:1")
    assert {call["client"] for call in engine.calls("build")} == {str(engine.programs / "docker")}
    assert {call["client"] for call in engine.calls("image", "inspect")} == {str(newer)}


def test_without_a_client_that_speaks_buildkit_each_is_named_with_the_reason(engine, commands, context, monkeypatch):
    client = second_client(engine, monkeypatch, "28.2.2")
    monkeypatch.setenv("PATH", str(client.parent))

    with pytest.raises(StageFailed) as caught:
        build(Docker(commands, os.environ), context)

    assert caught.value.stage is Stage.BUILD
    assert caught.value.why is Cause.ENGINE
    assert f"{client} 28 has no buildx plugin" in caught.value.fact
    assert "docker-buildx" in caught.value.hint


def test_one_client_under_two_names_is_asked_once(engine, commands, monkeypatch, context):
    (engine.programs / "again").mkdir()
    (engine.programs / "again/docker").symlink_to(engine.programs / "docker")
    monkeypatch.setenv("PATH", f"{engine.programs / 'again'}{os.pathsep}{os.environ['PATH']}")
    engine.set("version-again", "Docker version 28.2.2, build 0")
    engine.set("version-programs", "Docker version 28.2.2, build 0")

    with pytest.raises(StageFailed) as caught:
        build(Docker(commands, os.environ), context)

    assert caught.value.fact.count("has no buildx plugin") == 1


def test_no_client_at_all_says_what_to_install(commands, tmp_path):
    with pytest.raises(InfrastructureError, match="no docker client is on PATH") as caught:
        Docker(commands, {"PATH": str(tmp_path)}).answers()

    assert caught.value.hint == "apt-get install -y docker.io"


def test_an_engine_that_is_down_is_said_in_its_own_words(docker, engine):
    engine.set("down", "yes")

    with pytest.raises(InfrastructureError, match="no docker engine answers") as caught:
        docker.answers()
    assert "Cannot connect to the Docker daemon" in caught.value.cause
    with pytest.raises(StageFailed) as failed:
        docker.inspect("name:1")
    assert failed.value.why is Cause.ENGINE


def test_an_image_that_is_not_there_is_none(docker, engine):
    engine.set("down", "")

    assert docker.inspect("name:1") is None


@pytest.mark.parametrize(
    "told",
    [
        *(
            "",
            "[]",
            "{}",
            "[1]",
            "null",
            '[{"Version": "20"}]',
            '[{"Id": "x", "Config": null}]',
            "[" * 5000 + "]" * 5000,
        ),
        '[{"Id": "x", "Config": {}, "Size": null}]',
        '[{"Id": "x", "Config": {"Env": [1]}, "Size": 1}]',
    ],
)
def test_an_engine_that_tells_of_an_image_in_another_form_is_no_bug_of_ours(docker, engine, monkeypatch, told):
    answer = Finished(code=0, out=told, err="")
    monkeypatch.setattr(docker._commands, "run", lambda *_, **__: answer)

    with pytest.raises(InfrastructureError, match="in a form that is not known"):
        docker.inspect("name:1")


def test_an_image_that_asks_for_nothing_is_found(docker, engine, monkeypatch):
    for config in ("null", "{}", '{"Labels": null, "Env": null, "User": null, "Entrypoint": null, "Volumes": null}'):
        answer = Finished(code=0, out=f'[{{"Id": "x", "RepoTags": null, "Config": {config}, "Size": 1}}]', err="")
        monkeypatch.setattr(docker._commands, "run", lambda *_, answer=answer, **__: answer)
        assert docker.inspect("name:1") == Found(id="x", names=(), labels={}, size=1)


def test_a_question_to_an_image_is_asked_without_network_or_rights(docker, engine):
    engine.set("observed", "answer")
    done = docker.ask("image:1", ("/opt/venv/bin/python", "-c", "code"), "asked", 60)

    (call,) = engine.calls("run")
    assert "answer" in done.out
    assert {"--rm", "--network=none", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"} <= set(
        call["argv"]
    )
    assert call["argv"][-4:] == ["--entrypoint=/opt/venv/bin/python", "image:1", "-c", "code"]


def test_a_question_that_takes_too_long_leaves_no_container(docker, engine):
    engine.client("docker", "import sys, time\nif sys.argv[1] == 'run': time.sleep(60)\nprint(sys.argv)")
    done = docker.ask("image:1", ("python", "-c", "code"), "asked", 0.1)

    assert done.timed_out


def test_a_build_that_takes_too_long_is_ended_and_said(docker, engine, context):
    engine.client(
        "docker",
        "import sys, time\nif sys.argv[1] == '--version': print('Docker version 20.10.24')\n"
        "elif sys.argv[1] == 'build': print('#7 0.1 downloading', flush=True); time.sleep(60)\nelse: sys.exit(1)",
    )
    with pytest.raises(StageFailed, match="took over 1 s") as caught:
        docker.build(context, "Containerfile", "name:1", {}, 1.0)

    assert "#7 0.1 downloading" in caught.value.log


def test_where_the_engine_keeps_images_is_known_when_it_is_here(docker, engine):
    assert docker.root_dir() == engine.state
    engine.client("docker", "print('/nonexistent/elsewhere')")
    assert docker.root_dir() is None


@pytest.mark.parametrize("call", ["import_root", "tag"])
def test_what_the_engine_refuses_is_told(docker, engine, call, tmp_path):
    engine.set("down", "yes")
    arguments = {"import_root": (tmp_path, "a:1", {}), "tag": ("a", "b:1")}[call]

    with pytest.raises(InfrastructureError, match="could not"):
        getattr(docker, call)(*arguments)
