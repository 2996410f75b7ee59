"""The fuzzers' laws on a small sample, and that the fuzzers themselves see what they are to see."""

import ast
import random
import re
import signal
from collections.abc import Mapping
from pathlib import Path
from xml.parsers.expat import ExpatError

import bundle_targets
import msgspec
import pytest
from fuzz import fuzzed
from hypothesis import given, settings
from hypothesis import strategies as st
from law import Target
from mutations import MAX_BYTES, mutated
from targets import targets

import orchestrator
from orchestrator.errors import InputError
from orchestrator.results.judge import judge
from orchestrator.vocabulary import Status

BUNDLE = ("cell.json", "junit.xml", "metrics.jsonl", "environment.json", "structure.json", "progress.jsonl")
# Each module that decodes bytes, with the targets that go through it; or why none does.
READERS: Mapping[str, tuple[str, ...] | str] = {
    "cli/asked.py": ("check --batch",),
    "engines/docker/answers.py": ("docker inspect",),
    "engines/docker/calls.py": "the words of a refusal, shown on one line or not at all",
    "engines/docker/connection.py": ("engine's version",),
    "engines/docker/frames.py": ("docker frames",),
    "engines/docker/tar.py": ("tar stream",),
    "engines/docker/watch.py": ("docker inspect", "engine's events"),
    "engines/process/scratch.py": "the owner of a folder of this user's, as we wrote it",
    "images/docker.py": ("docker image inspect",),
    "images/index.py": ("index JSON", "index HTML"),
    "images/lock_bytes.py": ("lock file",),
    "images/locks.py": ("lock file",),
    "images/mirror.py": ("Debian Release", "Debian Packages"),
    "images/observe.py": ("image's answer",),
    "images/resolve.py": ("uv's pylock",),
    "images/roots.py": "the root that mmdebstrap made on this machine; its list of packages is in `Debian Packages`",
    "images/tools.py": "a wheel whose SHA-256 was checked",
    "images/wheelhouse.py": "a wheel whose SHA-256 was checked",
    "matrix/parse.py": ("matrix YAML",),
    "planning/observed.py": ("summary.json",),
    "results/bundle.py": BUNDLE,
    "results/finding.py": BUNDLE,
    "results/junit.py": ("junit.xml", "JUnit alone"),
    "results/measurements.py": ("pairs", "series"),
    "results/merge.py": ("plan.json",),
    "results/metrics.py": ("metrics.jsonl", "metrics alone"),
    "results/metrics_table.py": "rows of the table that DuckDB made of rows that were read",
    "results/progress.py": ("progress.jsonl",),
    "running/journal.py": ("journal",),
    "running/secret_files.py": "the owner of a folder of this user's, as we wrote it",
    "schemas/__init__.py": "our own schemas",
    "settings/host.py": ("files of pip and docker",),
    "settings/told.py": ("files of pip and docker",),
    "settings/user.py": ("site YAML",),
    "support/facts_files.py": ("facts overlay",),
    "support/fatbins.py": ("ELF in a wheel",),
    "support/wheel.py": ("wheel",),
    "yaml_bounds.py": ("matrix YAML", "site YAML", "facts overlay"),
    "text.py": "what reads JSON for the others, each of which stands here",
    "running/compile_store.py": "the list of a compile cache, as we wrote it where no cell writes",
}
NOT_MODULES = ("SHA256SUMS", "masking")  # lines that are split, and bytes that are searched
DECODERS = re.compile(
    r"json\.loads?|text\.read_json|msgspec\.(json|yaml|msgpack|toml)\.(decode|Decoder)|(msgspec\.)?convert|tomllib\.loads?|YAML"
    r"|zipfile\.ZipFile|tarfile\.open|lzma\.\w+|zlib\.decompress\w*|configparser\.\w+|expat\.ParserCreate"
    r"|(html\.parser\.)?HTMLParser|(struct\.)?(unpack\w*|Struct)|int\.from_bytes|pickle\.\w+|ElementTree\.\w+"
    r"|email\.utils\.\w+|csv\.\w+|ast\.literal_eval|plistlib\.\w+"
)
# Of these only what is made is taken, not what is read.
WRITERS = {"cli/images.py", "engines/docker/container.py"}
NAMES = tuple(dict.fromkeys([name for targets in READERS.values() if not isinstance(targets, str) for name in targets]))
NAMES += NOT_MODULES
SAMPLE = 60  # `make fuzz` takes 100,000


@pytest.fixture(scope="session")
def every(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Target]:
    return {target.name: target for target in targets(tmp_path_factory.mktemp("fuzz"))}


