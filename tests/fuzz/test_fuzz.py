"""The fuzzers' laws on a small sample, and that the fuzzers themselves see what they are to see."""

import random
import signal
from xml.parsers.expat import ExpatError

import msgspec
import pytest
from fuzz import fuzzed
from hypothesis import given, settings
from hypothesis import strategies as st
from law import Target
from mutations import MAX_BYTES, mutated
from targets import targets

from orchestrator.errors import InputError
from orchestrator.results.judge import judge
from orchestrator.vocabulary import Status

NAMES = (
    *("matrix YAML", "site YAML", "facts overlay", "check --batch", "cell.json", "junit.xml", "metrics.jsonl"),
    *("environment.json", "structure.json", "progress.jsonl", "SHA256SUMS", "JUnit alone", "metrics alone"),
    *("lock file", "plan.json", "summary.json", "journal", "tar stream", "docker frames", "ELF in a wheel", "wheel"),
)
SAMPLE = 60  # `make fuzz` takes 100,000


@pytest.fixture(scope="session")
def every(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Target]:
    return {target.name: target for target in targets(tmp_path_factory.mktemp("fuzz"))}


def test_every_parser_is_here(every: dict[str, Target]) -> None:
    assert tuple(every) == NAMES


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
        for name in ("cell.json", "junit.xml", "progress.jsonl", "SHA256SUMS"):
            for data in (b"nothing", b"at", b"all"):
                with pytest.raises((AssertionError, ExpatError, ValueError)):
                    every[name].check(data)
