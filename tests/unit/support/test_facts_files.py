import os
from pathlib import Path

import pytest

from orchestrator.errors import InputError
from orchestrator.support.facts_files import read_file
from orchestrator.support.rows import FactsFile
from orchestrator.vocabulary import Evidence

GOOD = """
sources:
  page: {text: a page, evidence: vendor-doc, as_of: '2026-01-01'}
derivations:
  - {when: {distro: ubuntu-20.04}, gives: {glibc: '2.31'}, source: page}
devices:
  - {id: x1, family: X1, patterns: ['\\bX1\\b'], vendor: nvidia, source: page}
rules:
  - name: topic
    kind: interval
    rank: 1
    'yes': yes
    'no': no
    rows:
      - {when: {torch: '2.8'}, need: {python: ['>=3.9,<3.14', '3.13t']}, source: page}
""".replace("'yes': yes", "'yes': 'it fits'").replace("'no': no", "'no': 'it does not'")


def read(tmp_path: Path, text: str) -> FactsFile:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    return read_file(path)


def test_a_file_is_read_as_it_is_written(tmp_path: Path) -> None:
    file = read(tmp_path, GOOD)
    (rule,) = file.rules
    assert (rule.name, rule.mode, rule.rows[0].need) == ("topic", "all", {"python": (">=3.9,<3.14", "3.13t")})
    assert file.sources["page"].evidence is Evidence.VENDOR_DOC
    assert file.devices[0].patterns == (r"\bX1\b",)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("torch: '2.8'", "torch: 'the newest'", "rule `topic`, axis `torch`: `the newest` is not a version"),
        ("'3.13t'", "'two'", "axis `python`: `two` is not a version"),
        ("vendor-doc", "hearsay", "is no facts file"),
        ("rank: 1", "rank: first", "is no facts file"),
        ("kind: interval", "kind: wish", "is no facts file"),
        ("source: page", "sauce: page", "is no facts file"),
        ("name: topic", "name: A topic", "is no facts file"),
        ("sources:", "sources: [", "is no YAML"),
        ("distro: ubuntu-20.04", "torch: 'newest'", "`newest` is not a version"),
        ("gives: {glibc: '2.31'}", "gives: {glibc: 'old'}", "`old` is no value of `glibc`"),
        ("patterns: ['\\bX1\\b']", "patterns: ['(']", "`(` is no pattern"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_name(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        read(tmp_path, GOOD.replace(old, new))
    assert told in caught.value.fact
    assert "mine.yaml" in (caught.value.place)


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"- a\n- b\n", b"", b"text", b"{a: *b}", b"\x00", b"{{a: b}: c}", b"? [{a: b}]"]
)
def test_what_is_no_facts_file_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError):
        read_file(path)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("a: &a [x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n", "line 2: aliases are not supported"),
        ("sources: &a {b: *a}\n", "aliases are not supported"),
        ("[" * 5000, "is no YAML"),
        ("# " + "x" * (4 << 20), "larger than 4 MiB"),
    ],
)
def test_a_file_that_would_grow_is_refused_before_it_does(tmp_path: Path, content: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, content)
    assert told in caught.value.fact


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "mine.yaml")
    with pytest.raises(InputError, match="not a regular file"):
        read_file(tmp_path / "mine.yaml")


def test_a_pattern_that_python_will_read_otherwise_is_refused(tmp_path: Path) -> None:
    device = "devices: [{id: a, vendor: nvidia, family: c, patterns: ['[[a]'], source: doc}]\n"
    with pytest.raises(InputError, match="no pattern"):
        read(tmp_path, device)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_file(tmp_path / "none.yaml")
    with pytest.raises(InputError):
        read_file(tmp_path)
