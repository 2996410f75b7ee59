"""What a row of the decision table says: the cause and the one-line reason, from the same evidence."""

from collections.abc import Sequence

from orchestrator import text
from orchestrator.model import Case
from orchestrator.results import causes
from orchestrator.results.evidence import Evidence
from orchestrator.vocabulary import Cause, Step


def cause_of_problem(evidence: Evidence) -> Cause:
    """Why the engine or the preparation failed, from its own words."""
    problem = evidence.exit.problem
    unstated = Cause.BUILD if evidence.exit.step is Step.PREPARE else Cause.ENGINE
    if causes.cause_of(problem) is Cause.OUT_OF_DISK:
        return Cause.OUT_OF_DISK
    return causes.stated(problem) or unstated


def cause_of_crash(evidence: Evidence) -> Cause:
    """Why a session did not reach its end, from its signal and its last words."""
    if evidence.signal is None:
        return causes.cause_of(evidence.log)
    return causes.cause_of_signal(evidence.signal, evidence.log)


def differences(evidence: Evidence) -> str:
    """Every axis that was observed as something else than requested."""
    return ", ".join(
        f"{name}: requested {want}, observed {have}" for name, (want, have) in evidence.differences.items()
    )


def failures(cases: Sequence[Case], evidence: Evidence) -> str:
    """How many cases, and the first one with its message."""
    first = cases[0]
    said = text.one_line(first.message or first.detail, 300)
    several = f"{len(cases)} of {text.counting(len(evidence.cases), 'case')}"
    return f"{several}: {text.one_line(first.name, 120)}: {said or 'no message'}"


def device(evidence: Evidence) -> str:
    """Whether the device was missing or lost, and the first case that it was lost in: what follows only follows."""
    if not evidence.bundle.progress.started:
        return f"device missing{last_words(evidence)}"
    if evidence.failing:
        return f"device lost: {failures(evidence.failing, evidence)}"
    return f"device lost{evidence.where}{last_words(evidence)}"


def exit_text(evidence: Evidence) -> str:
    """How the process ended: `SIGSEGV`, `code 1` or `no exit code`."""
    if evidence.signal is not None:
        return causes.signal_name(evidence.signal)
    return "no exit code" if evidence.exit.code is None else f"code {evidence.exit.code}"


def last_words(evidence: Evidence) -> str:
    """The last line of the log that is not blank, as `: …`, or an empty text."""
    lines = evidence.log.strip().splitlines()
    return f": {text.one_line(lines[-1], 200)}" if lines else ""


def gib(size: int) -> str:
    """Bytes, in GiB."""
    return f"{size / (1 << 30):g} GiB"
