"""Real and table-derived combinations with the verdict that a correct model gives, public ones and our own.

`tests/data/support_public.jsonl` holds combinations that people reported, each with its source; in
`tests/data/support_cases.jsonl` are our own, worked out from vendors' pages, wheels and reports.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import pytest

from orchestrator.model import Answer
from orchestrator.support.check import Support
from orchestrator.support.facts import load_facts

DATA = Path(__file__).parents[2] / "data"
SUPPORT = Support(load_facts())
# The kind of the rule that a case is about -> the kinds of rule that may be named first for it.
NAMED: Mapping[str, frozenset[str]] = {
    "abi": frozenset({"abi"}),
    "arch-binary": frozenset({"binary-compatibility"}),
    "arch-lifetime": frozenset({"lifetime"}),
    "companion-pin": frozenset({"pin"}),
    "compile-feature": frozenset({"feature-scope"}),
    "container-require": frozenset({"compatibility-mode"}),
    "cuda-libs": frozenset({"library-driver", "library-architecture", "environment-shadowing"}),
    "driver-arch": frozenset({"lifetime"}),
    "driver-floor": frozenset({"compatibility-mode"}),
    "forward-compat": frozenset({"compatibility-mode"}),
    "glibc": frozenset({"interval"}),
    "host-arch": frozenset({"mapping"}),
    "index-mapping": frozenset({"mapping"}),
    "minor-compat": frozenset({"compatibility-mode"}),
    "numpy": frozenset({"abi"}),
    "python-wheel": frozenset({"mapping", "interval"}),
    "rocm": frozenset({"binary-compatibility", "validated-list", "feature-scope"}),
    "rocm-driver": frozenset({"window"}),
    "third-party-kernels": frozenset({"feature-scope"}),
    "vendor-table": frozenset({"compatibility-mode", "binary-compatibility", "interval", "pin"}),
    "xpu": frozenset({"validated-list", "pin", "library-driver"}),
}
# How people write the same value: its form, and others that mean it.
SPELLINGS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "python": (r"(3\.\d+)", (r"Python \1", r"CPython \1", r"\1.x")),
    "torch": (r"(\d+\.\d+\.\d+)", (r"v\1", r"torch==\1", r"PyTorch \1")),
    "torch_build": (r"cu(\d\d)(\d)", (r"CUDA \1.\2", r"+cu\1\2", r"CU\1\2")),
    "distro": (r"([a-z]+)-([\d.]+)", (r"\1 \2", r"\1\2", r"\1:\2")),
    "driver": (r"(\d{3}\.[\d.]+)", (r"v\1", r"NVIDIA driver \1")),
    "driver_cuda": (r"(\d+\.\d)", (r"CUDA \1", r"\1.0")),
    "gpu_arch": (r"sm_(\d+)(\d)", (r"\1.\2", r"compute_\1\2", r"SM\1\2")),
}
RIGHT = 0.97
RULE_NAMED = 0.9


class Case(msgspec.Struct, frozen=True):
    """One line of a file of cases; what a machine does not read is left out."""

    id: str
    source: str
    combo: dict[str, object]
    expected: str
    because: str
    kind: str
    scope: str = ""
    free_text: bool = False

    @property
    def asked(self) -> dict[str, object]:
        return {**self.combo, "scope": self.scope} if self.scope else self.combo


def cases(name: str) -> list[Case]:
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [msgspec.convert(json.loads(line), Case) for line in lines]


PUBLIC = [case for case in cases("support_public.jsonl") if not case.free_text]
OWN = cases("support_cases.jsonl")


def told(case: Case, answer: Answer) -> str:
    first = answer.reasons[0].because if answer.reasons else "nothing was said"
    return f"{case.id}: {answer.verdict} and not {case.expected} ({first})"


def test_public_cases_get_their_verdict_and_their_rule() -> None:
    """The score by kind is printed: cases, right verdicts, right rules."""
    answers = [(case, SUPPORT.answer(case.asked)) for case in PUBLIC]
    wrong = [told(case, answer) for case, answer in answers if answer.verdict != case.expected]
    named = [case.kind for case, answer in answers if answer.reasons and answer.reasons[0].kind in NAMED[case.kind]]
    total, right, ruled = (
        Counter(case.kind for case, _ in answers),
        Counter(case.kind for case, answer in answers if answer.verdict == case.expected),
        Counter(named),
    )
    sys.stdout.write(
        "\n" + "\n".join(f"{kind:22}{total[kind]:4}{right[kind]:4}{ruled[kind]:4}" for kind in sorted(total)) + "\n"
    )
    assert [told(case, answer) for case, answer in answers if "supported" == answer.verdict != case.expected] == []
    assert len(PUBLIC) - len(wrong) >= RIGHT * len(PUBLIC), wrong
    assert len(named) >= RULE_NAMED * len(PUBLIC)


@pytest.mark.parametrize("case", OWN, ids=lambda case: case.id)
def test_our_own_case_gets_its_verdict(case: Case) -> None:
    answer = SUPPORT.answer(case.asked)
    assert answer.verdict == case.expected, told(case, answer)
    assert answer.reasons


def test_a_refusal_of_our_own_cases_names_its_rule() -> None:
    """What holds may be told by any rule; what is refused has to name the rule that the case is about."""
    refused = [(case, SUPPORT.answer(case.asked)) for case in OWN if case.expected in {"unsupported", "degraded"}]
    named = [case for case, answer in refused if answer.reasons[0].kind in NAMED[case.kind]]
    assert len(named) >= RULE_NAMED * len(refused)


def test_our_own_cases_are_of_every_kind_and_named_once() -> None:
    assert {case.kind for case in OWN} == NAMED.keys()
    assert max(Counter(case.id for case in [*PUBLIC, *OWN]).values()) == 1
    assert all(case.source and case.because for case in OWN)


def test_the_order_of_axes_changes_no_answer() -> None:
    for case in PUBLIC:
        turned = dict(reversed(case.asked.items()))
        assert SUPPORT.answer(turned).verdict == SUPPORT.answer(case.asked).verdict, case.id


def spelled(asked: Mapping[str, object]) -> Iterator[dict[str, object]]:
    for axis, (form, others) in SPELLINGS.items():
        if found := re.fullmatch(form, str(asked.get(axis, ""))):
            yield from ({**asked, axis: found.expand(other)} for other in others)
    if isinstance(asked.get("gpu"), str):
        yield {**asked, "gpu": f"8x {asked['gpu']}"}
        yield {**asked, "gpu": str(asked["gpu"]).upper()}


def test_another_spelling_changes_no_answer() -> None:
    strays = [
        f"{case.id}: {asked}"
        for case in PUBLIC
        for asked in spelled(case.asked)
        if SUPPORT.verdict(asked) != case.expected
    ]
    assert strays == []


def test_a_refusal_is_given_for_what_is_unsupported_only() -> None:
    for case in [*PUBLIC, *OWN]:
        if all(isinstance(value, str) for value in case.asked.values()):
            refusal = SUPPORT.refusal({axis: str(value) for axis, value in case.asked.items()})
            assert refusal is None or case.expected == "unsupported", case.id
