"""The parsers of bytes that we did not write, each with seeds and the law that holds for whatever bytes come.

A target takes bytes and says whether they were taken or refused; it raises only what breaks its law: an exception that
is not ours, or an AssertionError that says which promise was broken.
"""

import io
import json
import tarfile
import zipfile
from pathlib import Path

import msgspec
from answer_targets import answers
from bundle_targets import AXES, CELL, PASSED, bundle_file, checksums, junit_cases, metric_rows
from fuzz_seeds import elf_seeds
from law import DATA, Target, ours
from lock_targets import lock_file
from measurement_targets import pairs, series

from orchestrator import axes, formats
from orchestrator.cli import asked
from orchestrator.engines.docker.collect import take_members
from orchestrator.engines.docker.frames import Frames
from orchestrator.engines.docker.tar import Malformed, TarStream
from orchestrator.engines.intake import FILE_BYTES, TOTAL_BYTES, Intake
from orchestrator.errors import InputError
from orchestrator.matrix import document, source
from orchestrator.model import Cost, Plan
from orchestrator.planning import observed
from orchestrator.results.merge import read_plan
from orchestrator.running import journal
from orchestrator.settings import load_site
from orchestrator.support import fatbins, wheel
from orchestrator.support.check import Support
from orchestrator.support.facts import load_facts
from orchestrator.support.facts_files import read_file
from orchestrator.vocabulary import Step

ROOT = Path(__file__).resolve().parents[2]
# --- what people write ------------------------------------------------------------------------------------------------


def matrix(_: Path) -> Target:
    small = (DATA / "matrix" / "small.yaml").read_bytes()
    parts = tuple(small[at : at + 700] for at in range(0, len(small), 500))
    least = b'version: 1\naxes: {torch: ["2.6.0"], torch_build: [cpu], python: ["3.11"]}\nproduction:\n'
    rows = (
        b"- {name: a, torch: 2.6.0, torch_build: cpu, python: '3.11'}\n- {name: b, image: sha256:" + b"0" * 64 + b"}\n"
    )
    rest = b"edge: {neighbours: [next]}\nlimits: {timeout: 1m}\nsecrets: {A: {env: A}}\n"
    bad = tuple(file.read_bytes()[:900] for file in sorted((DATA / "matrix" / "bad").glob("*.yaml")))

    def check(data: bytes) -> bool:
        def parse() -> None:
            found = document.read(source.decode(data, "m.yaml"), "m.yaml", DATA / "matrix")
            for row in found.production:
                for name, value in row.axes.items():
                    assert isinstance(value, str)
                    assert not axes.problem_with(axes.AXES[name], value) or axes.is_alias(axes.AXES[name], value), value

        return ours(parse)

    return Target(
        "matrix YAML", (small, least + rows, least + rows, least + rows + rest, *parts[1:3], *bad[::3]), check
    )


def site(folder: Path) -> Target:
    file = folder / "site.yaml"
    environ = {"TORCHMATRIX_SITE": str(file), "HOME": str(folder), "PIP_CONFIG_FILE": "/dev/null"}
    seeds = (
        b"indexes: {default: https://a.example/simple, cu130: https://b.example}\nca_bundle: /etc/ca.pem\n",
        b"extra_indexes: [https://a.example]\nproxies:\n  http: http://p:3128\nstore: ~/store\ncache: /c\n",
        b"bases: {debian12: sha256:" + b"a" * 64 + b"}\napt_mirror: http://m.example/debian\nfind_links: []\n",
    )

    def check(data: bytes) -> bool:
        file.write_bytes(data)
        return ours(lambda: load_site(environ))

    return Target("site YAML", seeds, check)


def overlay(folder: Path) -> Target:
    file = folder / "overlay.yaml"
    seeds = (
        (
            b"sources: {doc: {text: a page, as_of: '2026-08-21', evidence: vendor-doc}}\n"
            b"rules:\n- name: ours\n  kind: interval\n  rank: 40\n  'yes': it fits\n  'no': it does not\n"
            b"  rows: [{when: {torch: '>=2.14'}, need: {python: '>=3.12'}, source: doc}]\n"
        ),
        (
            b"sources: {d: {text: a, evidence: measured}}\n"
            b"devices: [{id: h1, vendor: nvidia, family: H100, patterns: ['h100.*'], source: d}]\n"
            b"derivations: [{when: {gpu: H100}, gives: {gpu_arch: sm_90}, source: d}]\n"
        ),
        (ROOT / "orchestrator/support/facts/platforms.yaml").read_bytes(),
    )

    def check(data: bytes) -> bool:
        file.write_bytes(data)
        return ours(lambda: read_file(file))

    return Target("facts overlay", seeds, check)


