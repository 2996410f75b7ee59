"""The words that failures begin with."""

import pytest

from suites.exits import begins_with_word


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("numerics: too far", True),
        ("backend fell back: openvino took 0", True),
        ("numerics", False),
        ("RuntimeError: numerics: too far", False),
        ("", False),
    ],
)
def test_a_message_that_says_its_cause(line: str, expected: bool) -> None:
    assert begins_with_word(line) is expected
