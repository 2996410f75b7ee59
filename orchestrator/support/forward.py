"""Forward compatibility: a user-mode driver in the image that is newer than the host's kernel driver.

Only some devices are entitled to it, and only some driver branches accept a given package. The sources contradict each
other; a vendor's own row outweighs a list that lets an image start, and past a branch's end of life nothing is
verified.
"""

from collections.abc import Callable

from msgspec import Struct

from orchestrator.support import spans
from orchestrator.support.conditions import Value
from orchestrator.support.question import Question
from orchestrator.support.rows import Compatibility
from orchestrator.vocabulary import Verdict


class Grant(Struct, frozen=True):
    """What a compatibility package comes to on a driver and a device."""

    verdict: Verdict
    because: str
    source: str
    missing: tuple[str, ...] = ()


def entitled(question: Question, rows: Compatibility) -> str:
    """`yes`, `no` or `unknown`: whether the class of the device may use a package."""
    kind = question.values.get("gpu_class")
    found = [row.verdict for row in rows.entitled if kind is not None and row.class_ in kind.words]
    return found[0] if found else "unknown"


def grant(
    question: Question, rows: Compatibility, branch: str, package: Value, runtime: Value, ends: Callable[[str], str]
) -> Grant:
    """What the package of CUDA `package` comes to for a runtime on a branch."""
    source = rows.entitled[0].source if rows.entitled else ""
    may = entitled(question, rows)
    if may == "no":
        because = (
            f"a compatibility library comes first and {_class(question)} devices are not entitled to forward "
            "compatibility: CUDA fails with error 804"
        )
        return Grant(Verdict.UNSUPPORTED, because, source)
    if may == "unknown":
        missing = () if "gpu_class" in question.values else ("gpu_class",)
        because = "whether the device is entitled to forward compatibility is not known"
        return Grant(Verdict.UNKNOWN, because, source, missing)
    wanted, held = spans.lowest(runtime.spans)[:2], spans.lowest(package.spans)[:2]
    if held[:1] < wanted[:1]:
        because = f"the compatibility package for CUDA {package.text} does not serve CUDA {runtime.text}"
        return Grant(Verdict.UNSUPPORTED, because, source)
    return _on_branch(rows, branch, ".".join(map(str, held)), ends)


def _class(question: Question) -> str:
    kind = question.values.get("gpu_class")
    return kind.text if kind else "such"


def _on_branch(rows: Compatibility, branch: str, cuda: str, ends: Callable[[str], str]) -> Grant:
    what = f"the compatibility package for CUDA {cuda} on driver branch {branch or '(not known)'}"
    for row in rows.table:
        if row.branch == branch and row.cuda == cuda:
            good = row.verdict != "no"
            said = "is listed by the vendor" if good else "is refused by the vendor"
            return Grant(Verdict.SUPPORTED if good else Verdict.UNSUPPORTED, f"{what} {said}", row.source)
    accepted = next((row for row in rows.accepted if row.branch == branch and cuda in row.cuda), None)
    if accepted is not None:
        return _while_alive(rows, branch, cuda, what, accepted.source, ends)
    if branch in rows.new_feature_branches:
        because = f"{what}: a new-feature branch is no target of forward compatibility"
        return Grant(Verdict.UNSUPPORTED, because, rows.entitled[0].source if rows.entitled else "")
    for site in rows.site:
        if site.branch == branch and not site.guess and spans.release(cuda) <= spans.release(site.max_cuda):
            return Grant(Verdict.SUPPORTED, f"{what} is listed up to CUDA {site.max_cuda}", site.source)
    source = rows.entitled[0].source if rows.entitled else ""
    return Grant(Verdict.UNKNOWN, f"{what} is in no table that was seen", source)


def _while_alive(
    rows: Compatibility, branch: str, cuda: str, what: str, source: str, ends: Callable[[str], str]
) -> Grant:
    """A branch past its end of life gets no package for a toolkit that came later, whatever a list lets start."""
    released = next((row.date for row in rows.released if row.cuda == cuda), "")
    end = ends(branch)
    if end and (not released or released > end):
        because = f"{what}: images start there, but the branch ended on {end} and nothing verified it since"
        return Grant(Verdict.UNKNOWN, because, source)
    return Grant(Verdict.SUPPORTED, f"{what} is accepted by the images of that CUDA version", source)
