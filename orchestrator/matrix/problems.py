"""What is wrong with a document, gathered so that it can be told all at once."""

from typing import NoReturn

from orchestrator import text
from orchestrator.errors import InputError, InputErrors
from orchestrator.model import Place

SHOWN = 100  # a page of problems is read, a book of them is not


class Problems:
    """Gathers problems with their places; the one thing in this room that changes while a document is read."""

    def __init__(self) -> None:
        self._found: list[tuple[Place, InputError]] = []

    def add(self, place: Place, fact: str, *, cause: str = "") -> None:
        """Keeps one problem; `fact` and `cause` are one line together."""
        self._found.append((place, InputError(fact, place=str(place), cause=cause)))

    def stop(self, place: Place, fact: str, *, cause: str = "") -> NoReturn:
        """Keeps one problem after which nothing can be read, and raises InputErrors with all that were gathered."""
        self.add(place, fact, cause=cause)
        raise InputErrors(self._in_order())

    def __len__(self) -> int:
        return len(self._found)

    def raise_any(self) -> None:
        """Raises InputErrors with what was gathered, in the order of the file; nothing when all is well."""
        if self._found:
            raise InputErrors(self._in_order())

    def _in_order(self) -> list[InputError]:
        ordered = sorted(self._found, key=lambda found: (found[0].line, found[0].column))
        errors = [error for _, error in ordered[:SHOWN]]
        if len(ordered) > SHOWN:
            errors.append(
                InputError(f"and {text.counting(len(ordered) - SHOWN, 'more problem')}", place=ordered[0][0].file)
            )
        return errors
