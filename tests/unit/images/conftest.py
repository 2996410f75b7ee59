"""A site with an index of tiny wheels, an engine that is a script, and a mmdebstrap that is another."""

import hashlib
import json
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from orchestrator.axes import image_id
from orchestrator.images import contents
from orchestrator.images.command import Commands
from orchestrator.images.lock import Lock
from orchestrator.images.locks import LockedBase, LockFile, lock_file
from orchestrator.images.recipe import checked
from orchestrator.images.resolve import Wheel
from orchestrator.settings import Site

DOCKER = r"""
import hashlib, json, os, sys
from pathlib import Path
state = Path(os.environ["FAKE_ENGINE"])
words = sys.argv[1:]
with (state / "calls.jsonl").open("a") as log:
    told = {"buildkit": os.environ.get("DOCKER_BUILDKIT"), "host": os.environ.get("DOCKER_HOST")}
    log.write(json.dumps({"client": sys.argv[0], "argv": words, **told}) + "\n")

def setting(name, default=""):
    file = state / name
    return file.read_text() if file.exists() else default

def die(message, code=1):
    print(message, file=sys.stderr)
    sys.exit(code)

def options(name):
    return [word.split("=", 1)[1] for word in words if word.startswith(f"--{name}=")]

def save(name, labels):
    image = {"Id": "sha256:" + hashlib.sha256(name.encode()).hexdigest(), "RepoTags": [name], "Size": 1,
             "Config": {"Labels": labels}}
    (state / "images" / image["Id"][7:]).write_text(json.dumps(image))

def images():
    return [json.loads(file.read_text()) for file in sorted((state / "images").iterdir())]

if words[0] == "--version":
    print(setting(f"version-{Path(sys.argv[0]).parent.name}", "Docker version 20.10.24+dfsg1, build 0"))
elif words[:2] == ["buildx", "version"]:
    sys.exit(0 if setting("buildx") else 1)
elif words[:2] == ["context", "show"]:
    print("default")
elif setting("down"):
    die("Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?")
elif words[0] == "version":
    print("20.10.24")
elif words[0] == "info":
    print(state)
elif words[:2] == ["image", "inspect"]:
    found = [image for image in images() if {image["Id"], *image["RepoTags"]} & set(words[2:])]
    if not found:
        die(f"Error: No such image: {words[2]}")
    print(json.dumps(found))
elif words[:2] == ["image", "ls"]:
    label = words[words.index("--filter") + 1].removeprefix("label=")
    print("\n".join(image["Id"] for image in images() if label in image["Config"]["Labels"]))
elif words[0] == "import":
    save(words[-1], dict(word[6:].split("=", 1) for word in words if word.startswith("LABEL ")))
elif words[0] == "tag":
    save(words[2], {})
elif words[0] == "pull":
    if setting("fail-pull"):
        die(setting("fail-pull"))
    save(words[-1], {})
elif "build" in words[:2]:
    tag, context = options("tag")[0], Path(words[-1])
    failing = setting("fail-build")
    if failing and failing.split("\n")[0] in tag:
        die(failing.split("\n", 1)[1])
    held = {str(file.relative_to(context)): file.stat().st_nlink for file in context.rglob("*") if file.is_file()}
    (state / "context.json").write_text(json.dumps(held))
    save(tag, dict(option.split("=", 1) for option in options("label")))
elif words[0] == "run":
    if setting("fail-run"):
        die(setting("fail-run"))
    only, python = setting("only-user"), setting("only-python")
    if python and options("entrypoint") != [python]:
        die("executable file not found in $PATH", 127)
    if only and options("user") != [only]:
        die("ModuleNotFoundError: No module named 'torch'")
    print("noise of a library")
    print(setting("observed"))
"""

MMDEBSTRAP = r"""
import os, sys, time
from pathlib import Path
state = Path(os.environ["FAKE_ENGINE"])
with (state / "bootstraps").open("a") as log:
    log.write(" ".join(sys.argv[1:]) + "\n")
failing = state / "fail-bootstrap"
if failing.exists():
    print(failing.read_text(), file=sys.stderr)
    sys.exit(25)
time.sleep(0.2)
next(Path(word) for word in sys.argv if word.endswith(".tar")).write_text("a root")
"""


class Engine:
    """The scripted engine: what it holds, what it was told, what it is to do wrong."""

    def __init__(self, state: Path, programs: Path) -> None:
        self.state, self.programs = state, programs
        (state / "images").mkdir(parents=True)
        self.client("docker", DOCKER)
        self.client("mmdebstrap", MMDEBSTRAP)
        self.observes({})

    def client(self, name: str, code: str, folder: str = "") -> Path:
        program = self.programs / folder / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!{sys.executable} -IS\n{code}")
        program.chmod(0o755)
        return program

    def set(self, name: str, value: str) -> None:
        (self.state / name).write_text(value)

    def observes(self, found: Mapping[str, str]) -> None:
        self.set("observed", contents.MARK + json.dumps(found))

    def calls(self, *first: str) -> list[Any]:
        file = self.state / "calls.jsonl"
        calls = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return [call for call in calls if call["argv"][: len(first)] == list(first)]

    @property
    def builds(self) -> list[str]:
        calls = [*self.calls("build"), *self.calls("buildx", "build")]
        return [word.removeprefix("--tag=") for call in calls for word in call["argv"] if word.startswith("--tag=")]

    @property
    def bootstraps(self) -> list[str]:
        file = self.state / "bootstraps"
        return file.read_text().splitlines() if file.exists() else []


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    programs = tmp_path / "programs"
    made = Engine(tmp_path / "engine", programs)
    monkeypatch.setenv("PATH", str(programs))  # and nothing else: no real engine is within reach
    monkeypatch.setenv("FAKE_ENGINE", str(made.state))
    return made