def batch(_: Path) -> Target:
    support = Support(load_facts())
    seeds = (
        b'{"torch": "2.13.0", "torch_build": "cu130", "driver": "570.86.15", "gpu": "H100"}',
        b'{"torch": 2.10, "python": 3.14, "scope": ["torch.compile"], "env": {"CUDA_VISIBLE_DEVICES": "0"}}',
        b'{"gpu": "2x NVIDIA H100 80GB", "base": "ubuntu24.04", "torch_arch_list": "8.0 9.0+PTX", "nccl": "2.27.3"}',
        b'{"torch": ["2.6.0", "2.13.0"], "openvino": "2026.0.0", "os": "windows", "driver": ">=570.26"}',
        b'{"image": "nvcr.io/x@sha256:' + b"0" * 64 + b'", "driver": "any", "cuda_compat": "13.0"}',
    )
    verdicts = {"supported", "degraded", "unsupported", "unknown"}

    def check(data: bytes) -> bool:
        taken = False
        for line in asked.lines(io.BytesIO(data)):
            try:
                answer = support.answer(asked.combination(line), nearest=False)
            except InputError:
                continue
            said = json.loads(msgspec.json.encode(answer))
            assert said["verdict"] in verdicts
            assert said["verdict"] == "unknown" or said["reasons"], "a verdict without a reason"
            taken = True
        return taken

    return Target("check --batch", seeds, check)


# --- what we wrote ourselves, and anybody may have changed ------------------------------------------------------------


def plan_file(folder: Path) -> Target:
    cost = Cost(cells=1, placed=1, unplaced=0, images=1, minutes=1, gpu_hours=0, money=0, build_bytes=0)
    seed = msgspec.json.format(msgspec.json.encode(Plan(matrix="m", cells=(CELL,), left_out=(), cost=cost)), indent=1)
    file = folder / "plan.json"

    def check(data: bytes) -> bool:
        file.write_bytes(data)

        def parse() -> None:
            ids = [cell.id for cell in read_plan(file).cells]
            assert len(ids) == len(set(ids))
            assert not any("/" in name or name in {"", ".", ".."} for name in ids), ids

        return ours(parse)

    return Target("plan.json", (seed,), check)


def summary_file(folder: Path) -> Target:
    run = folder / "20261129-1"
    run.mkdir(exist_ok=True)
    counts = {"passed": 1, "failed": 0, "error": 0, "skipped": 0, "known": 0}
    cell = {
        "id": "c1",
        "name": "c1",
        "tier": "production",
        "status": "passed",
        "cause": "none",
        "reason": "",
        "notes": [],
    }
    cell |= {"known_issue": "", "requested": AXES, "observed": {"torch": "2.13.0+cpu"}, "counts": counts, "attempts": 1}
    whole = {"complete": True, "planned": 1, "totals": {"passed": 1}, "cells": [cell], "left_out": [], "notes": []}

    def check(data: bytes) -> bool:
        (run / formats.SUMMARY).write_bytes(data)
        seen, notes = observed.read(folder)
        assert len(seen) or notes or b'"cells"' in data or data.strip() == b"", "neither read nor said"
        for one in seen.of({"torch": "2.13.0"}):
            assert all("\n" not in value and "\x1b" not in value for value in one.axes.values())
        return bool(len(seen))

    return Target("summary.json", (json.dumps(whole).encode(), json.dumps(whole, indent=1).encode()), check)


