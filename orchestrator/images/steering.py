"""Which of a ready image's variables a cell gets: what production's torch reads stays, what steers our run goes. Pure.

A variable that makes the loader, a shell, Python or pytest run something else, that names devices, or that names a
place to write to is not passed on. LD_LIBRARY_PATH is: vendors' images find their libraries by it, so what production's
torch loads depends on it; it is told with its value.
"""

import re
from collections.abc import Mapping, Sequence

from orchestrator import text

LIBRARIES = "LD_LIBRARY_PATH"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_PREFIXES = ("LD_", "PYTHON", "PYTEST_", "TORCHMATRIX_", "BASH_", "GCONV_", "GLIBC_", "XDG_")
_EXACT = frozenset(
    (
        *(
            "ENV",
            "PROMPT_COMMAND",
            "SHELLOPTS",
            "BASHOPTS",
            "PS4",
            "IFS",
            "CDPATH",
            "LOCPATH",
            "NLSPATH",
            "MALLOC_TRACE",
        ),
        *("HOME", "USER", "LOGNAME", "TMPDIR", "TMP", "TEMP", "PWD", "OLDPWD", "TORCH_HOME", "HF_HOME", "MPLCONFIGDIR"),
        *("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "GPU_DEVICE_ORDINAL"),
        *("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "ONEAPI_DEVICE_SELECTOR"),
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "HOSTALIASES", "RES_OPTIONS"),
    )
)
_WRITTEN_TO = re.compile(r"_CACHE(_DIR|_PATH)?$|_EXTENSIONS_DIR$")
_PLAIN = frozenset({"PATH", "LANG", "LANGUAGE", "TZ", "TERM", "DEBIAN_FRONTEND", LIBRARIES})  # nothing to tell of


def left_out(env: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the image's variables that a cell does not get."""
    return tuple(name for name in env if name and _steers(name))  # one without a name cannot be taken away


def _steers(name: str) -> bool:
    if name == LIBRARIES:
        return False
    plain = name.upper()
    return (
        _NAME.fullmatch(name) is None
        or plain in _EXACT
        or plain.startswith(_PREFIXES)
        or _WRITTEN_TO.search(plain) is not None
    )


def told(env: Mapping[str, str]) -> tuple[str, ...]:
    """A line on what is left out, on the library path, and on what else stays. Values may be secrets: names alone."""
    gone = left_out(env)
    stays = sorted(name for name in env if name not in gone and name not in _PLAIN and not name.startswith("LC_"))
    lines = []
    if gone:
        lines.append(f"variables of the image that are left out: {_names(gone)}")
    if env.get(LIBRARIES):
        lines.append(f"the image's {LIBRARIES} is kept: {text.one_line(env[LIBRARIES], 200)}")
    if stays:
        lines.append(f"variables of the image that are kept: {_names(stays)}")
    return tuple(lines)


def _names(names: Sequence[str]) -> str:
    return text.one_line(", ".join(text.one_line(name, 60) for name in sorted(names)), 400)
