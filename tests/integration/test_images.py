"""Images really built and asked: BuildKit on the engine that is there, tiny wheels for torch, a bare base."""

import json
import os
import subprocess
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from orchestrator.axes import image_axes, image_id
from orchestrator.images.bases import find_base
from orchestrator.images.failure import BuildFailure
from orchestrator.images.prepare import prepare_images
from orchestrator.model import Image
from orchestrator.settings import Site

pytestmark = pytest.mark.docker

CPU = {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11"}
GOOD = "from torch import version\nfrom torch.version import __version__\n"


def docker(*words: str, stdin: str | None = None) -> str:
    environ = {**os.environ, "DOCKER_BUILDKIT": "0"}
    return subprocess.run(
        ["docker", *words], input=stdin, capture_output=True, text=True, check=True, env=environ, timeout=120
    ).stdout.strip()


def wheel(folder: Path, name: str, version: str, files: Mapping[str, str], requires: str = "") -> None:
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + (
        f"Requires-Dist: {requires}\n" if requires else ""
    )
    held = {
        **files,
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, content in held.items():
            archive.writestr(path, content)
        archive.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in [*held, f"{info}/RECORD"]))


def torch(folder: Path, version: str, code: str = GOOD, cuda: str = "None") -> None:
    said = f"__version__ = '{version}'\ncuda = {cuda}\nhip = None\n"
    wheel(folder, "torch", version, {"torch/__init__.py": code, "torch/version.py": said})


@pytest.fixture(scope="module")
def bare(python_image: str) -> Iterator[str]:
    """The id of an image that has Python and no environment yet."""
    session = uuid.uuid4().hex[:12]
    name = f"torchmatrix-test/bare:{session}"
    text = f"FROM {python_image}\nUSER root\nLABEL org.torchmatrix.test={session}\nRUN rm -rf /opt/venv\n"
    docker("build", "--quiet", f"--tag={name}", "-", stdin=text)
    found = docker("image", "inspect", "--format={{.Id}}", name)
    yield found
    docker("rmi", name, f"torchmatrix/base-debian12:{found[7:19]}")


@pytest.fixture
def site(bare: str, tmp_path: Path) -> Iterator[Site]:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    unique = uuid.uuid4().hex  # so that no other test's image is found by its recipe
    wheel(wheels, "numpy", "2.4.6", {"numpy.py": "", "unique.txt": unique})
    wheel(wheels, "pytest", "9.1.0", {"pytest.py": ""})
    wheel(wheels, "openvino", "2025.4.1", {"openvino.py": ""}, requires="numpy")
    torch(wheels, "2.13.0+cpu", GOOD + f"# {unique}\n")
    (tmp_path / "index").mkdir()
    yield Site(
        indexes={"": (tmp_path / "index").as_uri()},
        extra_indexes=(),
        find_links=(str(wheels),),
        ca_bundle="",
        apt_mirror="",
        bases={"debian12": bare},
        packages=str(tmp_path / "packages"),
        proxies={},
        store=tmp_path / "store",
        cache=tmp_path / "cache",
        origins={},
    )
    key = find_base(image_axes(CPU), {"debian12": bare}).key
    for image in docker("image", "ls", "--quiet", f"--filter=label=org.torchmatrix.base={key}").split():
        docker("rmi", image)


def prepare(site: Site, *axes: Mapping[str, str]) -> tuple[list[Image | BuildFailure], list[str]]:
    said: list[str] = []
    made = list(prepare_images({image_id(each): each for each in axes}, site, jobs=2, say=said.append).values())
    return made, said


def inspect(image: Image) -> dict:
    return json.loads(docker("image", "inspect", image.ref))[0]


