"""The bytes of a lock file, held flat before a parser of TOML sees them.

Anybody may have written the file, so nothing here recurses or grows with what stands in it: tomllib, whose time grows
with the square of the parts of a dotted key and whose stack with each bracket, is given only what a lock can be.
"""

import re
import tomllib

MAX_BYTES = 1 << 20
_DEEPEST = 3  # brackets that are open at once: `{torch = [{` is the most that says what a lock says
_DOTS = 2  # in one line, outside of quotes; a lock has one, in the same place
# TOML's own words for what holds no structure: https://toml.io/en/v1.0.0#comment, #string. One left open ends its line.
_INERT = re.compile(r"""#[^\n]*|"(?:\\.|[^"\\\n])*"?|'[^'\n]*'?""")
_BRACKET = re.compile(r"[\[\]{}]")


def tables(data: bytes) -> dict[str, object]:
    """What TOML bytes hold; ValueError when they are too many, no UTF-8, no TOML, or nested as no lock is."""
    if len(data) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES >> 20} MiB")
    content = data.decode().replace("\r\n", "\n")
    if '"""' in content or "'''" in content:
        raise ValueError("it has text of more than one line")
    depth = 0
    for number, line in enumerate(_INERT.sub("", content).split("\n"), start=1):
        for bracket in _BRACKET.findall(line):
            depth = max(0, depth + (1 if bracket in "[{" else -1))
            if depth > _DEEPEST:
                raise ValueError(f"line {number} is nested deeper than a lock is")
        if line.count(".") > _DOTS:
            raise ValueError(f"line {number} has a key of more parts than a lock has")
    return tomllib.loads(content)
