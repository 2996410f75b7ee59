"""Binary compatibility of CUDA code: which compiled code runs on which architecture.

Code for X.y runs on X.z when z is not smaller than y; PTX for X.y is translated for any architecture from X.y on. What
a vendor takes out of this is in the rule's data. NVIDIA, CUDA C++ Programming Guide, Binary and PTX Compatibility
(https://docs.nvidia.com/cuda/cuda-c-programming-guide/#binary-compatibility).
"""

import re

from orchestrator.support import conditions, spans
from orchestrator.support.conditions import Value
from orchestrator.support.rows import Condition, Rule
from orchestrator.vocabulary import Verdict

_ARCH = re.compile(r"(sm|ptx)_(\d{1,2})(\d)")


class Relation:
    """The exceptions of one rule, and the verdicts that were already worked out."""

    def __init__(self, rule: Rule) -> None:
        self._exclusions = [(frozenset(each.code), each) for each in rule.exclusions]
        self._exact = frozenset(rule.only_exact)
        self._synonyms = {each.old: each.new for each in rule.synonyms}
        self._known: dict[tuple[str, Condition, str], Verdict] = {}

    def verdict(self, arch: str, held: Condition, cuda: Value | None) -> Verdict:
        """Whether a device of `arch` runs code for the architectures that are held (`sm_86`, `ptx_120`)."""
        if "|" in arch:  # the name of a generation may mean any of its architectures
            meant = {self.verdict(each, held, cuda) for each in arch.split("|")}
            return meant.pop() if len(meant) == 1 else Verdict.UNKNOWN
        key = arch, held, cuda.text if cuda else ""
        if key not in self._known:
            if len(self._known) > 20_000:  # noqa: PLR2004 - architectures come from outside
                self._known.clear()
            self._known[key] = self._work_out(arch, conditions.alternatives(held), cuda)
        return self._known[key]

    def _work_out(self, arch: str, held: tuple[str, ...], cuda: Value | None) -> Verdict:
        arch = self._synonyms.get(arch, arch)
        code = [self._synonyms.get(name, name) for name in held]
        if arch in code:
            return Verdict.SUPPORTED
        device = _number(arch)
        if device is None:
            return Verdict.UNSUPPORTED
        if any(name.startswith("ptx") and (number := _number(name)) and number <= device for name in code):
            return Verdict.SUPPORTED
        near = [name for name in code if name.startswith("sm") and _runs_on(name, device) and name not in self._exact]
        allowed = [self._allowed(name, arch, cuda) for name in near]
        for verdict in (Verdict.SUPPORTED, Verdict.DEGRADED):
            if verdict in allowed:
                return verdict
        return Verdict.UNSUPPORTED

    def _allowed(self, code: str, arch: str, cuda: Value | None) -> Verdict:
        for codes, exclusion in self._exclusions:
            if code in codes and arch == exclusion.not_on:
                lifted = (
                    exclusion.until_cuda
                    and cuda is not None
                    and spans.lowest(cuda.spans) >= spans.release(exclusion.until_cuda)
                )
                return Verdict.SUPPORTED if lifted else exclusion.verdict
        return Verdict.SUPPORTED


def _number(name: str) -> tuple[int, int] | None:
    found = _ARCH.fullmatch(name)
    return (int(found[2]), int(found[3])) if found else None


def _runs_on(code: str, device: tuple[int, int]) -> bool:
    number = _number(code)
    return number is not None and number[0] == device[0] and number[1] <= device[1]