def journal_lines(folder: Path) -> Target:
    with journal.opened(folder, {}) as log:
        for step in (Step.CREATE, Step.START, Step.WAIT, Step.COLLECT, Step.REMOVE, Step.COMMIT):
            with log.step(step, cell="c1", attempt=1, detail="said"):
                pass
    whole = (folder / "journal.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)

    def check(data: bytes) -> bool:
        def parse() -> None:
            found, size = journal.parse(data, "journal.jsonl")
            assert [line.seq for line in found] == list(range(1, len(found) + 1))
            assert data[:size].count(b"\n") == len(found)
            assert set(data[:size].splitlines(keepends=True)) <= set(lines), "a line is believed that nobody wrote"
            journal.unended(found)

        return ours(parse)

    return Target("journal", (whole, b"".join(lines[:3])), check)


# --- what engines and packages send -----------------------------------------------------------------------------------


def archive(folder: Path) -> Target:
    out = folder / "taken"
    out.mkdir(exist_ok=True)
    kinds = {"junit.xml": tarfile.REGTYPE, "metrics.jsonl": tarfile.FIFOTYPE, "cell.json": tarfile.SYMTYPE}
    seeds = []
    for form in (tarfile.USTAR_FORMAT, tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        held = io.BytesIO()
        with tarfile.open(fileobj=held, mode="w", format=form) as tar:
            for name, kind in {"out": tarfile.DIRTYPE, **{f"out/{name}": kind for name, kind in kinds.items()}}.items():
                entry = tarfile.TarInfo(name)
                entry.type, entry.size, entry.linkname = kind, 5 * (kind == tarfile.REGTYPE), "/etc/passwd"
                tar.addfile(entry, io.BytesIO(b"bytes"))
            long = tarfile.TarInfo(f"out/{'x' * 90}/{'y' * 60}")
            tar.addfile(long)
            last = tarfile.TarInfo("out/progress.jsonl")
            last.size = 700
            tar.addfile(last, io.BytesIO(b"p" * 700))
        seeds.append(held.getvalue()[: 14 * 512])

    def check(data: bytes) -> bool:
        for file in out.iterdir():
            file.unlink()
        intake = Intake(out)
        try:
            whole = take_members(TarStream(io.BytesIO(data)), intake, skip_bytes=1 << 20)
        except Malformed:
            whole = False
        found = {file.name: file.lstat() for file in out.iterdir()}
        assert set(found) == set(intake.files) <= set(formats.BUNDLE_FILES), found
        assert not any(file.is_symlink() for file in out.iterdir())
        assert max([0, *(each.st_size for each in found.values())]) <= FILE_BYTES
        assert sum(each.st_size for each in found.values()) <= min(TOTAL_BYTES, len(data))
        return whole

    return Target("tar stream", tuple(seeds), check)


def frames(_: Path) -> Target:
    def check(data: bytes) -> bool:
        whole = b"".join(Frames().payloads(data))
        cut = Frames()
        parts = b"".join(piece for at in range(0, len(data), 5) for piece in cut.payloads(data[at : at + 5]))
        assert whole == parts, "what is read depends on how it is cut"
        assert len(whole) <= len(data)
        return bool(whole)

    def frame(number: int, said: bytes) -> bytes:
        return bytes([number, 0, 0, 0]) + len(said).to_bytes(4, "big") + said

    return Target(
        "docker frames", (frame(1, b"out\n") + frame(2, b"err\n"), frame(1, b"x" * 300), frame(1, b"")), check
    )


def library(_: Path) -> Target:
    def check(data: bytes) -> bool:
        def parse() -> None:
            code = fatbins.read(io.BytesIO(data))
            assert code.containers >= 0
            assert sum(code.found.values()) <= code.containers * 4096

        return ours(parse)

    return Target("ELF in a wheel", elf_seeds(), check)


def wheel_file(folder: Path) -> Target:
    file = folder / "torch-2.99.0-cp313-cp313-manylinux_2_28_x86_64.whl"
    seeds = []
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", method) as made:
            info = "torch-2.99.0.dist-info"
            made.writestr(
                f"{info}/METADATA",
                "Metadata-Version: 2.1\nName: torch\nVersion: 2.99.0\nRequires-Dist: triton (==4.2.1)\n",
            )
            made.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: cp313-cp313-manylinux_2_28_x86_64\n")
            made.writestr("torch/version.py", "__version__ = '2.99.0+cu141'\ncuda: Optional[str] = '14.1'\n")
            made.writestr("torch/lib/libtorch_cuda.so", elf_seeds()[0])
        seeds.append(held.getvalue())

    def check(data: bytes) -> bool:
        file.write_bytes(data)
        return ours(lambda: wheel.read(file))

    return Target("wheel", tuple(seeds), check)


def targets(folder: Path) -> tuple[Target, ...]:
    """Every target; each may write below the folder."""

    def own(name: str) -> Path:
        place = folder / name
        place.mkdir(exist_ok=True)
        return place

    return (
        matrix(own("matrix")),
        site(own("site")),
        overlay(own("overlay")),
        batch(folder),
        pairs(),
        series(),
        *(bundle_file(own(name.replace(".", "-")), name) for name in PASSED),
        checksums(own("sums")),
        junit_cases(folder),
        metric_rows(folder),
        lock_file(own("locks")),
        plan_file(own("plan")),
        summary_file(own("runs")),
        journal_lines(own("journal")),
        archive(own("tar")),
        frames(folder),
        library(folder),
        wheel_file(own("wheel")),
        *answers(own),
    )