@pytest.fixture
def commands() -> Commands:
    return Commands()


def make_wheel(
    folder: Path, name: str, version: str, requires: tuple[str, ...] = (), files: Mapping[str, str] | None = None
) -> Path:
    """A wheel of a package that holds only the files that are given."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(
        f"Requires-Dist: {requirement}\n" for requirement in requires
    )
    held = {
        **(files or {}),
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{key},,\n" for key in held) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(path, "w") as archive:
        for key, text in {**held, f"{info}/RECORD": record}.items():
            archive.writestr(key, text)
    return path


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """The find-links folder: torch 2.13.0 and 2.14.1 for the CPU, and what goes beside them."""
    folder = tmp_path / "find-links"
    for version in ("2.13.0", "2.14.1"):
        make_wheel(
            folder,
            "torch",
            f"{version}+cpu",
            ("sympy",),
            {
                "torch/__init__.py": "from torch.version import __version__\nfrom torch import version\n",
                "torch/version.py": f"__version__ = '{version}+cpu'\ncuda = None\nhip = None\n",
            },
        )
    for name, version, requires in (
        ("sympy", "1.14.0", ()),
        ("numpy", "1.26.4", ()),
        ("numpy", "2.2.4", ()),
        ("numpy", "2.4.6", ()),
        ("packaging", "26.0", ()),
        ("pytest", "9.1.0", ("packaging",)),
        ("openvino", "2025.4.1", ("numpy<2.4", "packaging")),
        ("openvino", "2026.0.0", ("numpy", "packaging")),
        ("torchvision", "0.29.1", ("torch==2.14.1", "numpy")),
        ("onnxscript", "0.7.2", ("sympy<1.14",)),
        ("sympy", "1.13.0", ()),
    ):
        make_wheel(folder, name, version, requires)
    return folder


@pytest.fixture
def site(tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A site whose only source is the folder of wheels."""
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    (tmp_path / "no-index").mkdir()
    return Site(
        indexes={"": (tmp_path / "no-index").as_uri()},
        extra_indexes=(),
        find_links=(str(wheels),),
        ca_bundle="",
        apt_mirror="http://mirror.example/debian",
        bases={},
        packages=str(tmp_path / "packages"),
        proxies={},
        store=tmp_path / "store",
        cache=tmp_path / "cache",
        origins={},
    )


@pytest.fixture
def with_site(site: Site) -> Callable[..., Site]:
    """The site with some of its settings changed."""
    return lambda **changes: replace(site, **changes)


@pytest.fixture
def wheel_maker() -> Callable[..., Path]:
    return make_wheel


def locked_wheel(name: str, version: str, tags: str = "py3-none-any") -> Wheel:
    """A wheel by its name alone."""
    file = f"{name}-{version}-{tags}.whl"
    return Wheel(name=name, version=version, file=file, sha256=hashlib.sha256(file.encode()).hexdigest(), url="")


def fitting_lock(axes: Mapping[str, str]) -> LockFile:
    """A lock of wheels and of a base that are nowhere."""
    full = checked(axes)
    linux = "cp311-cp311-manylinux_2_28_x86_64"
    beside = (locked_wheel("openvino", axes["openvino"], linux),) if "openvino" in axes else ()
    held = Lock(
        torch=(locked_wheel("sympy", "1.14.0"), locked_wheel("torch", "2.13.0+cpu", linux)),
        companions=(locked_wheel("numpy", "2.4.6", linux), *beside),
        tools=(locked_wheel("pytest", "9.1.0"),),
    )
    include = ("python3", "ca-certificates", "g++", "libpython3-dev")
    base = LockedBase(
        name="debian12",
        suite="bookworm",
        architecture="amd64",
        release="12.15",
        date="2026-07-11",
        include=include,
        packages=("ca-certificates=1", "g++=4:12.2.0-3", "libpython3-dev=1", "python3=3.11.2-1+b1"),
    )
    return lock_file(image_id(full), full, base, held)


CPU = {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11"}
TRIXIE = {"torch": "2.6.0", "torch_build": "cpu", "torch_from": "distribution", "base": "debian13", "python": "3.13"}


@pytest.fixture
def cpu() -> dict[str, str]:
    return dict(CPU)


@pytest.fixture
def trixie() -> dict[str, str]:
    return dict(TRIXIE)


@pytest.fixture
def fitting(cpu: dict[str, str]) -> LockFile:
    """A lock of the CPU image that has all that is asked for, as `torchmatrix lock` would write it."""
    return fitting_lock(cpu)


@pytest.fixture
def lock_for() -> Callable[[Mapping[str, str]], LockFile]:
    """The same for other axes of that build."""
    return fitting_lock
