"""Containerfile text from a template: typed values in, text out; an undefined name is our bug and stops everything."""

import re
import traceback
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from orchestrator import text
from orchestrator.errors import InputError, TorchmatrixError

if TYPE_CHECKING:
    from jinja2 import Environment


class Values(Struct, frozen=True, kw_only=True):
    """All that a template may say about an image."""

    image_id: str
    base: str
    python: str
    torch: str
    torch_build: str
    distribution: bool
    companions: tuple[str, ...]
    cuda_compat: str
    compute_runtime: str
    level_zero: str


def folder() -> Path:
    """Where the templates are: in the package when it is installed, at the top of a checkout otherwise."""
    packaged = Path(__file__).with_name("templates")
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "images"


def fill(template: str, values: Values, templates: Path | None = None) -> str:
    """The filled template; TorchmatrixError with template and line when it does not fit the values."""
    from jinja2 import TemplateError, TemplateSyntaxError

    try:
        filled = _environment(templates or folder()).get_template(template).render(msgspec.structs.asdict(values))
    except TemplateSyntaxError as problem:
        raise TorchmatrixError(
            text.one_line(str(problem.message)), place=f"images/{problem.name}:{problem.lineno}"
        ) from problem
    except TemplateError as problem:
        lines = [frame for frame in traceback.extract_tb(problem.__traceback__) if frame.filename.endswith(".j2")]
        place = f"images/{Path(lines[-1].filename).name}:{lines[-1].lineno}" if lines else f"images/{template}"
        raise TorchmatrixError(text.one_line(str(problem)), place=place) from problem
    _refuse_secrets(filled, template)
    return filled


def _refuse_secrets(filled: str, template: str) -> None:
    """InputError where the history of the image would tell a secret: arguments and variables stand there for good."""
    instructions = re.findall(
        r"^[ \t]*(?:ARG|ENV)[ \t]+(.*)", filled.replace("\\\n", " "), re.MULTILINE | re.IGNORECASE
    )
    names = [name for said in instructions for name in re.findall(r"(?:^|\s)([A-Za-z_]\w*)(?==|\s|$)", said)]
    for name in names:
        if text.looks_secret(name):
            raise InputError(
                f"`{name}` looks like a secret: `docker history` would tell it",
                place=f"images/{template}",
                hint=f"RUN --mount=type=secret,id={name} …, and `secrets: [{name}]` in the row",
            )


def fingerprint(template: str, templates: Path | None = None) -> str:
    """The digest of a platform's template and of what all platforms share: an edited comment counts too."""
    place = templates or folder()
    return text.digest([(place / name).read_text(encoding="utf-8") for name in (template, "macros.j2")])


@cache
def _environment(templates: Path) -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(  # noqa: S701 - a Containerfile is not HTML; values are checked by the axes' grammars
        loader=FileSystemLoader(templates), undefined=StrictUndefined, keep_trailing_newline=True
    )
