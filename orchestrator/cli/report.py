"""The report of a run that has ended: the page, and the table on the terminal."""

from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.cli.output import colour, show, width
from orchestrator.formats import PAGE

if TYPE_CHECKING:
    from orchestrator.model import Plan, Run


def report(done: "Run", folder: Path, *, as_json: bool, resume: str = "") -> None:
    """Write the page, print the table; `resume` is the command that finishes a run that is not complete."""
    from orchestrator.reports import html, terminal
    from orchestrator.results import metrics_table
    from orchestrator.results.files import replacing

    page = html.report(done, metrics_table.read(folder / "metrics.parquet"), resume)
    with replacing(folder / PAGE) as half:
        half.write_text(page, encoding="utf-8")
    if as_json:
        show((folder / "summary.json").read_text(encoding="utf-8"))
        return
    show(terminal.grid(done, width=width(), colour=colour(), resume=resume))
    show("\n" + "\n".join(f"{name:9}{folder / file}" for name, file in _OUTPUTS.items()))


def report_what_is_there(plan: "Plan", folder: Path, *, as_json: bool, resume: str) -> None:
    """A run that ended early was merged all the same: its report says what is done and what is not."""
    from orchestrator.results.merge import merge as merge_bundles

    if (folder / "summary.json").is_file():
        committed = [file.parent for file in folder.glob("cells/*/attempt-*/attempt.json")]
        report(merge_bundles(plan, committed, run_id=folder.name), folder, as_json=as_json, resume=resume)


_OUTPUTS = {"report": PAGE, "junit": "junit.xml", "metrics": "metrics.parquet", "summary": "summary.json"}
