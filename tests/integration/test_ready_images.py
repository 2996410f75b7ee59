"""Images that are not ours, as teams have them, really run: what they say of how to run them does not steer the run."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tiny_command import command

from orchestrator.axes import image_axes, image_id
from orchestrator.images.prepare import prepare_images
from orchestrator.model import Image
from orchestrator.settings import load_site

ROOT = Path(__file__).resolve().parent.parent.parent
COMMAND = [sys.executable, "-c", "from orchestrator.cli import main; main()"]
CPU = {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11"}  # the row `cpu-eager`: other tests built it already
pytestmark = [pytest.mark.docker, pytest.mark.slow]

# Everything in an image's configuration that could make our run another one.
STEERED = """
ENV LD_PRELOAD=/evil.so LD_AUDIT=/evil.so PYTHONSTARTUP=/evil.py PYTHONPATH=/evil PYTHONHOME=/nowhere \
    BASH_ENV=/evil.sh PROMPT_COMMAND=/evil.sh PYTEST_ADDOPTS=--collect-only \
    PYTEST_PLUGINS=evil CUDA_VISIBLE_DEVICES=7 HOME=/nowhere \
    OPENSSL_CONF=/evil.cnf CUDA_INJECTION64_PATH=/evil.so HSA_TOOLS_LIB=/evil.so TORCHDYNAMO_DISABLE=1 \
    LD_LIBRARY_PATH=/usr/lib/vendor VENDOR_RELEASE=26.11 VENDOR_TOKEN=hunter2
VOLUME /data
ENTRYPOINT ["/bin/false"]
STOPSIGNAL SIGKILL
HEALTHCHECK --interval=1s CMD kill -9 1
SHELL ["/bin/false", "-c"]
USER 12345
"""
# As conda has it: the only Python with torch lies in an environment that nothing names, and there is no pytest.
CONDA = """
USER root
RUN python3 -m venv --without-pip --system-site-packages /opt/conda/envs/prod 2>/dev/null \
    || { mkdir -p /opt/conda/envs/prod/bin /opt/conda/envs/prod/lib/python3.11/site-packages; \
    ln -s /usr/bin/python3 /opt/conda/envs/prod/bin/python3; \
    printf 'home = /usr/bin\\nversion = 3.11\\n' > /opt/conda/envs/prod/pyvenv.cfg; }
RUN echo /opt/venv/lib/python3.11/site-packages > /opt/conda/envs/prod/lib/python3.11/site-packages/torch.pth
RUN cd /opt/venv/lib/python3.11/site-packages && rm -rf pytest* _pytest* pluggy* iniconfig* /opt/venv/bin
ENV PATH=/usr/local/bin:/usr/bin:/bin VIRTUAL_ENV=
"""
# Made for one user alone.
OWN_USER = """
USER root
RUN mkdir -p /home/app/env/bin /home/app/env/lib/python3.11/site-packages \
    && ln -s /usr/bin/python3 /home/app/env/bin/python3 \
    && printf 'home = /usr/bin\\nversion = 3.11\\n' > /home/app/env/pyvenv.cfg \
    && echo /opt/venv/lib/python3.11/site-packages > /home/app/env/lib/python3.11/site-packages/torch.pth \
    && rm -rf /opt/venv/bin && chown -R 12345:12346 /home/app && chmod 0700 /home/app
ENV PATH=/home/app/env/bin:/usr/bin:/bin VIRTUAL_ENV=
USER 12345:12346
"""


def docker(*words: str, stdin: str | None = None) -> str:
    environ = {**os.environ, "DOCKER_BUILDKIT": "0"}
    return subprocess.run(
        ["docker", *words], input=stdin, capture_output=True, text=True, check=True, env=environ, timeout=300
    ).stdout.strip()


def torchmatrix(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, cwd=cwd, check=False, timeout=1500)


# Enough of torch and pytest to be asked for them.
TINY_TORCH = """
RUN mkdir -p $SITE/torch $SITE/pytest-9.1.0.dist-info \
    && printf 'from torch import version\\nfrom torch.version import __version__\\n' > $SITE/torch/__init__.py \
    && printf '__version__ = "2.13.0+cpu"\\ncuda = None\\nhip = None\\n' > $SITE/torch/version.py \
    && printf 'Metadata-Version: 2.1\\nName: pytest\\nVersion: 9.1.0\\n' > $SITE/pytest-9.1.0.dist-info/METADATA
