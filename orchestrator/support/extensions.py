"""Third-party wheels: what the name of one says that it was built for."""

import re
from collections.abc import Mapping

from orchestrator.support import written
from orchestrator.support.conditions import Value
from orchestrator.support.question import Question

_CUDA = re.compile(r"cu(\d{2,3})(?!\d)")
_TORCH = re.compile(r"(?:torch|pt)[ _-]?(\d+\.\d+)|pt(\d)(\d{1,2})(?=cu|cpu)")  # torch2.8, pt28cu128
_ABI = re.compile(r"cxx11[ _]?abi[ _=]*(true|false|1|0)", re.IGNORECASE)
_GLIBC = re.compile(r"(?:glibc|manylinux)[ _]?(\d)[._](\d{1,2})")
_LONGEST = 400


def take(question: Question, raw: object) -> bool:
    """Puts what is told of an extension into the question; False when its text names nothing it was built for."""
    items = raw.items() if isinstance(raw, Mapping) else [("", raw)]
    told = [f"{name} {value}".strip()[:_LONGEST] for name, value in list(items)[:8]]
    question.values["ext"] = Value("; ".join(told), words=tuple(item.lower() for item in told) or ("",))
    named = [_take_one(question, item) for item in told]
    return any(named)


def _take_one(question: Question, told: str) -> bool:
    found = {
        "ext_torch": (match := _TORCH.search(told.lower()))
        and written.version("torch", match[1] or f"{match[2]}.{match[3]}"),
        "ext_cuda": (match := _CUDA.search(told.lower())) and _cuda(match[1]),
        "ext_glibc": (match := _GLIBC.search(told.lower())) and written.version("glibc", f"{match[1]}.{match[2]}"),
        "ext_cxx11_abi": (match := _ABI.search(told)) and _flag(match[1]),
    }
    for axis, value in found.items():
        if value is not None:
            question.values[axis] = value
            question.origin[axis] = ("ext",)
    return any(value is not None for value in found.values())


def _cuda(digits: str) -> Value | None:
    """`cu12` is any 12.x, `cu124` is 12.4."""
    return written.version("cuda_runtime", digits)


def _flag(text: str) -> Value:
    word = "true" if text.lower() in {"true", "1"} else "false"
    return Value(word, words=(word,))
