"""From YAML text to a tree. The strict part of YAML only: no aliases, no tags, no second document.

The events of the parser are read, not its nodes: they keep the place of an alias and the tag of a text, a broken
alias does not stop them, and nesting costs no recursion.
"""

from typing import TYPE_CHECKING

from orchestrator import text
from orchestrator.matrix.problems import Problems
from orchestrator.matrix.tree import Listing, Node, Refused, Scalar, Table
from orchestrator.model import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ruamel.yaml.error import MarkedYAMLError, StreamMark
    from ruamel.yaml.events import CollectionStartEvent, DocumentStartEvent, Event, ScalarEvent

MAX_DEPTH = 16
MAX_TEXT = 4096
MAX_NODES = 100_000  # half a minute of the parser would pass for a hang


def parse(content: str, name: str, problems: Problems) -> Node:
    """The tree of a document; `name` is the file in each place.

    InputErrors when the text is not one whole document. What is wrong inside of one is added to `problems`, so that
    the reader of the tree can tell its own beside it.
    """
    builder = _Builder(name, problems)
    for event in _events(content, name, problems):
        builder.take(event)
    return builder.root or problems.stop(Place(file=name, line=1, column=1), "the file is empty")


def _events(content: str, name: str, problems: Problems) -> "Iterator[Event]":
    """The parser's events; InputErrors with what was found so far when a syntax error ends them."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        yield from YAML(typ="safe", pure=True).parse(content)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problems.stop(_place(mark, name), _told(error.problem or error.context), cause=_begun(error))
    except (YAMLError, ValueError, LookupError, TypeError, AttributeError, AssertionError) as error:
        # The pure parser lets a few of its own slips through on hostile input.
        start = Place(file=name, line=1, column=1)
        problems.stop(start, "this is not YAML", cause=text.one_line(str(error), 160))


def _told(problem: str | None) -> str:
    """A parser's complaint in our words."""
    said = text.one_line(problem or "this is not YAML", 200)
    if "'\\t'" in said:
        return "a tab cannot indent YAML: use spaces"
    return said.replace("\\x00", "end of file").replace("<stream end>", "end of file")


def _begun(error: "MarkedYAMLError") -> str:
    mark = error.context_mark
    return f"{error.context} that begins in line {mark.line + 1}" if error.context and mark else ""


def _place(mark: "StreamMark | None", name: str) -> Place:
    return Place(file=name, line=mark.line + 1, column=mark.column + 1) if mark else Place(file=name, line=1, column=1)


class _Open:
    """A list or mapping whose end was not seen yet."""

    def __init__(self, place: Place, *, is_table: bool) -> None:
        self.place = place
        self.is_table = is_table
        self.items: list[Node] = []

    def closed(self, problems: Problems) -> Node:
        if not self.is_table:
            return Listing(items=tuple(self.items), place=self.place)
        entries: dict[str, tuple[Scalar, Node]] = {}
        for key, value in zip(self.items[::2], self.items[1::2], strict=True):
            if isinstance(key, Refused):
                continue
            if not isinstance(key, Scalar):
                problems.add(key.place, "a key must be text")
            elif key.value == "<<":
                problems.add(key.place, "merge keys are not supported: write the values out")
                entries[key.value] = (key, Refused(place=key.place))
            elif key.value in entries:
                first = entries[key.value][0].place
                problems.add(
                    key.place,
                    f"`{text.shown(key.value)}` is given twice",
                    cause=f"first in line {first.line}, again in line {key.place.line}",
                )
            else:
                entries[key.value] = (key, value)
        return Table(entries=tuple(entries.values()), place=self.place)


class _Builder:
    """Makes the tree from events, in one pass."""

    def __init__(self, name: str, problems: Problems) -> None:
        self.root: Node | None = None
        self._name = name
        self._problems = problems
        self._open: list[_Open] = []
        self._nodes = 0

    def take(self, event: "Event") -> None:
        """Takes the next event."""
        from ruamel.yaml import events

        place = _place(event.start_mark, self._name)
        match event:
            case events.DocumentStartEvent():
                self._begin_document(event, place)
            case events.AliasEvent():
                name = text.shown(str(event.anchor))
                self._problems.add(place, f"aliases are not supported: write out what `*{name}` stands for")
                self._put(Refused(place=place))
            case events.ScalarEvent():
                self._check_node(event, place)
                if len(event.value) > MAX_TEXT:
                    self._problems.add(place, f"a text of {len(event.value)} characters; at most {MAX_TEXT} are read")
                start, end = event.start_mark.index, event.end_mark.index
                self._put(Scalar(value=event.value, place=place, start=start, end=end))
            case events.SequenceStartEvent() | events.MappingStartEvent():
                self._check_node(event, place)
                if len(self._open) >= MAX_DEPTH:
                    self._problems.stop(place, f"nested deeper than {MAX_DEPTH} levels")
                self._open.append(_Open(place, is_table=isinstance(event, events.MappingStartEvent)))
            case events.SequenceEndEvent() | events.MappingEndEvent():
                self._put(self._open.pop().closed(self._problems))
            case _:
                pass

    def _begin_document(self, event: "DocumentStartEvent", place: Place) -> None:
        if self.root is not None:
            self._problems.stop(place, "a second document begins here: the file holds one")
        if event.tags or event.version:
            self._problems.add(place, "YAML directives (%YAML, %TAG) are not supported")

    def _check_node(self, event: "ScalarEvent | CollectionStartEvent", place: Place) -> None:
        if event.anchor is not None:
            self._problems.add(place, f"anchors and aliases are not supported: remove `&{text.shown(event.anchor)}`")
        if event.tag is not None:
            self._problems.add(place, f"tags are not supported: remove `{text.shown(event.tag)}`")

    def _put(self, node: Node) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            self._problems.stop(node.place, f"more than {MAX_NODES} values: a matrix of that size is a mistake")
        if self._open:
            self._open[-1].items.append(node)
        else:
            self.root = node