""".replace("$SITE", "/usr/lib/python3/dist-packages")
LEFT_OUT = {
    **dict.fromkeys(("LD_AUDIT", "OPENSSL_CONF", "CUDA_INJECTION64_PATH", "HSA_TOOLS_LIB"), "/evil"),
    **dict.fromkeys(("TORCHDYNAMO_DISABLE", "TRITON_INTERPRET", "NVIDIA_TF32_OVERRIDE", "OMP_NUM_THREADS"), "1"),
    "TORCH_LOGS": "+all",
}
KEPT = {"LD_LIBRARY_PATH": "/usr/lib/vendor", "CUDA_HOME": "/cuda", "TRITON_PTXAS_PATH": "/cuda/ptxas", "VENDOR": "x"}


def test_a_cell_sees_its_rows_variables_and_none_of_the_image_that_steers(python_image: str, tmp_path: Path) -> None:
    """By what the process in the container has, not by what we say that it has."""
    name = f"torchmatrix-test/steering:{uuid.uuid4().hex[:12]}"
    env = " ".join(f"{name}={value}" for name, value in {**LEFT_OUT, **KEPT}.items())
    docker("build", "--quiet", f"--tag={name}", "-", stdin=f"FROM {python_image}\nUSER root\n{TINY_TORCH}ENV {env}\n")
    try:
        found = docker("image", "inspect", "--format={{.Id}}", name)
        row = f"{{name: ready, image: '{found}', env: DOES=show CELL=0 OMP_NUM_THREADS=3 TORCHDYNAMO_DISABLE=0}}"
        (tmp_path / "matrix.yaml").write_text(
            f"version: 1\naxes: {{}}\nproduction: [{row}]\nlimits: {{memory: 1GiB}}\n"
        )
        cache = str(tmp_path / "cache")
        options = ("--matrix", tmp_path / "matrix.yaml", "--runs", tmp_path / "runs")
        process = command("run", *options, TORCHMATRIX_CACHE=cache)
        told = process.communicate(timeout=300)
        assert process.returncode == 0, told
    finally:
        docker("rmi", "--force", name)
    (log,) = tmp_path.glob("runs/*/cells/*/attempt-1/log.txt")
    seen = json.loads(log.read_text())
    assert {name: value for name, value in seen.items() if name in LEFT_OUT} == {
        "OMP_NUM_THREADS": "3",
        "TORCHDYNAMO_DISABLE": "0",
    }
    assert seen.items() >= KEPT.items()
    (gone,) = (line for line in relaxed(tmp_path, "ready").splitlines() if "left out" in line)
    assert set(gone.partition(": ")[2].split(", ")) == LEFT_OUT.keys()


@pytest.fixture(scope="module")
def ours(docker_engine: object) -> str:
    """The name of an image of ours with real torch."""
    axes = image_axes(CPU)
    (made,) = prepare_images({image_id(axes): axes}, load_site(os.environ), jobs=1, say=print).values()
    assert isinstance(made, Image), made
    return made.name


@pytest.fixture(scope="module")
def images(ours: str) -> Iterator[Mapping[str, str]]:
    """The ids of ready images by the names of their rows."""
    session = uuid.uuid4().hex[:12]
    label = f"LABEL org.torchmatrix.test={session} unique={session}\n"
    made = {
        name: docker(
            "build", "--quiet", f"--tag=torchmatrix-test/{name}:{session}", "-", stdin=f"FROM {ours}\n{text}{label}"
        )
        for name, text in {"conda": CONDA, "own-user": OWN_USER, "steered": STEERED}.items()
    }
    created = docker("create", made["steered"], "/bin/true")
    made["steered"] = docker(
        "commit", "--change=WORKDIR /proc/self/fd/7", created, f"torchmatrix-test/workdir:{session}"
    )
    docker("rm", "--volumes", created)
    yield made
    names = ("workdir", "conda", "own-user", "steered")
    docker("rmi", "--force", *(f"torchmatrix-test/{name}:{session}" for name in names))


@pytest.fixture(scope="module")
def folder(images: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a matrix of ready images, planned, asked about, run, and asked about again."""
    place = tmp_path_factory.mktemp("ready")
    rows = "".join(f"  - {{name: {name}, image: {ref}}}\n" for name, ref in images.items())
    gone = f"  - {{name: gone, image: 'sha256:{'0' * 64}'}}\n"
    (place / "matrix.yaml").write_text(f"version: 1\naxes: {{}}\nproduction:\n{rows}{gone}limits: {{memory: 4GiB}}\n")
    (place / "plan").write_text(torchmatrix("plan", "--json", cwd=place).stdout)
    done = torchmatrix("run", "--here", "--runs", "runs", cwd=place)
    (place / "out").write_text(f"{done.returncode}\n{done.stdout}{done.stderr}")
    return place


