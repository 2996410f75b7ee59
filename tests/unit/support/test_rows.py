"""The shipped facts: fresh, each with its source, each of a form that can be asked."""

import re
import runpy
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from orchestrator.axes import AXES
from orchestrator.support import conditions, written
from orchestrator.support.axes import is_version
from orchestrator.support.facts import COMPILED, FOLDER, Facts
from orchestrator.support.facts_files import read_file
from orchestrator.support.rows import Conditions, FactsFile, Row

GENERATOR = Path(__file__).parents[2] / "generate_facts.py"
FILES = sorted(FOLDER.glob("*.yaml"))
SLOT = re.compile(r"\{([^{}]*)\}")
DAY = re.compile(r"20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
DATE = re.compile(r"20\d\d(-(0[1-9]|1[0-2]))?|" + DAY.pattern)
# What never changes needs no day: a commit, a tag, a release branch, a thread.
FIXED = re.compile(r"@ [0-9a-f]{7,40}\b|#\d+|\bbranch(es)? release/|\bv?\d+\.\d+\b")
# What follows from other axes by code or by a derivation, and is no axis that anybody states.
FOLLOWS = {
    "gfx_as",
    "override_family",
    "partition_known",
    "nccl_packages",
    "nccl_nvls",
    "nccl_cuda",
    "ld_library_path",
    "triton_ptxas",
}
FOLLOWS |= {"ext_name", "ext_torch", "ext_cuda", "ext_cxx11_abi", "ext_glibc", "cxx11_abi"}


@pytest.fixture(scope="module")
def file(real: Facts) -> FactsFile:
    return real.file


def asked_of(row: Row) -> Iterator[Conditions]:
    yield row.when
    yield row.need or {}
    yield from row.need_any


def test_the_compiled_file_is_fresh() -> None:
    expected = runpy.run_path(str(GENERATOR))["compiled"]()
    assert COMPILED.read_bytes() == expected, "write it again: make facts"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_source_is_kept_that_no_row_names(path: Path) -> None:
    file = read_file(path)
    parts = file.compatibility
    tables = ("full", "minor", "entitled", "accepted", "table", "site", "released", "require")
    rows = [row for rule in file.rules for row in rule.rows]
    named = {row.source for row in (*rows, *file.derivations, *file.devices, *file.amdgpu_releases)}  # type: ignore[attr-defined]
    named |= {each.source for rule in file.rules for each in rule.exclusions}
    named |= {row.source for table in tables if parts for row in getattr(parts, table)}
    named |= {parts.ptx_source} if parts else set()
    assert file.sources.keys() - named == set()


def test_every_row_has_a_source_with_evidence_and_a_day_or_a_fixed_place(file: FactsFile) -> None:
    undated = []
    for rule in file.rules:
        for row in rule.rows:
            source = file.sources[row.source]
            assert source.text
            assert row.evidence or source.evidence
            if not DATE.fullmatch(row.as_of or source.as_of) and not FIXED.search(source.text):
                undated.append((rule.name, row.source))
    assert undated == []


def test_every_other_fact_has_a_source(file: FactsFile) -> None:
    rows: list[str] = [row.source for row in file.derivations]
    rows += [row.source for row in file.devices]
    rows += [row.source for row in file.amdgpu_releases]
    assert set(rows) <= file.sources.keys()


def test_every_condition_can_be_read_and_is_on_an_axis(file: FactsFile) -> None:
    axes = AXES.keys() | FOLLOWS
    for rule in file.rules:
        for row in rule.rows:
            for needs in asked_of(row):
                for axis, condition in needs.items():
                    assert axis in axes, (rule.name, axis)
                    asked = conditions.read(axis, condition)
                    assert not asked.other or asked.other in axes, (rule.name, condition)


def test_what_a_row_applies_to_compares_no_two_axes(file: FactsFile) -> None:
    """Only a need can compare: what a row applies to is looked up by each value alone."""
    compared = [
        (rule.name, condition)
        for rule in file.rules
        for row in rule.rows
        for axis, condition in row.when.items()
        if conditions.read(axis, condition).other
    ]
    assert compared == []


def test_no_condition_is_empty(file: FactsFile) -> None:
    """A range that nothing fits is a slip, as is a list of nothing."""
    for rule in file.rules:
        for row in rule.rows:
            for needs in asked_of(row):
                for axis, condition in needs.items():
                    asked = conditions.read(axis, condition)
                    assert asked.other or asked.globs or any(asked.spans.values()), (rule.name, axis, condition)


def test_every_sentence_names_axes_that_there_are(file: FactsFile) -> None:
    known = AXES.keys() | FOLLOWS | {"allowed", "until"}
    for rule in file.rules:
        for sentence in (rule.yes, rule.no, *(row.because for row in rule.rows)):
            assert set(SLOT.findall(sentence)) <= known, sentence
        for row in rule.rows:
            assert row.until is None or DAY.fullmatch(row.until)


def test_what_is_derived_can_be_read(file: FactsFile) -> None:
    for row in file.derivations:
        for axis, condition in row.when.items():
            conditions.read(axis, condition)
        for axis, value in row.gives.items():
            assert axis in AXES.keys() | FOLLOWS, axis
            assert not is_version(axis) or written.version(axis, value) is not None, (axis, value)


def test_no_row_stands_twice(file: FactsFile) -> None:
    rows = Counter(
        (rule.name, rule.kind, str(row.when), str(row.need), str(row.need_any), row.scope, row.until, row.source)
        for rule in file.rules
        for row in rule.rows
    )
    assert [row for row, count in rows.items() if count > 1] == []


def test_every_pattern_of_a_device_is_one(file: FactsFile) -> None:
    for device in file.devices:
        for pattern in device.patterns:
            assert not re.compile(pattern, re.IGNORECASE).search(""), (device.id, "matches everything")


NAMES: Mapping[str, str] = {  # a name as it is printed -> the family, where one name is a part of another
    "NVIDIA A100-SXM4-80GB": "A100",
    "NVIDIA A10": "A10",
    "NVIDIA A10G": "A10G",
    "NVIDIA A16": "A16",
    "NVIDIA A2": "A2",
    "NVIDIA RTX A2000 12GB": "RTX A2000",
    "NVIDIA A40": "A40",
    "NVIDIA A40-48Q": "A40",
    "NVIDIA L4": "L4",
    "NVIDIA L40": "L40",
    "NVIDIA L40S": "L40S",
    "NVIDIA H20": "H20",
    "NVIDIA H200 NVL": "H200",
    "NVIDIA GH200 480GB": "GH200",
    "NVIDIA B200": "B200",
    "NVIDIA GB200": "GB200",
    "NVIDIA GB10": "GB10",
    "Tesla P4": "P4",
    "Tesla P40": "P40",
    "Quadro P400": "Quadro P400",
    "Tesla T4": "T4",
    "NVIDIA T400 4GB": "T400",
    "Tesla K80": "K80",
    "Tesla M40": "M40",
    "Quadro GV100": "Quadro GV100",
    "Tesla V100S-PCIE-32GB": "V100",
    "Intel(R) Arc(TM) Pro A40/A50 Graphics": "Arc Pro A40",
    "AMD Instinct MI300A": "MI300A",
    "AMD Instinct MI300X": "MI300X",
}


@pytest.mark.parametrize("name", NAMES)
def test_no_device_claims_the_name_of_another(real: Facts, name: str) -> None:
    device = real.devices.find(name)
    assert device is not None
    assert device.family == NAMES[name]


def test_devices_of_one_family_differ_in_no_way_that_rules_see(file: FactsFile) -> None:
    """Cells name a family: what rules ask of it must not depend on which of its devices was meant."""
    families: dict[str, set[tuple[str, str, str]]] = {}
    for device in file.devices:
        families.setdefault(device.family, set()).add((device.arch, device.class_, device.vendor))
    assert {family: kinds for family, kinds in families.items() if len(kinds) > 1} == {}
