"""`check`: what a vendor says of a combination."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from orchestrator import text
from orchestrator.cli import asked
from orchestrator.cli.inputs import observed_in
from orchestrator.cli.options import facts_option, json_option, on_option, options, runs_option
from orchestrator.cli.output import colour, show, show_value, width
from orchestrator.cli.vendors import support_of
from orchestrator.errors import ExitCode, InputError, refuse_shortage
from orchestrator.vocabulary import Verdict

if TYPE_CHECKING:
    from orchestrator.model import Answer
    from orchestrator.planning.observed import Observed
    from orchestrator.support.check import Support

    Ask = Callable[[Mapping[str, object]], Answer]

_EXITS: Mapping[Verdict, ExitCode] = {
    Verdict.SUPPORTED: ExitCode.GOOD,
    Verdict.DEGRADED: ExitCode.NOT_PASSED,
    Verdict.UNSUPPORTED: ExitCode.NOT_PASSED,
    Verdict.UNKNOWN: ExitCode.NOTHING_SELECTED,
}


@click.command()
@click.argument("words", nargs=-1, metavar="[KEY=VALUE]...")
@options(on_option, facts_option, runs_option, json_option)
@click.option("--matrix", type=click.Path(path_type=Path), help="Ask the rules and facts of this matrix too.")
@click.option("--allow-degraded", is_flag=True, help="Exit 0 also where it works in part.")
@click.option(
    "--batch", metavar="FILE", help="One JSON object a line, `-` is stdin; one JSON answer a line. With --json."
)
@click.option(
    "--nearest", is_flag=True, help="With --batch: the nearest combinations too. One question has them always."
)
def check(  # noqa: PLR0913, PLR0917 - one parameter an option
    words: tuple[str, ...],
    on: str | None,
    overlays: tuple[Path, ...],
    runs: Path,
    as_json: bool,
    matrix: Path | None,
    allow_degraded: bool,
    batch: str | None,
    nearest: bool,
) -> None:
    """Say whether a combination is supported, why, until when, and what is nearest to it that is.

    \b
    torchmatrix check torch=2.13.0 torch_build=cu130 driver=570.86.15 gpu=H100
    torchmatrix check torch=2.14.1 python=3.14 scope=torch.compile --on 2027-06-01

    Keys are axes (torch, torch_build, python, driver, gpu, gpu_arch, distro, ...), and `scope` for what is asked beside
    install, import and eager kernels: torch.compile, multi-gpu, numpy-bridge, triton-kernels, third-party-kernels.
    What is not read is named.
    Without --on an end of life is told and changes no verdict; what ended before that day is degraded.

    Exits 0 supported, 1 degraded or unsupported, 3 unknown, 2 bad input; --batch exits 0 when every line was answered.
    """  # noqa: D301 - click reads \b as the character that it is
    if batch is not None and words:
        raise click.UsageError("`--batch` reads its questions from a file: give no KEY=VALUE beside it")
    if batch is not None and not as_json:
        raise click.UsageError("`--batch` answers in JSON: give `--json` with it")
    combo = asked.pairs(words)
    if batch is None and not combo:
        raise click.UsageError("nothing is asked: give KEY=VALUE, such as torch=2.13.0 gpu=H100, or `--batch FILE`")
    if batch is not None:
        with _opened(batch) as stream:
            answer_lines(stream, _asking(_support(on, matrix, overlays), runs, nearest=nearest))
        sys.exit(ExitCode.GOOD)
    ask = _asking(_support(on, matrix, overlays), runs, nearest=True)
    sys.exit(_answer_one(combo, ask(combo), as_json=as_json, allow_degraded=allow_degraded))


def _support(on: str | None, matrix: Path | None, overlays: tuple[Path, ...]) -> "Support":
    day = asked.day(on) if on is not None else None
    if matrix is not None:
        from orchestrator.matrix.document import load

        return support_of(load(matrix), matrix.parent, day, overlays)
    from orchestrator.support.check import Support
    from orchestrator.support.facts import load_facts

    return Support(load_facts(overlays), on=day)


def _asking(support: "Support", runs: Path, *, nearest: bool) -> "Ask":
    """The question as a function: what vendors say, and what our own runs saw. Runs are read once."""
    from msgspec.structs import replace

    seen = _seen(runs)

    def ask(combo: Mapping[str, object]) -> "Answer":
        answer = support.answer(combo, nearest=nearest)
        return replace(answer, observed=seen.of(_as_read(support, combo))) if seen else answer

    return ask


def _seen(runs: Path) -> "Observed | None":
    return observed_in(runs) if runs.is_dir() else None


def _as_read(support: "Support", combo: Mapping[str, object]) -> Mapping[str, object]:
    """The combination in the words of the axes, as runs have them: `2x NVIDIA H100 80GB` is gpu H100, gpus 2."""
    read = support.question(combo).values
    return {**combo, **{axis: value.text for axis, value in read.items() if axis in combo or axis == "gpus"}}


def _opened(batch: str) -> IO[bytes]:
    if batch == "-" and sys.stdin is not None:  # None: the caller closed it
        return sys.stdin.buffer
    try:
        return Path(batch).open("rb")
    except OSError as error:
        refuse_shortage(error, text.shown(batch))
        raise InputError("it cannot be read", place=text.shown(batch), cause=error.strerror or "") from error


def answer_lines(stream: IO[bytes], ask: "Ask") -> None:
    """One answer a line, in order; a line that cannot be read is answered by its error."""
    import msgspec

    for line in asked.lines(stream):
        try:
            answer = msgspec.json.encode(ask(asked.combination(line)))
        except InputError as error:
            answer = msgspec.json.encode({"error": str(error)})
        if not show(answer.decode()):
            return  # nobody reads on


def _answer_one(combo: Mapping[str, str], answer: "Answer", *, as_json: bool, allow_degraded: bool) -> ExitCode:
    if as_json:
        show_value(answer)
    else:
        from orchestrator.reports.answer import page

        show(page(answer, combo, today=asked.today(), width=width(), colour=colour()))
    allowed = allow_degraded and answer.verdict is Verdict.DEGRADED
    return ExitCode.GOOD if allowed else _EXITS[answer.verdict]
