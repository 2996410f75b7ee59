"""The verbs: parse, call, print, exit code. Only this file prints or exits.

Results go to stdout, progress and errors to stderr; `--json` prints the same for machines.
"""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from orchestrator import text
from orchestrator.errors import ExitCode, InfrastructureError, InputError, TorchmatrixError
from orchestrator.vocabulary import Tier

if TYPE_CHECKING:
    from orchestrator.model import Axes, Host, Image, Matrix, Plan, PlannedCell, Run

_TIERS: Mapping[str, frozenset[Tier]] = {
    "production": frozenset({Tier.PRODUCTION}),
    "edge": frozenset({Tier.EDGE}),
    "all": frozenset(Tier),
}
_Command = Callable[..., None]


def _options(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    def apply(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return apply


_file = click.option(
    "--matrix",
    "file",
    type=click.Path(path_type=Path),
    default=Path("matrix.yaml"),
    help="The matrix.",
    show_default=True,
)
_select = click.option(
    "--select", multiple=True, metavar="GLOB", help="Only cells whose id or name matches; repeatable."
)
_tier = click.option("--tier", type=click.Choice(sorted(_TIERS)), default="production", show_default=True)
_engine = click.option(
    "--engine", type=click.Choice(["docker", "process", "here"]), help="Default: docker, else process."
)
_json = click.option("--json", "as_json", is_flag=True, help="For machines.")
_jobs = click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Images built at once.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="torchmatrix")
def torchmatrix() -> None:
    """Run PyTorch's version matrix in containers, and merge what came of it into one result."""


@torchmatrix.command()
@_options(_file, _select, _tier, _engine, _json)
def plan(file: Path, select: tuple[str, ...], tier: str, engine: str | None, as_json: bool) -> None:
    """Show the cells of the matrix: why each is in, where it runs, what the whole will cost."""
    from orchestrator.planning.plan import plan_json

    planned, _ = _plan(_matrix(file), select, tier, engine)
    if as_json:
        _print(plan_json(planned).decode().rstrip("\n"))
    else:
        from orchestrator.reports import terminal

        _print(terminal.plan_table(planned, width=_width(), colour=_colour()))


@torchmatrix.command()
@_options(_file, _json)
@click.option("--cell", metavar="ID", required=True, help="A cell's id or name.")
def render(file: Path, cell: str, as_json: bool) -> None:
    """Print the Containerfile of a cell's image."""
    from orchestrator.images.recipe import render as render_recipe
    from orchestrator.planning.plan import make_plan

    chosen = make_plan(_matrix(file), None, tiers=_TIERS["all"], select=(cell,)).cells[0]
    rendered = render_recipe(chosen.axes)
    _print_json({"cell": chosen.id, "image": chosen.image, "containerfile": rendered}) if as_json else _print(rendered)


@torchmatrix.command()
@_options(_file, _select, _tier, _engine, _jobs, _json)
def build(file: Path, select: tuple[str, ...], tier: str, engine: str | None, jobs: int, as_json: bool) -> None:
    """Build the images of the cells that this machine can run, or of those selected."""
    from orchestrator.images.failure import BuildFailure
    from orchestrator.running.supply import supply
    from orchestrator.settings import load_site

    planned, host = _plan(_matrix(file), select, tier, engine)
    wanted = _wanted(cell for cell in planned.cells if select or cell.placement.placed)
    made = supply(_usable(host), wanted, load_site(os.environ), jobs=jobs, say=_say)
    failures = [image for image in made.values() if isinstance(image, BuildFailure)]
    if as_json:
        import msgspec

        _print_json([msgspec.to_builtins(image) for image in made.values()])
    else:
        for name, image in made.items():
            _print(f"{name}  " + (f"error: {image.reason}" if isinstance(image, BuildFailure) else _built(image)))
    if failures:
        sys.exit(ExitCode.INFRASTRUCTURE)
    others = [image for image in made.values() if not isinstance(image, BuildFailure) and _differences(image)]
    sys.exit(ExitCode.NOT_PASSED if others else ExitCode.GOOD)


def _differences(image: "Image") -> "Mapping[str, tuple[str, str]]":
    from orchestrator.axes import differences

    return differences(image.axes, image.observed)


def _built(image: "Image") -> str:
    """The image's name, and what is in it that was not asked for."""
    other = (f"{name}: requested {want}, observed {have}" for name, (want, have) in _differences(image).items())
    return "  ".join((image.name, *other))


@torchmatrix.command()
@_options(_file, _select, _tier, _engine, _jobs, _json)
@click.option("--here", is_flag=True, help="Ask only for what this machine can run: an unplaced row is no failure.")
@click.option("--plan", "plan_file", type=click.Path(path_type=Path), help="Run this plan instead of the matrix.")
@click.option("--resume", type=click.Path(path_type=Path), metavar="RUN", help="Finish the run in this folder.")
@click.option("--runs", type=click.Path(path_type=Path), default=Path("runs"), show_default=True, help="Where runs go.")
def run(  # noqa: PLR0913, PLR0917 - one parameter an option
    file: Path,
    select: tuple[str, ...],
    tier: str,
    engine: str | None,
    jobs: int,
    as_json: bool,
    here: bool,
    plan_file: Path | None,
    resume: Path | None,
    runs: Path,
) -> None:
    """Build the images, run the smoke suite in each cell, merge the results."""
    from orchestrator.engines.registry import ENGINES
    from orchestrator.reports import overview
    from orchestrator.results.outcome import exit_code
    from orchestrator.running.run import engine_of, new_run_folder, run_plan, suites_folder
    from orchestrator.settings import load_site

    if select and (resume or plan_file):
        raise click.UsageError("`--select` chooses from the matrix: `--plan` and `--resume` run all of their plan")
    given = resume / "plan.json" if resume else plan_file
    begun = engine_of(resume) if resume and not engine else None
    engine = begun if begun in ENGINES else engine
    planned, host = (_read_plan(given), _host(engine)) if given else _plan(_matrix(file), select, tier, engine)
    _say(f"engine: {_usable(host)} ({host.engine_reason})")
    folder = resume.resolve() if resume else new_run_folder(runs)  # a run is named by its folder, `.` is no name
    _say(f"run: {folder}")
    try:
        done = run_plan(
            planned,
            load_site(os.environ),
            ENGINES[host.engine](),
            folder,
            host=host,
            suites=suites_folder(),
            say=_say,
            resume=resume is not None,
            jobs=jobs,
        )
    except TorchmatrixError:
        _report_what_is_there(planned, folder, as_json=as_json, resume=overview.resume(str(folder), here=here))
        raise
    _report(done, folder, as_json=as_json)
    sys.exit(exit_code(done, here=here))


@torchmatrix.command()
@click.argument("bundles", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--plan", "plan_file", type=click.Path(path_type=Path), required=True, help="The plan they belong to.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder of the merged run.")
@click.option("--here", is_flag=True, help="An unplaced production row is no failure.")
@_json
def merge(bundles: tuple[Path, ...], plan_file: Path, out: Path, here: bool, as_json: bool) -> None:
    """Merge bundles of many jobs into one run: in any order, any number of times, to the same bytes."""
    from orchestrator.results.merge import merge as merge_bundles
    from orchestrator.results.merge import write
    from orchestrator.results.outcome import exit_code
    from orchestrator.text import digest

    for bundle in bundles:
        if not bundle.exists():
            raise InputError("no such bundle", place=str(bundle))
    # The page says which plan was merged, not where: the same bundles give the same bytes in every folder.
    plan = _read_plan(plan_file)
    merged = merge_bundles(plan, bundles, run_id=f"merged-{digest(plan_file.read_text(encoding='utf-8'), 12)}")
    out.mkdir(parents=True, exist_ok=True)
    write(merged, bundles, out)
    _report(merged, out, as_json=as_json)
    sys.exit(exit_code(merged, here=here))


def _matrix(file: Path) -> "Matrix":
    from orchestrator.matrix.document import load
    from orchestrator.model import Edge

    matrix = load(file)
    # What is read, checked and not acted on yet must not look as if it were.
    if waiting := [name for name in ("loads", "facts", "secrets", "gates") if getattr(matrix, name)]:
        _say(f"note: {file}: {', '.join(waiting)}: read and checked, nothing acts on it yet")
    if matrix.edge != Edge():
        _say(f"note: {file}: edge: read and checked, edge cells are not planned yet")
    return matrix


def _host(engine: str | None, wanted: frozenset[str] | None = None) -> "Host":
    from orchestrator.running.hosts import detect

    return detect(engine, os.environ, wanted=wanted)


def _usable(host: "Host") -> str:
    if host.engine == "none":
        raise InfrastructureError(
            "this machine has nothing to run a cell with",
            cause=host.engine_reason,
            hint="start a Docker engine, or `pip install uv` for virtual environments",
        )
    return host.engine


def _plan(matrix: "Matrix", select: tuple[str, ...], tier: str, engine: str | None) -> tuple["Plan", "Host"]:
    from orchestrator.planning.plan import make_plan

    host = _host(engine, frozenset(row.axes.get("python", "") for row in matrix.production))
    return make_plan(matrix, host, tiers=_TIERS[tier], select=select), host


def _read_plan(file: Path) -> "Plan":
    from orchestrator.results.merge import read_plan

    return read_plan(file)


def _wanted(cells: "Iterable[PlannedCell]") -> "dict[str, Axes]":
    from orchestrator.axes import image_axes

    return {cell.image: image_axes(cell.axes) for cell in cells}


def _report(done: "Run", folder: Path, *, as_json: bool, resume: str = "") -> None:
    from orchestrator.reports import html, terminal
    from orchestrator.results import metrics_table

    page = html.report(done, metrics_table.read(folder / "metrics.parquet"), resume)
    (folder / "report.html").write_text(page, encoding="utf-8")
    if as_json:
        _print((folder / "summary.json").read_text(encoding="utf-8"))
        return
    _print(terminal.grid(done, width=_width(), colour=_colour(), resume=resume))
    _print("\n" + "\n".join(f"{name:9}{folder / file}" for name, file in _OUTPUTS.items()))


def _report_what_is_there(plan: "Plan", folder: Path, *, as_json: bool, resume: str) -> None:
    """A run that ended early was merged all the same: its report says what is done and what is not."""
    from orchestrator.results.merge import merge as merge_bundles

    if (folder / "summary.json").is_file():
        committed = [file.parent for file in folder.glob("cells/*/attempt-*/attempt.json")]
        _report(merge_bundles(plan, committed, run_id=folder.name), folder, as_json=as_json, resume=resume)


_OUTPUTS = {"report": "report.html", "junit": "junit.xml", "metrics": "metrics.parquet", "summary": "summary.json"}


def _width() -> int:
    """The terminal's columns; a file or a pipe has room for every column of a table."""
    import shutil

    return shutil.get_terminal_size((120, 24)).columns if _is_terminal() else _UNBOUND


_UNBOUND = 240


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()  # None: the caller closed it


def _colour() -> bool:
    return _is_terminal() and "NO_COLOR" not in os.environ


def _print(output: str) -> None:
    try:
        click.echo(output)
    except BrokenPipeError:
        # The reader has gone (`| head`). The verb's exit code stays what it is: others read that.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_json(value: Any) -> None:
    import json

    _print(json.dumps(value, indent=1, allow_nan=False))


def _say(line: str) -> None:
    try:
        click.echo(text.visible(line), err=True)
    except BrokenPipeError:
        # Nobody listens any more: what was asked for is done all the same.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _our_bug(error: Exception) -> ExitCode:
    """Write what is needed to report our own mistake to a file, and say where it is."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="torchmatrix-bug-", suffix=".txt", delete=False) as report:
        report.write(f"arguments: {sys.argv[1:]}\npython: {sys.version}\n\n")
        traceback.print_exception(error, file=report)
    _say(f"error: this is a bug in torchmatrix: {type(error).__name__}: {error}\nhint: please report {report.name}")
    return ExitCode.OUR_BUG


def main() -> NoReturn:
    """The command `torchmatrix`."""
    try:
        torchmatrix.main(standalone_mode=False)
        code = int(ExitCode.GOOD)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = ExitCode.INTERRUPTED
    except TorchmatrixError as error:
        _say(f"error: {error}")
        code = error.exit_code
    except OSError as error:
        _say(f"error: {InfrastructureError(error.strerror or str(error), place=str(error.filename or ''))}")
        code = ExitCode.INFRASTRUCTURE
    except Exception as error:  # noqa: BLE001 - the last line of defence: a user never sees a traceback
        code = _our_bug(error)
    sys.exit(code)