def decodes(module: Path) -> bool:
    """Whether the module calls something that makes values of bytes, or has a class of such a kind."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    called += [base for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for base in node.bases]
    return any(DECODERS.fullmatch(name) for name in map(ast.unparse, called) if name != "Struct")


def test_each_module_that_decodes_bytes_has_a_target_or_a_reason(every: dict[str, Target]) -> None:
    root = Path(orchestrator.__file__).parent
    found = {module.relative_to(root).as_posix() for module in root.rglob("*.py") if decodes(module)}
    assert found - WRITERS == set(READERS)
    assert set(NAMES) == set(every)


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_keeps_the_law(every: dict[str, Target], name: str) -> None:
    target = every[name]
    assert any(target.check(seed) for seed in target.seeds), "no seed is taken: nothing near to valid is tried"

    @settings(max_examples=SAMPLE, deadline=None, database=None, derandomize=True)
    @given(st.randoms(use_true_random=False))
    def law(rng: random.Random) -> None:
        target.check(mutated(rng, target.seeds))

    law()


# --- the fuzzers ------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_inputs_and_another_gives_others() -> None:
    def some(seed: int) -> list[bytes]:
        rng = random.Random(seed)
        return [mutated(rng, [b'{"a": [1, 2]}\n', b"- b: 2.10\n"]) for _ in range(200)]

    assert some(1) == some(1) != some(2)
    assert max(map(len, some(1))) <= MAX_BYTES
    assert len(set(some(1))) > 150


def test_an_exception_that_is_not_ours_is_seen_with_its_input() -> None:
    def check(data: bytes) -> bool:
        if b"\0" in data:
            raise KeyError("slipped through")
        if len(data) % 2:
            raise_ours()
        return True

    found = fuzzed(Target("t", (b"ab", b"abc"), lambda data: ours_or(check, data)), 5000, "0")
    assert len(found.broken) == 5
    assert all(b"\0" in data and "slipped through" in trace for data, trace in found.broken)
    assert 0 < found.taken < found.inputs


def raise_ours() -> None:
    raise InputError("refused")


def ours_or(check, data: bytes) -> bool:
    try:
        return check(data)
    except InputError:
        return False


def test_a_parser_that_hangs_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    import fuzz

    monkeypatch.setattr(fuzz, "SLOWEST_S", 1)
    before = signal.signal(signal.SIGPROF, fuzz._too_slow)

    def hang(_: bytes) -> bool:
        while True:
            pass

    try:
        found = fuzzed(Target("t", (b"a",), hang), 1, "0")
    finally:
        signal.signal(signal.SIGPROF, before)
    assert "took more than 1 s" in found.broken[0][1]


def test_the_laws_can_fail(every: dict[str, Target]) -> None:
    """A judge that believes everybody breaks each law about bundles."""

    def believe(cell, attempts):
        return msgspec.structs.replace(judge(cell, attempts), status=Status.PASSED)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bundle_targets.judge", believe)
        for name in (*BUNDLE, "SHA256SUMS"):
            for data in (b"nothing", b"at", b"all"):
                with pytest.raises((AssertionError, ExpatError, ValueError)):
                    every[name].check(data)


# What a whole bundle with a true sum may say in one file, and be green for a judge that overlooks it.
LIES = {
    "cell.json": (b'{"id": "c2"}', {b'"c1"': b'"c2"'}, {b"2.13.0": b"2.12.0"}, {b'"cpu"': b'"cu130"'}),
    "junit.xml": ({b"</testcase>": b"<error/></testcase>"}, b"<testsuites/>"),
    "environment.json": (
        *({b"2.13.0": b"2.12.0"}, {b"2.13.0": b"2.1"}, {b"3.11.2": b"3.12.2"}, {b'"torch"': b'"touch"'}),
        *({b'"cpu"': b'"cu130"'}, {b"eager": b"inductor"}),
    ),
    "progress.jsonl": (
        *({b"passed": b"failed"}, {b"passed": b"error"}, {b'"exit": 0': b'"exit": 1'}, {b'"tests": 2': b'"tests": 3'}),
        {b'"final"': b'"start"'},
    ),
    "structure.json": (b"nothing",),
}


@pytest.mark.parametrize("name", LIES)
def test_a_judge_that_overlooks_one_lie_breaks_the_law_of_that_file(name: str) -> None:
    bundle_targets._truly_green(name, bundle_targets.PASSED[name])
    for lie in LIES[name]:
        told = lie if isinstance(lie, bytes) else changed(bundle_targets.PASSED[name], lie)
        with pytest.raises((AssertionError, LookupError, ValueError)):
            bundle_targets._truly_green(name, told)


def changed(data: bytes, changes: Mapping[bytes, bytes]) -> bytes:
    ((old, new),) = changes.items()
    assert old in data
    return data.replace(old, new, 1)
