"""Which GPUs this machine has, and their kernel driver, as the kernel's own files tell it.

No vendor tool is needed. Only where NVIDIA's driver is there and lists no device is `nvidia-smi` asked, and not for
ever.
"""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from orchestrator.model import Axes

DEADLINE_S = 10.0  # a driver in trouble can hold nvidia-smi for ever
_INTEGRATED = "00:02.0"  # the place of Intel's graphics inside a CPU

# How a printed product name becomes the short name of the `gpu` axis: the first pattern that is found.
_SHORT_NAMES: Sequence[tuple[str, str]] = (
    (r"RTX PRO (\d{4})", r"RTXPRO\1"),
    (r"RTX (\d{4}) Ada", r"RTX\1Ada"),
    (r"RTX (\d{4}) (Ti|SUPER)\b", r"RTX\1\2"),
    (r"RTX (\d{4})\b", r"RTX\1"),
    (r"RX (\d{4}) (XTX|XT)\b", r"RX\1\2"),
    (r"\bMax (\d{4})\b", r"Max\1"),
    (r"\b(MI\d{3}[AX]?|G[BH]\d{2,3}|[ABHLPTVW]\d{1,4}[GS]?)\b", r"\1"),
)
# Where the kernel prints no product name, the PCI device id stands for it.
_PCI_NAMES = {
    "0x738c": "MI100",
    "0x740f": "MI210",
    "0x7408": "MI250X",
    "0x740c": "MI250X",
    "0x74a0": "MI300A",
    "0x74a1": "MI300X",
    "0x74a2": "MI308X",
    "0x74a5": "MI325X",
    "0x0bd5": "Max1550",
    "0x0bda": "Max1100",
    "0x56a0": "A770",
    "0xe20b": "B580",
}


def short_name(printed: str) -> str:
    """`NVIDIA H100 80GB HBM3` -> `H100`; an empty text for a name that no pattern knows."""
    for pattern, short in _SHORT_NAMES:
        if match := re.search(pattern, printed, re.IGNORECASE | re.ASCII):
            return match.expand(short)
    return ""


def find(root: Path, ask: Callable[[], str] | None = None) -> Axes:
    """The axes `driver`, `gpu` and `gpus` of the machine whose `/proc` and `/sys` lie under `root`; none without a GPU.

    `ask` returns what `nvidia-smi --query-gpu=driver_version,name` prints. Of devices that differ the most numerous
    kind is told: a cell takes devices of one kind.
    """
    for driver, names in (_nvidia(root, ask or ask_nvidia), _amd(root), _intel(root)):
        if names:
            return _axes(driver, names)
    return {}


def _axes(driver: str, names: Sequence[str]) -> dict[str, str]:
    most = max(dict.fromkeys(names), key=names.count)
    axes = {"driver": driver, "gpu": most, "gpus": str(names.count(most))}
    return {axis: value for axis, value in axes.items() if value}


def _nvidia(root: Path, ask: Callable[[], str]) -> tuple[str, list[str]]:
    told = _read(root / "proc/driver/nvidia/version")
    if not told:
        return "", []
    match = re.search(r"Kernel Module.*?\s(\d+(?:\.\d+){1,2})\s", told)
    driver = match[1] if match else ""
    listed = sorted((root / "proc/driver/nvidia/gpus").glob("*/information"))
    names = [match[1] for file in listed if (match := re.search(r"^Model:\s*(.+)$", _read(file), re.MULTILINE))]
    if not names:
        rows = [line.partition(",") for line in ask().splitlines() if "," in line]
        driver = driver or (rows[0][0].strip() if rows else "")
        names = [name for _, _, name in rows]
    return driver, [short_name(name) for name in names]


def ask_nvidia() -> str:
    """What nvidia-smi prints of driver and devices; an empty text without it, on an error or past the deadline."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ""
    query = [tool, "--query-gpu=driver_version,name", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, timeout=DEADLINE_S, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def _amd(root: Path) -> tuple[str, list[str]]:
    """Devices that ROCm's kernel side (kfd) has taken: a card that only drives a screen is not one."""
    nodes = (root / "sys/class/kfd/kfd/topology/nodes").glob("*/properties")
    count = sum(1 for node in nodes if re.search(r"^simd_count [1-9]", _read(node), re.MULTILINE))
    names = [_card_name(card) for card in _cards(root, "0x1002")][:count]
    names += [""] * (count - len(names))
    return _read(root / "sys/module/amdgpu/version"), names


def _intel(root: Path) -> tuple[str, list[str]]:
    cards = [card for card in _cards(root, "0x8086") if not card.resolve().name.endswith(_INTEGRATED)]
    driver = _read(root / "sys/module/xe/version") or _read(root / "sys/module/i915/version")
    return driver, [_card_name(card) for card in cards]


def _cards(root: Path, vendor: str) -> Iterator[Path]:
    for card in sorted((root / "sys/class/drm").glob("card*")):
        if re.fullmatch(r"card\d+", card.name) and _read(card / "device/vendor") == vendor:
            yield card / "device"


def _card_name(card: Path) -> str:
    return short_name(_read(card / "product_name")) or _PCI_NAMES.get(_read(card / "device").lower(), "")


def _read(file: Path) -> str:
    """The file's text; empty when it is not there, or the kernel does not give it."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
