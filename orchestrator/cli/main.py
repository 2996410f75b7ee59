"""The command `torchmatrix`: its verbs, and what becomes of an error.

A verb is a file beside this one, added to `VERBS`: it parses, calls, prints and gives an exit code.
"""

import signal
import sys
from types import FrameType
from typing import NoReturn

import click

from orchestrator.cli.build import build
from orchestrator.cli.bump import bump
from orchestrator.cli.check import check
from orchestrator.cli.compare import compare
from orchestrator.cli.facts import facts
from orchestrator.cli.history import history
from orchestrator.cli.images import images
from orchestrator.cli.impact import impact
from orchestrator.cli.init import init
from orchestrator.cli.lock import lock
from orchestrator.cli.merge import merge
from orchestrator.cli.output import escape_what_has_no_code, masked, say
from orchestrator.cli.plan import plan, render
from orchestrator.cli.run import run
from orchestrator.cli.runs import runs
from orchestrator.cli.shell import shell
from orchestrator.cli.site import site
from orchestrator.cli.upgrade import upgrade
from orchestrator.errors import ExitCode, InfrastructureError, TorchmatrixError
from orchestrator.running.signals import heard

VERBS: tuple[click.Command, ...] = (
    plan,
    render,
    lock,
    build,
    run,
    merge,
    compare,
    history,
    check,
    bump,
    impact,
    upgrade,
    facts,
    site,
    images,
    runs,
    shell,
    init,
)

_ENDING = (signal.SIGTERM, signal.SIGHUP)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="torchmatrix")
def torchmatrix() -> None:
    """Run PyTorch's version matrix in containers, and merge what came of it into one result."""


for verb in VERBS:
    torchmatrix.add_command(verb)


def _our_bug(error: Exception) -> ExitCode:
    """Write what is needed to report our own mistake to a file, and say where it is."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="torchmatrix-bug-", suffix=".txt", delete=False) as report:
        told = "".join(traceback.format_exception(error))
        report.write(masked(f"arguments: {sys.argv[1:]}\npython: {sys.version}\n\n{told}"))
    say(f"error: this is a bug in torchmatrix: {type(error).__name__}: {error}\nhint: please report {report.name}")
    return ExitCode.OUR_BUG


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    """Leave as by ^C, once: who asks both ways at once, as systemd may, does not cut off what is tidied then."""
    for number in _ENDING:
        if signal.getsignal(number) is _interrupted:
            signal.signal(number, _noted)
    raise KeyboardInterrupt


def _noted(_number: int, _frame: FrameType | None) -> None:
    """Heard already. No `SIG_IGN`, which a tool that is started now would inherit."""


def main() -> NoReturn:
    """The command `torchmatrix`."""
    escape_what_has_no_code()
    try:
        with heard(_ENDING, _interrupted):  # a verb that is told to end tidies up first, secrets above all
            torchmatrix.main(standalone_mode=False)
        code = int(ExitCode.GOOD)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        code = ExitCode.INTERRUPTED
    except TorchmatrixError as error:
        say(f"error: {error}")
        code = error.exit_code
    except OSError as error:
        say(f"error: {InfrastructureError(error.strerror or str(error), place=str(error.filename or ''))}")
        code = ExitCode.INFRASTRUCTURE
    except Exception as error:  # noqa: BLE001 - the last line of defence: a user never sees a traceback
        code = _our_bug(error)
    sys.exit(code)
