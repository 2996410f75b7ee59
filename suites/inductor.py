"""Inductor, read after it compiled: its kernels and what is fused in each, what it left to torch, what its cache had.

All of it is private to torch and moves: what this torch does not have is None here, never a 0.
"""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import Any, Dict, FrozenSet, List, Optional, Tuple

_DEFINED = re.compile(r"^(\w+) = async_compile\.\w+\(", re.MULTILINE)
_NAME = re.compile(r"^(?:cpp|mps|triton_[a-z]{3})_fused_(\w+?)(?:_\d+)?$")
# What inductor has no kernel for, it calls by its name; `extern_kernels.mm` is a library that it chose.
_LEFT = re.compile(r"\btorch\.ops\.(aten\.\w+)(?:\.\w+)?\(")
_HITS, _MISSES, _BYPASSED = "fxgraph_cache_hit", "fxgraph_cache_miss", "fxgraph_cache_bypass"


def modules() -> List[Any]:
    """The generated modules that this process has loaded, oldest first: one with `call` is a graph."""
    from torch._inductor.codecache import PyCodeCache

    cache: Any = PyCodeCache  # older torch keeps a dictionary `cache` instead of a list
    found = cache.modules if hasattr(cache, "modules") else cache.cache.values()
    return [module for module in found if hasattr(module, "call")]


def sources(since: int) -> Optional[List[str]]:
    """The text of each graph's module after the first `since`; None when one cannot be read."""
    try:
        return [Path(module.__file__).read_text(encoding="utf-8") for module in modules()[since:]]
    except (OSError, AttributeError, TypeError, UnicodeDecodeError):
        return None


def kernels(source: str) -> List[Tuple[str, ...]]:
    """The members of each kernel that a generated module defines, in its order."""
    return [members(name) for name in _DEFINED.findall(source)]


def left_to_torch(source: str) -> List[str]:
    """The operators that a generated module calls as torch has them, `aten.sort` say, each once."""
    return sorted(set(_LEFT.findall(source)))


def members(kernel: str) -> Tuple[str, ...]:
    """The operators in a kernel's name: `cpp_fused_add_native_layer_norm_0` has two; a template's name is its own."""
    named = _NAME.match(kernel)
    if not named:
        return (kernel,)
    return _split(named.group(1), _operators()) or _split(named.group(1), _all_operators()) or (named.group(1),)


def cache_hits(counters: Dict[str, Any]) -> Optional[Tuple[int, int]]:
    """Hits and misses of the cache of graphs; None when this torch counts neither, or does not use it."""
    counted = counters["inductor"]
    if not any(name in counted for name in (_HITS, _MISSES, _BYPASSED)):
        return None
    return int(counted.get(_HITS, 0)), int(counted.get(_MISSES, 0)) + int(counted.get(_BYPASSED, 0))


@functools.lru_cache(maxsize=None)
def found_cache() -> bool:
    """Whether an earlier process left something in the folder of the cache. Asked before anything is compiled."""
    folder = os.environ.get("TORCHINDUCTOR_CACHE_DIR", "")
    try:
        return bool(folder) and any(Path(folder).iterdir())
    except OSError:
        return False


@functools.lru_cache(maxsize=None)
def _operators() -> FrozenSet[str]:
    return _known(("aten::", "prims::"))


def _all_operators() -> FrozenSet[str]:
    """Also those that somebody registered, and may register yet; asked last: `add_relu` is one of them, too."""
    return _known(("",))


def _known(beginnings: Tuple[str, ...]) -> FrozenSet[str]:
    import torch

    ask = getattr(torch._C, "_dispatch_get_all_op_names", list)  # noqa: SLF001 - nothing public tells it
    return frozenset(name.split("::", 1)[1].split(".", 1)[0] for name in ask() if name.startswith(beginnings))


def _split(text: str, known: FrozenSet[str]) -> Tuple[str, ...]:
    """The text as names of operators joined by `_`, with as few of them as can be; nothing when it is not made so."""
    words = text.split("_")  # an operator whose name begins with `_` begins with an empty word
    best: List[Optional[Tuple[str, ...]]] = [()] + [None] * len(words)
    for end in range(1, len(words) + 1):
        for begin in range(end):
            name, before = "_".join(words[begin:end]), best[begin]
            now = best[end]
            if before is not None and name in known and (now is None or len(before) + 1 < len(now)):
                best[end] = (*before, name)
    return best[-1] or ()
