"""Checkpoints: the same content in every cell, bit by bit, so that what another cell saved can be held against it.

It is made by whole-number arithmetic, and not of the run's seed: random numbers differ between releases, seeds between
runs. Files are read with `weights_only`, which runs nothing that they contain; before torch 2.6 that promise could be
broken (CVE-2025-32434), so there only a file that this very run wrote is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List

import torch

from suites.fingerprint import octets

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 2  # raise when the content changes: files of two versions are not comparable
ELEMENTS = 256
_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_DTYPES = [
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "bool",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "float8_e4m3fn",
    "float8_e5m2",
    "uint16",
    "uint32",
    "uint64",
]
_NAMES = (*_DTYPES, "layer.weight", "layer.steps")
_NOT_IN_EVERY_TORCH = ("float8_e4m3fn", "float8_e5m2", "uint16", "uint32", "uint64")


@dataclass(frozen=True)
class Comparison:
    """Ours beside theirs: the share of our elements that are theirs bit by bit, and the names of what only one has."""

    exact: float
    missing: List[str]
    unexpected: List[str]
    different: List[str]

    @property
    def lost(self) -> List[str]:
        """What is missing though every torch has it."""
        return [name for name in self.missing if name not in _NOT_IN_EVERY_TORCH]


def content() -> Dict[str, torch.Tensor]:
    """A tensor of each dtype that this torch has, every bit pattern allowed: NaN, infinities and subnormals too."""
    made = {}
    for number, name in enumerate(_DTYPES):
        if hasattr(torch, name):
            made[name] = _pattern(getattr(torch, name), number)
    made["layer.weight"] = (_bits(8, ELEMENTS, len(_DTYPES)).double() / 2.0**63).float().reshape(16, 16)
    made["layer.steps"] = torch.tensor(ELEMENTS)
    return made


def save(path: Path, tensors: Dict[str, torch.Tensor]) -> None:
    """Write a checkpoint, at once and as a whole."""
    part = path.with_name(f".{path.name}.part")
    torch.save({"version": VERSION, "tensors": tensors}, part)
    part.replace(path)


def load(path: Path, place: str) -> Dict[str, torch.Tensor]:
    """What a checkpoint holds; ValueError when it is none of ours, or cannot be read any more.

    Nothing that the file says is repeated: it may come from anywhere, and torch's advice is to trust it.
    """
    if not path.is_file():  # a pipe would be waited for
        raise ValueError(f"{path}: no such file")
    options: Dict[str, Any] = {"map_location": place, "weights_only": True}
    with path.open("rb") as file:
        try:
            whole = torch.load(file, **options)
        except Exception as error:
            raise ValueError(f"{path}: damaged, or no checkpoint ({type(error).__name__})") from error
    version, tensors = (whole.get("version"), whole.get("tensors")) if isinstance(whole, dict) else (None, None)
    if type(version) is not int or version != VERSION or not isinstance(tensors, dict):
        raise ValueError(f"{path}: no checkpoint of this suite, version {VERSION}")
    strange = sum(name not in _NAMES or not _plain(one) for name, one in tensors.items())
    if strange:
        raise ValueError(f"{path}: {strange} of its {len(tensors)} entries are in no checkpoint of version {VERSION}")
    return dict(tensors)


def _plain(one: Any) -> bool:
    return isinstance(one, torch.Tensor) and one.layout is torch.strided and not one.is_meta


def unsafe() -> str:
    """Why this torch must not read a file of others, or an empty text."""
    found = re.match(r"(\d+)\.(\d+)", torch.__version__)
    if found and (int(found.group(1)), int(found.group(2))) >= (2, 6):
        return ""
    return f"not applicable: torch {torch.__version__} can be made to run what a file contains (CVE-2025-32434)"


def compare(ours: Dict[str, torch.Tensor], theirs: Dict[str, torch.Tensor]) -> Comparison:
    """Element by element, over all tensors that both have; those of dtypes that only one torch has are named."""
    same = total = 0
    different = []
    for name in sorted(ours.keys() & theirs.keys()):
        left, right = ours[name], theirs[name]
        total += left.numel()
        if left.dtype != right.dtype or left.shape != right.shape:
            different.append(name)
            continue
        equal = _equal(left, right)
        same += equal
        if equal < left.numel():
            different.append(name)
    return Comparison(
        exact=same / total if total else 0.0,
        missing=sorted(ours.keys() - theirs.keys()),
        unexpected=sorted(theirs.keys() - ours.keys()),
        different=different,
    )


def _equal(left: torch.Tensor, right: torch.Tensor) -> int:
    ours, theirs, size = octets(left), octets(right), left.element_size()
    return sum(ours[at : at + size] == theirs[at : at + size] for at in range(0, len(ours), size))


def _pattern(dtype: torch.dtype, seed: int) -> torch.Tensor:
    if dtype is torch.bool:
        return _bits(8, ELEMENTS, seed) % 2 == 0
    size = torch.empty(0, dtype=dtype).element_size()
    if size == 16:  # two numbers of eight bytes
        return torch.view_as_complex(_bits(8, 2 * ELEMENTS, seed).view(torch.float64).reshape(-1, 2)).clone()
    return _bits(size, ELEMENTS, seed).view(dtype)


def _bits(size: int, number: int, seed: int) -> torch.Tensor:
    """Whole numbers of so many bytes, by a linear congruence (Knuth's MMIX constants, modulo 2^64)."""
    state = torch.arange(number, dtype=torch.int64) + seed * 1_000_003
    for _ in range(3):
        state = state * 6364136223846793005 + 1442695040888963407
    if size == 8:
        return state
    return (state >> 33 & (1 << (8 * size - 1)) - 1).to(_INTEGERS[size])
