"""What YAML may be before a loader builds anything of it: no aliases, nothing nested deep, whole characters."""

import re

MAX_DEPTH = 32  # far beyond any file of ours; the loader's time grows with the square of it
_HALF = re.compile("[\ud800-\udfff]")


def admit(content: str) -> None:
    """ValueError, with the line, for a document that would grow or take its time; the loader's own errors come too.

    A few aliases stand for more than a disk holds; an escape may spell half of a character, which nothing can write.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, ScalarEvent

    depth = 0
    for event in YAML(typ="safe", pure=True).parse(content):
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if isinstance(event, AliasEvent):
            raise ValueError(f"line {event.start_mark.line + 1}: aliases are not supported")  # noqa: TRY004 - of a file
        if isinstance(event, ScalarEvent) and _HALF.search(event.value):
            raise ValueError(f"line {event.start_mark.line + 1}: it holds half of a character")
        if depth > MAX_DEPTH:
            raise ValueError(f"line {event.start_mark.line + 1}: it is nested deeper than {MAX_DEPTH} levels")
