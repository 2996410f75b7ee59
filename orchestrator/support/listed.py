"""A build that nobody knows but whose `torch.cuda.get_arch_list()` somebody printed."""

from collections.abc import Iterator

from orchestrator.support.facts import Facts
from orchestrator.support.question import Question
from orchestrator.support.said import Said
from orchestrator.vocabulary import RuleKind, Verdict

_RULE = "arch-binary"
_RANK = 39


def listed_arches(question: Question, facts: Facts) -> Iterator[Said]:
    """What the printed list says of the device's architecture."""
    held, arch = question.values.get("torch_arch_list"), question.values.get("gpu_arch")
    if held is None or arch is None:
        return
    relation = facts.relation(_RULE)
    if arch.text.startswith("sm_") and relation is not None:
        cuda = question.values.get("cuda_runtime")
        verdict = relation.verdict(arch.text, held.words, cuda)
        code = tuple(name for name in held.words if not name.startswith("ptx"))
        only_ptx = verdict is Verdict.SUPPORTED and relation.verdict(arch.text, code, cuda) is not Verdict.SUPPORTED
    else:
        verdict = Verdict.SUPPORTED if arch.text in held.words else Verdict.UNSUPPORTED
        only_ptx = False
    runs = "runs on" if verdict is Verdict.SUPPORTED else "holds nothing for"
    if only_ptx:  # the driver would have to translate it, and the CUDA libraries beside torch may hold nothing
        verdict, runs = Verdict.UNKNOWN, "holds only PTX for"
    yield Said(
        kind=RuleKind.BINARY_COMPATIBILITY,
        rule=_RULE,
        rank=_RANK,
        verdict=verdict,
        axes=question.given(("torch_arch_list", "gpu_arch")),
        because=f"the list that was printed ({held.text}) {runs} {arch.text}",
        source="the list that was given",
    )
