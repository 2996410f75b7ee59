"""The requirement check of an image (`NVIDIA_REQUIRE_CUDA`): whether a container starts on a driver at all."""

from collections.abc import Callable, Iterator

from orchestrator.support import spans
from orchestrator.support.conditions import Fit, Value
from orchestrator.support.question import Question
from orchestrator.support.rows import Compatibility
from orchestrator.support.said import Said
from orchestrator.vocabulary import RuleKind, Verdict

_RANK = 5


def requirement(
    question: Question,
    image: Value,
    level: Value | None,
    branch: str,
    rows: Compatibility,
    source: Callable[[str], tuple[str, str]],
) -> Iterator[Said]:
    """What the check says when it is enforced; when nobody said whether it is, that this could change the answer."""
    check = question.values.get("require_check")
    if check is not None and check.text == "skipped":
        return
    verdict, because, missing = _verdict(question, image, level, branch, rows)
    if check is None:
        verdict, because, missing = Verdict.UNKNOWN, "", () if verdict is Verdict.SUPPORTED else ("require_check",)
    row = rows.require[0].source if rows.require else ""
    text, as_of = source(row)
    yield Said(
        kind=RuleKind.COMPATIBILITY_MODE,
        rule="container-require",
        rank=_RANK,
        verdict=verdict,
        axes=question.given(["container_cuda", "require_check", "driver", "driver_cuda", "gpu_class"]),
        because=because,
        source=text,
        as_of=as_of,
        missing=missing,
    )


def _verdict(
    question: Question, image: Value, level: Value | None, branch: str, rows: Compatibility
) -> tuple[Verdict, str, tuple[str, ...]]:
    wanted = spans.lowest(image.spans)[:2]
    asked = ".".join(map(str, wanted))
    reached = _reaches(level, wanted) if image.exact else _reaches_all(level, image)
    if reached is Fit.YES:
        return Verdict.SUPPORTED, f"the driver reports the CUDA {asked} that the image requires", ()
    kind = question.values.get("gpu_class")
    listed = next((row.branches for row in rows.require if row.cuda == asked), None)
    older = f"the image requires CUDA {asked} and the driver reports {level.text if level else 'less'}"
    if reached is Fit.NO and kind is not None and not set(kind.words) & set(rows.brands):
        return Verdict.UNSUPPORTED, f"{older}; only other brands than {kind.text} pass by driver branch", ()
    if reached is Fit.MAYBE or listed is None:
        return Verdict.UNKNOWN, f"{older}; the branches that it lets pass were not seen", ()
    if branch not in listed:
        return Verdict.UNSUPPORTED, f"{older}; branch {branch or '(not known)'} is not one that it lets pass", ()
    if kind is None:
        return Verdict.UNKNOWN, f"{older}; branch {branch} passes on some classes of devices only", ("gpu_class",)
    return Verdict.SUPPORTED, f"{older}, but lets branch {branch} pass on {kind.text} devices", ()


def _reaches_all(level: Value | None, images: Value) -> Fit:
    """Whether a level is enough for each of several images that may be meant."""
    end = images.spans[-1][1]
    return Fit.YES if end and _reaches(level, end[:2]) is Fit.YES else Fit.MAYBE


def _reaches(level: Value | None, wanted: spans.Release) -> Fit:
    if level is None or len(wanted) < 2:  # noqa: PLR2004 - 12.x: which minor is not known
        return Fit.MAYBE
    low, high = level.spans[0][0], level.spans[-1][1]
    if level.exact:
        return Fit.YES if low >= wanted[: len(low)] else Fit.NO
    if low >= wanted:
        return Fit.YES
    return Fit.NO if high is not None and high <= wanted else Fit.MAYBE
