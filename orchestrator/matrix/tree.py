"""A parsed document: text, lists and mappings, each with its place. Nothing in it has a meaning yet."""

from msgspec import Struct

from orchestrator.model import Place


class Scalar(Struct, frozen=True, kw_only=True):
    """A scalar as it is written: `2.10` is the text 2.10 and `NO` the text NO.

    It stands, quotes and all, between the characters `start` and `end` of the document.
    """

    value: str
    place: Place
    start: int = 0
    end: int = 0


class Listing(Struct, frozen=True, kw_only=True):
    """A list."""

    items: tuple["Node", ...]
    place: Place


class Table(Struct, frozen=True, kw_only=True):
    """A mapping; its keys are unique and stand in the order of the file."""

    entries: tuple[tuple[Scalar, "Node"], ...]
    place: Place


class Refused(Struct, frozen=True, kw_only=True):
    """What was already told to be wrong: nothing more is said about it."""

    place: Place


Node = Scalar | Listing | Table | Refused


def kind(node: Node) -> str:
    """What a reader of the file would call the node."""
    match node:
        case Scalar():
            return "text" if node.value else "nothing"
        case Listing():
            return "a list"
        case Table():
            return "a mapping"
        case Refused():
            return "an alias"
