"""`run`: build, run, merge."""

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli.admission import admit
from orchestrator.cli.inputs import host_of, plan_of, read_plan, site_of, usable
from orchestrator.cli.options import (
    engine_option,
    file_option,
    jobs_option,
    json_option,
    options,
    select_option,
    tier_option,
)
from orchestrator.cli.output import keep_out, say
from orchestrator.cli.report import report
from orchestrator.errors import ExitCode, Interrupted, TorchmatrixError

if TYPE_CHECKING:
    from orchestrator.model import Run


_RESUME = "Finish the run in this folder, or of this id in --runs, by the engine, --here and --no-compile-cache it had."


@click.command()
@options(file_option, select_option, tier_option, engine_option, jobs_option, json_option)
@click.option("--here", is_flag=True, help="Ask only for what this machine can run: an unplaced row is no failure.")
@click.option("--no-compile-cache", is_flag=True, help="Compile everything anew, and keep nothing of it.")
@click.option("--plan", "plan_file", type=click.Path(path_type=Path), help="Run this plan instead of the matrix.")
@click.option("--resume", type=click.Path(path_type=Path), metavar="RUN", help=_RESUME)
@click.option("--runs", type=click.Path(path_type=Path), default=Path("runs"), show_default=True, help="Where runs go.")
def run(  # noqa: PLR0913, PLR0917 - one parameter an option
    file: Path,
    select: tuple[str, ...],
    tier: str,
    engine: str | None,
    jobs: int,
    as_json: bool,
    here: bool,
    no_compile_cache: bool,
    plan_file: Path | None,
    resume: Path | None,
    runs: Path,
) -> None:
    """Build the images, run the smoke suite in each cell, merge the results."""
    from orchestrator.engines.registry import ENGINES
    from orchestrator.reports import overview
    from orchestrator.results.outcome import exit_code, nothing_ran
    from orchestrator.running import folder as run_folder
    from orchestrator.running import lock
    from orchestrator.running.cells import is_done
    from orchestrator.running.run import asked_of, engine_of, run_plan, suites_folder
    from orchestrator.running.secret_files import laid_out

    if select and (resume or plan_file):
        raise click.UsageError("`--select` chooses from the matrix: `--plan` and `--resume` run all of their plan")
    resume = run_folder.named(resume, runs) if resume else None
    with ExitStack() as held:  # the run's lock, to the end: what is read of the run and its page are of one writer
        if resume:
            held.enter_context(lock.held_again(resume))
            first = asked_of(resume)
            here, no_compile_cache = here or first.here, no_compile_cache or not first.compile_cache
        given = resume / "plan.json" if resume else plan_file
        begun = engine_of(resume) if resume and not engine else None
        engine = begun if begun in ENGINES else engine
        planned, host = (read_plan(given), host_of(engine)) if given else plan_of(file, select, tier, engine)
        say(f"engine: {usable(host)} ({host.engine_reason})")
        site = site_of(file)
        placed = [cell for cell in planned.cells if cell.placement.placed]
        admit([cell for cell in placed if not (resume and is_done(resume, cell))], host.engine, site, resume or runs)
        with laid_out(placed, os.environ, site.passwords) as secrets:
            keep_out(secrets.masker)
            # A run is named by its folder, `.` is no name.
            folder = resume.resolve() if resume else held.enter_context(lock.created(runs))
            say(f"run: {folder}")
            merged: list[Run] = []
            asked = (*["--here"] * here, *["--no-compile-cache"] * no_compile_cache)
            whole = overview.resume(str(folder), (*_other("--matrix", file, Path("matrix.yaml")), *asked))
            asked = (*_other("--engine", engine, None), *_other("--runs", runs, Path("runs")), *asked)
            try:
                done = run_plan(
                    planned,
                    site,
                    ENGINES[host.engine](),
                    folder,
                    host=host,
                    suites=suites_folder(),
                    say=say,
                    resume=resume is not None,
                    jobs=jobs,
                    secrets=secrets,
                    compile_cache=not no_compile_cache,
                    here=here,
                    merged=merged.append,
                )
            except TorchmatrixError as error:
                for partly in merged:  # it says what is done and what is not
                    report(partly, folder, as_json=as_json, resume=whole, asked=asked)
                if isinstance(error, Interrupted):  # with the options that only we know
                    error.hint = f"`{whole}` does the rest"
                raise
            report(done, folder, as_json=as_json, asked=asked)
    code = exit_code(done, here=here)
    if code is ExitCode.NOTHING_SELECTED:
        raise nothing_ran(done, str(folder))
    sys.exit(code)


def _other(option: str, value: Path | str | None, default: Path | None) -> tuple[str, ...]:
    """The option as it was given; nothing where it is the default, which needs no words."""
    return () if value == default else (option, str(value))
