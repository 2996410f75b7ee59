"""A file of facts as YAML, in the style of the shipped ones: a row a line."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import to_builtins

from orchestrator import text
from orchestrator.support.rows import FactsFile

_PLAIN = re.compile(r"[a-z][a-z0-9_]*(?:-[a-z0-9_]+)*", re.ASCII)
_OTHERS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})  # what some readers take for no text
_IN_ROWS = ("rows", "exclusions", "synonyms")


def written(file: FactsFile, about: str) -> str:
    """The text of a file of facts; `about` is told in a comment at its head."""
    whole: Mapping[str, Any] = to_builtins(file)
    lines = [f"# {text.one_line(about)}", *_sources(whole.get("sources", {})), *_rules(whole.get("rules", ()))]
    return "\n".join(lines) + "\n"


def _sources(sources: Mapping[str, Any]) -> Iterator[str]:
    yield "sources:" if sources else "sources: {}"
    for key, source in sources.items():
        yield f"  {_flow(key)}: {_flow(source)}"


def _rules(rules: list[Mapping[str, Any]]) -> Iterator[str]:
    yield "rules:" if rules else "rules: []"
    for rule in rules:
        lead = "  - "
        for key, value in rule.items():
            if key in _IN_ROWS:
                yield f"{lead}{key}:"
                yield from (f"      - {_flow(row)}" for row in value)
            else:
                yield f"{lead}{key}: {_flow(value)}"
            lead = "    "


def _flow(value: Any) -> str:
    """A value on one line. Every text that is no plain word is quoted: 2.10 is no number, no is no denial."""
    match value:
        case Mapping():
            return "{" + ", ".join(f"{_flow(key)}: {_flow(each)}" for key, each in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_flow, value)) + "]"
        case bool():
            return "true" if value else "false"
        case str():
            plain = _PLAIN.fullmatch(value) is not None and value not in _OTHERS
            return value if plain else "'" + text.shown(value, 4000).replace("'", "''") + "'"
        case _:
            return str(value)
