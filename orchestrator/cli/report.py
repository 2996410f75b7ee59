"""The report of a run that has ended: the page, and the table on the terminal."""

from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.cli.output import colour, show, width
from orchestrator.formats import PAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.model import Run


def report(done: "Run", folder: Path, *, as_json: bool, resume: str = "", asked: "Sequence[str]" = ()) -> None:
    """Write the page, print the table; `resume` is the command that finishes a run that is not complete.

    `asked` are the options with which a cell is run again as it was.
    """
    from orchestrator.reports import html, terminal
    from orchestrator.results import metrics_table
    from orchestrator.results.files import replacing

    page = html.report(done, metrics_table.read(folder / "metrics.parquet"), resume, asked)
    with replacing(folder / PAGE) as half:
        half.write_text(page, encoding="utf-8")
    if as_json:
        show((folder / "summary.json").read_text(encoding="utf-8"))
        return
    show(terminal.grid(done, width=width(), colour=colour(), resume=resume, asked=asked))
    show("\n" + "\n".join(f"{name:9}{folder / file}" for name, file in _OUTPUTS.items()))


_OUTPUTS = {"report": PAGE, "junit": "junit.xml", "metrics": "metrics.parquet", "summary": "summary.json"}
