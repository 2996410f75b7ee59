"""`site`: what this site is set to, and where each value came from."""

import os
import sys
from typing import TYPE_CHECKING

import click

from orchestrator import text
from orchestrator.cli.inputs import site_in_force
from orchestrator.cli.options import json_option
from orchestrator.cli.output import say, show, show_json
from orchestrator.errors import ExitCode

if TYPE_CHECKING:
    from orchestrator.settings.told import SiteAnswer


@click.command()
@json_option
@click.option("--check", "checked", is_flag=True, help="Ask each index, mirror, folder, proxy and login, too.")
def site(as_json: bool, checked: bool) -> None:
    """Show the settings of this site: indexes, registries, certificates, proxies, store; each with its origin.

    A variable TORCHMATRIX_NAME wins over the user's file, and that over what pip and apt on this host are set to.
    Passwords are masked. With --check, exit code 4 says that something could not be used.
    """
    from msgspec.structs import replace

    from orchestrator.settings.told import answer
    from orchestrator.settings.usable import check

    found = site_in_force()
    told = answer(found, os.environ)
    if checked:
        told = replace(told, checks=check(found, os.environ))
    if as_json:
        from msgspec import to_builtins

        show_json(to_builtins(told))
    else:
        _show(told)
    bad = [each for each in told.checks if each.problem]
    for each in bad:
        say(f"error: {each.name}: {text.one_line(each.value)}: {each.problem}")
    sys.exit(ExitCode.INFRASTRUCTURE if bad else ExitCode.GOOD)


def _show(told: "SiteAnswer") -> None:
    show(f"file  {text.one_line(told.file)}" + ("" if told.file_found else " (not there)") + "\n")
    problems = {(each.name, each.value): each.problem for each in told.checks}
    name_width = max(len(each.name) for each in told.settings)
    value_width = min(60, max(len(each.value) for each in told.settings))
    for each in told.settings:
        value = text.one_line(each.value) or "-"
        usable = {"": "  usable", None: ""}.get(problems.get((each.name, each.value)), "  NOT USABLE")
        show(f"{each.name:{name_width}}  {value:{value_width}}  {text.one_line(each.origin)}{usable}".rstrip())
