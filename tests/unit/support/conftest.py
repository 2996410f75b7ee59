"""What the tests of this room share: facts of a few rows, device code and wheels, all made by hand."""

import struct
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.model import Answer
from orchestrator.support.check import Support
from orchestrator.support.facts import Facts, load_facts
from orchestrator.support.question import Question
from orchestrator.support.rows import Derivation, Device, FactsFile, Row, Rule, Source
from orchestrator.support.table import Finding, Table
from orchestrator.vocabulary import Evidence, RuleKind

SOURCES = {evidence.value: Source(text=f"by {evidence.value}", evidence=evidence) for evidence in Evidence}
SOURCES["doc"] = Source(text="a vendor's page", evidence=Evidence.VENDOR_DOC, as_of="2026-08-21")


def entry(kind: int, architecture: int, code: bytes = b"\1" * 40, header: int = 64) -> bytes:
    """One entry of a fatbin: 1 is PTX, 2 is machine code."""
    head = struct.pack("<HHIQIIHHI", kind, 0x101, header, len(code), 0, 0, 0, 0, architecture)
    return head.ljust(header, b"\0") + code


def fatbin(*entries: bytes) -> bytes:
    """A container of device code."""
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def bundle(*targets: str) -> bytes:
    """An offload bundle of HIP code."""
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(targets))
    for target in targets:
        head += struct.pack("<QQQ", 4096, 16, len(target)) + target.encode()
    return head


def elf(*parts: bytes, glibc: Sequence[str] = ()) -> bytes:
    """A file that looks like a shared library: a head, names of symbol versions, device code between other bytes."""
    names = b"\0".join(f"GLIBC_{version}".encode() for version in ("2.2.5", *glibc))
    return b"\x7fELF\2\1\1".ljust(64, b"\0") + b"\0" + names + b"\0" + b"".join(b"\xcc" * 13 + part for part in parts)


def wheel(folder: Path, name: str, metadata: str, files: Mapping[str, bytes] = {}, tag: str = "") -> Path:
    """A wheel with that METADATA and those files."""
    path = folder / name
    package = "-".join(name.split("-")[:2])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{package}.dist-info/METADATA", f"Metadata-Version: 2.1\n{metadata}\n")
        archive.writestr(f"{package}.dist-info/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n" if tag else "")
        for member, content in files.items():
            archive.writestr(member, content)
    return path


def torch_wheel(folder: Path, *, version: str = "2.99.0", cuda: str = "14.1") -> Path:
    """A torch wheel of a version and a build that nobody knows, with device code for two architectures and PTX."""
    code = fatbin(entry(2, 90), entry(2, 150), entry(1, 150))
    metadata = (
        f"Name: torch\nVersion: {version}\nRequires-Python: >=3.12.0\n"
        "Requires-Dist: filelock\n"
        'Requires-Dist: triton (==4.2.1) ; platform_system == "Linux"\n'
        "Requires-Dist: nvidia-nccl-cu14==2.40.3\n"
        "Requires-Dist: optree==1.0.0; extra == 'optree'\n"
    )
    local = f"cu{cuda.replace('.', '')}"
    files = {
        "torch/version.py": f"__version__ = '{version}+{local}'\ncuda: Optional[str] = '{cuda}'\nhip = None\n".encode(),
        "torch/lib/libtorch_cuda.so": elf(*[code] * 8, fatbin(entry(2, 75)), glibc=("2.17",)),
        "torch/lib/libc10.so": elf(glibc=("2.28", "2.3.4")),
        "torch/lib/libcublas.so.14": elf(fatbin(entry(2, 50)), glibc=("2.99",)),
    }
    name = f"torch-{version}-cp313-cp313t-manylinux_2_28_x86_64.whl"
    return wheel(folder, name, metadata, files, tag="cp313-cp313t-manylinux_2_28_x86_64")


@pytest.fixture
def make() -> SimpleNamespace:
    """The builders above."""
    return SimpleNamespace(entry=entry, fatbin=fatbin, bundle=bundle, elf=elf, wheel=wheel, torch_wheel=torch_wheel)


def row(when: Mapping[str, Any] | None = None, need: Mapping[str, Any] | None = None, **more: Any) -> Row:
    return Row(when=when or {}, need=need, **{"source": "doc", **more})


def rule(*rows: Row, **more: Any) -> Rule:
    given = {"name": "topic", "kind": RuleKind.INTERVAL, "rank": 40, "yes": "it fits", "no": "it does not fit"}
    return Rule(rows=rows, **{**given, **more})


def device(family: str, *patterns: str, **more: Any) -> Device:
    given = {"id": family.lower(), "vendor": "nvidia", "source": "doc"}
    return Device(family=family, patterns=patterns or (family,), **{**given, **more})


def derivation(when: Mapping[str, Any], gives: Mapping[str, str]) -> Derivation:
    return Derivation(when=when, gives=gives, source="doc")


def facts(*rules: Rule, **more: Any) -> Facts:
    return Facts(FactsFile(sources=SOURCES, rules=rules, **more))


def question(combination: Mapping[str, object] | None = None, /, **axes: object) -> Question:
    """A question of a world without facts: read, and completed by what follows from the form of its values."""
    return Support(facts()).question(combination or axes)


def findings(one: Rule, /, **axes: object) -> list[Finding]:
    """What one rule says of a question."""
    table = Table(one, {key: source.evidence for key, source in SOURCES.items()})
    asked = question(axes)
    return list(table.findings(asked)) if table.concerns(asked) else []


def answer(*rules: Rule, **axes: object) -> Answer:
    """The answer of a world of these rules alone."""
    return Support(facts(*rules)).answer(axes)


@pytest.fixture(scope="session")
def world() -> SimpleNamespace:
    """The makers of facts, questions and answers."""
    return SimpleNamespace(
        row=row,
        rule=rule,
        device=device,
        derivation=derivation,
        facts=facts,
        question=question,
        findings=findings,
        answer=answer,
        sources=SOURCES,
    )


@pytest.fixture(scope="session")
def real() -> Facts:
    """The facts as they are shipped."""
    return load_facts()
