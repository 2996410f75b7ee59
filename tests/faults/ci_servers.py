"""What CI servers take for commands in a log, from their own sources: no expression of ours is shared with it."""

# A line that begins so, after blanks: GitHub's `::name data::value` (actions/runner, ActionCommand.TryParseV2), and
# GitLab's sections (gitlab, lib/gitlab/ci/ansi2json), which it also takes where `\r\x1b[0K` ends them.
_FIRST = ("::", "section_start:", "section_end:")
# Wherever it stands in a line, in either case: GitHub's first form (TryParse), Azure's (azure-pipelines-agent,
# Command.TryParse), TeamCity's service messages.
_ANYWHERE = ("##[", "##vso[", "##teamcity[")


def acts(line: str) -> bool:
    """Whether one of them would act on this line of a log."""
    begins = line.lstrip()
    if any(begins.startswith(command) for command in _FIRST):
        return True
    section = "section_start:" in line or "section_end:" in line
    return (section and "\r\x1b[0K" in line) or any(command in line.lower() for command in _ANYWHERE)
