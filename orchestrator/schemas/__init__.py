"""The JSON Schemas (2020-12) of the files that torchmatrix reads and writes, made from its own types."""

from typing import Any


def read(name: str) -> dict[str, Any]:
    """The schema of that name, such as `metric`; FileNotFoundError when there is none."""
    import json
    from importlib.resources import files

    schema: dict[str, Any] = json.loads(files(__name__).joinpath(f"{name}.schema.json").read_text(encoding="utf-8"))
    return schema
