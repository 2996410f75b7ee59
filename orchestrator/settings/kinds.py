"""What kinds of settings there are, and how their values look whatever they come from."""

from collections.abc import Iterator, Mapping

# Kinds of setting: one text, a list (white space between the items in a variable), or pairs (name=value there).
KINDS: Mapping[str, str] = {
    "indexes": "pairs",
    "extra_indexes": "list",
    "find_links": "list",
    "ca_bundle": "text",
    "apt_mirror": "text",
    "bases": "pairs",
    "registries": "pairs",
    "packages": "text",
    "proxies": "pairs",
    "store": "text",
    "cache": "text",
}
Value = str | tuple[str, ...] | Mapping[str, str]
Found = Iterator[tuple[str, Value, str]]  # setting, value, origin
FORMS = {"text": "one text", "list": "a list of texts", "pairs": "a mapping of names to texts"}


def items(value: object) -> tuple[tuple[str, str], ...]:
    """The texts of a value, by their names where it has any."""
    if isinstance(value, Mapping):
        return tuple((str(name), str(each)) for name, each in value.items())
    return tuple(("", str(each)) for each in value) if isinstance(value, tuple) else (("", str(value)),)
