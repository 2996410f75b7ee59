"""A machine that can open no further file: infrastructure, whatever was to be read."""

import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from orchestrator.cli.check import _opened
from orchestrator.errors import InfrastructureError, TorchmatrixError
from orchestrator.images.locks import read_lock
from orchestrator.matrix.source import bytes_of
from orchestrator.model import SecretSource
from orchestrator.results.bundle import read_bundle
from orchestrator.results.finding import find
from orchestrator.results.merge import read_plan
from orchestrator.settings.sources import value_of
from orchestrator.settings.user import from_file
from orchestrator.support import facts_files, wheel

READERS: dict[str, Callable[[Path], object]] = {
    "bundles": lambda folder: find([folder], []),
    "a bundle": read_bundle,
    "a plan": lambda folder: read_plan(folder / "file"),
    "a lock": lambda folder: read_lock(folder, "image"),
    "a matrix": lambda folder: bytes_of(folder / "file"),
    "a secret": lambda folder: value_of(SecretSource(name="TOKEN", file=str(folder / "file")), {}),
    "the site": lambda folder: list(from_file({"TORCHMATRIX_SITE": str(folder / "file")})),
    "questions": lambda folder: _opened(str(folder / "file")).close(),
    "a wheel": lambda folder: wheel.read(folder / "file"),
    "facts": lambda folder: facts_files.read_file(folder / "file"),
}


@contextmanager
def no_more_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    os.close(lowest := os.dup(0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize("kind", READERS)
def test_too_many_open_files_are_not_the_fault_of_what_was_to_be_read(kind: str, tmp_path: Path) -> None:
    for name in ("file", "image.lock.toml", "attempt.json", "cell.json"):
        (tmp_path / name).write_text("[" * 40)
    with suppress(TorchmatrixError):
        READERS[kind](tmp_path)  # what it imports is here by now
    with pytest.raises(InfrastructureError, match="Too many open files"), no_more_files():
        READERS[kind](tmp_path)
