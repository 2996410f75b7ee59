"""Whether anything spoke of each component that was named: an answer never calls supported what no fact speaks of."""

from collections.abc import Sequence
from difflib import get_close_matches

from orchestrator.axes import AXES
from orchestrator.support.axes import COMPANIONS
from orchestrator.support.question import Question
from orchestrator.support.said import Said
from orchestrator.vocabulary import RuleKind, Verdict

_ALONE = ("torch", "torch_build", "rocm_userspace", "oneapi", "intel_sycl_rt")
# Of each of these groups something must speak of one that was given.
_TOGETHER = (
    ("gpu", "gpu_arch"),
    ("driver", "driver_cuda"),
    ("cuda_runtime", "container_cuda", "cuda_toolkit", "torch_build"),
)
_A_SLIP = 0.75
_SURROUNDINGS = {"python", "os", "distro", "glibc", "libc", "host_arch", "channel", "base", "gpus", "backend", "scope"}
_OF_BUILDS = {RuleKind.BINARY_COMPATIBILITY, RuleKind.VALIDATED_LIST}


def uncovered(question: Question, said: Sequence[Said]) -> tuple[str, ...]:
    """The axes that were given and that nothing spoke of, or that could not be read."""
    told = [each for each in said if each.because and not each.until]  # an end of life proves nothing at any time
    proofs = [each for each in told if each.proves or each.verdict is not Verdict.SUPPORTED]
    spoken = {axis for each in proofs for axis in each.axes}
    asked = [axis for axis in question.values if axis not in question.origin]
    silent = [axis for axis in asked if axis in COMPANIONS and not spoken & {axis}]
    if asked and set(asked) <= _SURROUNDINGS:
        silent += asked
    silent += [axis for axis in _ALONE if axis in asked and axis not in spoken]
    for group in _groups(question):
        given = [axis for axis in group if axis in asked]
        if given and not _spoken_of(given, proofs, question):
            silent += given
    if "partition" in asked and question.values["partition"].text != "whole" and "partition" not in spoken:
        silent.append("partition")
    if "distro" in asked and "distro" not in spoken and _asks_for_a_wheel(question):
        silent.append("distro")  # a release of which nobody knows what C library it has
    # A combination of which a part is known not to work claims nothing for that part.
    restricted = any(each.verdict is Verdict.DEGRADED for each in said)
    if not restricted and question.scope - {
        scope for each in said for scope in each.scope if each in proofs or not each.because
    }:
        silent.append("scope")
    if "image" in asked and "torch" not in question.values:
        silent.append("image")  # what is in it is known once it ran
    unread = [axis for axis in question.ignored if axis not in spoken and _matters(question, axis)]
    return tuple(dict.fromkeys((*silent, *unread)))


def _spoken_of(given: Sequence[str], proofs: Sequence[Said], question: Question) -> bool:
    """Of a card beside a build of torch only the list of what the build holds, or was validated on, is a proof."""
    beside_torch = given[0] in {"gpu", "gpu_arch"} and (set(question.values) & {"torch", "torch_build"})
    return any(
        set(each.axes) & set(given)
        for each in proofs
        if not beside_torch or each.kind in _OF_BUILDS or each.verdict is Verdict.DEGRADED
    )


def _groups(question: Question) -> Sequence[tuple[str, ...]]:
    """A driver decides nothing for a CPU build, and no floor is published for Intel's."""
    build, vendor = question.values.get("torch_build"), question.values.get("gpu_vendor")
    groups: list[tuple[str, ...]] = [group for group in _TOGETHER if group[0] != "driver"]
    if build is not None and build.text == "cpu":
        return [("gpu", "gpu_arch")]
    if vendor is not None and vendor.text == "nvidia":
        groups.append(_TOGETHER[1])
    if vendor is not None and vendor.text == "amd":
        groups.append(("amdgpu_driver", "driver"))
    return groups


def _asks_for_a_wheel(question: Question) -> bool:
    """Whether a wheel of torch has to fit a C library of which nothing is known."""
    known = question.values.keys()
    return bool(known & {"torch", "torch_build"}) and not known & {"glibc", "libc"}


def _matters(question: Question, axis: str) -> bool:
    """Whether what could not be read may change the answer; a key that is like no axis is nobody's slip of the pen."""
    if axis not in AXES:
        return bool(get_close_matches(axis, list(AXES), n=1, cutoff=_A_SLIP))
    return axis != "gpu" or "gpu_arch" not in question.values


def no_data(question: Question, silent: Sequence[str]) -> Said:
    """The reason of an answer that is unknown because nothing speaks of some of what was asked."""
    named = ", ".join(f"{axis} {question.values[axis].text}" if axis in question.values else axis for axis in silent)
    because = f"nothing that is known proves support of {named or 'this combination'}"
    if silent and set(silent) <= {"gpu", "gpu_arch"} and (build := question.values.get("torch_build")):
        torch = f"torch {question.values['torch'].text}" if "torch" in question.values else "torch"
        because = f"no list was seen of what the {build.text} build of {torch} holds code for: {named} may be on it"
    return Said(
        kind=RuleKind.NO_DATA,
        rule="no-data",
        rank=0,
        verdict=Verdict.UNKNOWN,
        axes=tuple(silent),
        because=because,
    )


def contradiction(question: Question, between: tuple[str, str, str]) -> Said:
    """The reason of an answer that is unknown because what was asked says two things of one component."""
    axis, other, asked_for = between
    said = f"{axis} {question.values[axis].text}"
    return Said(
        kind=RuleKind.NO_DATA,
        rule="contradiction",
        rank=0,
        verdict=Verdict.UNKNOWN,
        axes=question.given((axis, other)),
        because=f"{said} does not belong to {other} {question.values[other].text}, which has {asked_for}",
    )