def cells(folder: Path) -> dict[str, Any]:
    (run,) = (folder / "runs").iterdir()
    return {cell["name"]: cell for cell in json.loads((run / "summary.json").read_text())["cells"]}


def relaxed(folder: Path, name: str) -> str:
    (run,) = (folder / "runs").iterdir()
    attempt = json.loads((run / "cells" / cells(folder)[name]["id"] / "attempt-1" / "attempt.json").read_text())
    return "\n".join(attempt["relaxed"])


@pytest.mark.parametrize("name", ["steered", "conda", "own-user"])
def test_the_suite_runs_in_each_and_what_is_inside_is_observed(folder: Path, name: str) -> None:
    cell = cells(folder)[name]
    assert (cell["status"], cell["reason"]) == ("passed", ""), (folder / "out").read_text()
    assert (cell["observed"]["torch"], cell["observed"]["torch_build"]) == ("2.13.0+cpu", "cpu")
    assert cell["observed"]["base"] == "debian12"
    assert cell["counts"]["passed"] > 10


def test_before_a_run_nothing_is_known_of_a_ready_image(folder: Path) -> None:
    planned = json.loads((folder / "plan").read_text())
    assert [cell["name"] for cell in planned["cells"]] == ["conda", "own-user", "steered", "gone"]
    for cell in planned["cells"]:
        assert cell["support"]["verdict"] == "unknown"
        assert "torch" not in cell["axes"]
        assert cell["placement"]["placed"]


def test_after_it_what_runs_saw_is_told(folder: Path, images: Mapping[str, str]) -> None:
    asked = torchmatrix("check", f"image={images['conda']}", "--json", "--runs", "runs", cwd=folder)
    answer = json.loads(asked.stdout)
    assert (asked.returncode, answer["verdict"]) == (3, "unknown")
    assert [seen["axes"]["torch"] for seen in answer["observed"]] == ["2.13.0+cpu"]


def test_what_an_image_says_of_how_to_run_it_is_left_aside_and_told(folder: Path) -> None:
    told = relaxed(folder, "steered")
    assert "the image's ENTRYPOINT is not run: /bin/false" in told
    assert "the image's VOLUMEs are empty and in memory: /data" in told
    assert "the image's LD_LIBRARY_PATH is kept: /usr/lib/vendor" in told
    (gone,) = (line for line in told.splitlines() if "left out" in line)
    for name in ("LD_PRELOAD", "LD_AUDIT", "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "BASH_ENV", "PROMPT_COMMAND",
                 "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "CUDA_VISIBLE_DEVICES", "OPENSSL_CONF", "CUDA_INJECTION64_PATH",
                 "HSA_TOOLS_LIB", "TORCHDYNAMO_DISABLE"):  # fmt: skip
        assert name in gone
    (kept,) = (line for line in told.splitlines() if "that are kept" in line)
    assert "VENDOR_RELEASE" in kept
    assert "hunter2" not in told
    assert "own user" not in told  # ours is enough


def test_the_report_shows_what_was_relaxed(folder: Path) -> None:
    (run,) = (folder / "runs").iterdir()
    page = (run / "report.html").read_text()
    assert "is kept: /usr/lib/vendor" in page
    assert "hunter2" not in page


def test_an_environment_that_nothing_names_is_found_and_pytest_is_brought(folder: Path) -> None:
    told = relaxed(folder, "conda")
    assert "brought beside the image: " in told
    assert "pytest" in told
    assert "own user" not in told


def test_an_image_for_one_user_alone_runs_as_that_user(folder: Path) -> None:
    told = relaxed(folder, "own-user")
    assert "runs as the image's own user 12345:12346 (12345:12346): torch cannot be imported as 10001:10001" in told
    assert "brought" not in told


def test_a_local_image_that_is_gone_is_an_error_of_its_own_row(folder: Path) -> None:
    cell = cells(folder)["gone"]
    assert cell["status"] == "error"
    assert "this engine has no image of the id sha256:000000000000" in cell["reason"]


def test_nothing_of_it_stays(folder: Path) -> None:
    (run,) = (folder / "runs").iterdir()
    assert docker("ps", "--all", "--quiet", f"--filter=label=org.torchmatrix.run={run.name}") == ""
    assert docker("volume", "ls", "--quiet", f"--filter=label=org.torchmatrix.run={run.name}") == ""
    assert docker("ps", "--all", "--quiet", "--filter=label=org.torchmatrix.observe=1") == ""