def test_images_are_built_without_network_share_torchs_layer_and_are_not_built_again(site):
    (plain, beside), said = prepare(site, CPU, {**CPU, "openvino": "2025.4.1"})
    assert isinstance(plain, Image), plain
    assert isinstance(beside, Image), beside

    # base, environment and torch are the same layers; what stands beside torch is not
    one, other = (inspect(image)["RootFS"]["Layers"] for image in (plain, beside))
    shared = [a for a, b in zip(one, other, strict=False) if a == b]
    assert len(one) - len(shared) == 2

    assert (plain.observed["torch"], plain.observed["torch_build"]) == ("2.13.0+cpu", "cpu")
    assert (beside.observed["openvino"], beside.observed["numpy"]) == ("2025.4.1", "2.4.6")
    assert plain.observed["base"] == "debian12"
    assert any("building" in line for line in said)

    again, said_again = prepare(site, CPU, {**CPU, "openvino": "2025.4.1"})
    assert again == [plain, beside]
    assert said_again == []


def test_an_image_is_ready_for_a_user_without_rights(site):
    (image,), _ = prepare(site, CPU)
    facts = inspect(image)

    assert facts["Config"]["User"] == "10001:10001"
    assert facts["Config"]["Cmd"] == ["/opt/venv/bin/python"]
    assert json.loads(facts["Config"]["Labels"]["org.torchmatrix.axes"])["torch"] == "2.13.0"
    run = ("run", "--rm", "--network=none", "--read-only", "--user=4711:4711", image.ref)
    listed = docker(*run, "python", "-c", "import torch, os; print(torch.__cached__, os.path.exists(torch.__cached__))")
    assert listed.endswith(".pyc True")
    assert docker(*run, "python", "-c", "import os; print(os.path.exists('/tools/uv'))") == "False"


def test_a_torch_that_cannot_be_imported_is_a_failure_with_its_words(site, tmp_path):
    torch(tmp_path / "wheels", "2.12.0+cpu", "raise ImportError('libgomp.so.1: cannot open shared object file')")
    (broken, good), _ = prepare(site, {**CPU, "torch": "2.12.0"}, CPU)

    assert isinstance(broken, BuildFailure)
    assert (broken.stage, broken.cause) == ("observe", "missing library")
    assert "libgomp.so.1" in broken.log_tail
    assert isinstance(good, Image)


def test_a_compatibility_package_comes_before_the_hosts_driver(site, tmp_path):
    torch(tmp_path / "wheels", "2.13.0+cu130", GOOD, cuda="'13.0'")
    root = tmp_path / "deb"
    library = root / "usr/local/cuda-13.0/compat/libcuda.so.1"
    library.parent.mkdir(parents=True)
    library.write_text("a library")
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN/control").write_text(
        "Package: cuda-compat-13-0\nVersion: 580.95.05\nArchitecture: amd64\nMaintainer: a <a@b.c>\nDescription: t\n"
    )
    packages = tmp_path / "packages/cuda_compat/580.95.05"
    packages.mkdir(parents=True)
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", root, packages / "compat.deb"], check=True, timeout=60)
    (image,), _ = prepare(site, {**CPU, "torch_build": "cu130", "cuda_compat": "580.95.05"})

    assert isinstance(image, Image), image
    environment = dict(pair.split("=", 1) for pair in inspect(image)["Config"]["Env"])
    assert environment["LD_LIBRARY_PATH"] == "/opt/cuda_compat/lib"
    assert environment["NVIDIA_VISIBLE_DEVICES"] == "all"
    assert image.observed["torch_build"] == "cu130"


def test_a_template_that_does_not_build_fails_its_image_with_the_engines_words(site, tmp_path):
    (tmp_path / "packages/cuda_compat/1.0").mkdir(parents=True)
    (tmp_path / "packages/cuda_compat/1.0/bad.deb").write_text("not a package")
    torch(tmp_path / "wheels", "2.13.0+cu130", GOOD, cuda="'13.0'")
    (failed,), _ = prepare(site, {**CPU, "torch_build": "cu130", "cuda_compat": "1.0"})

    assert isinstance(failed, BuildFailure)
    assert failed.stage == "build"
    assert "dpkg-deb: error" in failed.log_tail
