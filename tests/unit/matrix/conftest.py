"""What the tests of this room share: the tree of a snippet, and what a form tells about it."""

from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.errors import InputErrors
from orchestrator.matrix.forms import Form
from orchestrator.matrix.parse import parse
from orchestrator.matrix.problems import Problems

Reader = Callable[[Form[Any], str], Any]


@pytest.fixture
def read() -> Reader:
    """Reads a snippet of YAML with a form: its value, or InputErrors."""

    def read_snippet(form: Form[Any], snippet: str) -> Any:
        problems = Problems()
        value = form.read(parse(snippet, "m", problems), "key", problems)
        problems.raise_any()
        return value

    return read_snippet


@pytest.fixture
def told(read: Reader) -> Callable[[Form[Any], str], list[str]]:
    """What a form tells about a snippet."""

    def told_of(form: Form[Any], snippet: str) -> list[str]:
        with pytest.raises(InputErrors) as caught:
            read(form, snippet)
        return [str(problem) for problem in caught.value.problems]

    return told_of
