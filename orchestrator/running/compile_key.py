"""What a compile cache is a cache of: two cells share one only when all of it is equal. A wrong hit is worse than none.

Compilers have keys of their own inside, for the graph and their options; they leave out much of what is here.
"""

import hashlib
import platform
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from orchestrator import text
from orchestrator.model import Host, Image, PlannedCell

VERSION = "1"  # of this way of keeping them
_ASK_S = 20.0


def is_kept(cell: PlannedCell, host: Host) -> bool:
    """Whether a cell has a cache that is kept.

    None has where nothing is compiled, in an image that is not ours, in an interpreter that nobody can name, and where
    a secret of the cell could come to lie in it.
    """
    compiles = cell.axes.get("backend", "eager") != "eager"
    return compiles and "image" not in cell.axes and not cell.secrets and host.engine in {"docker", "process"}


def fields(
    cell: PlannedCell, image: Image, host: Host, *, suites: str, processor: str, toolchain: str, place: str
) -> Mapping[str, str]:
    """The parts of the key by name.

    `suites` is the digest of the suite, `processor` what kernels for it are built for, `place` the path of the cache
    where it is not always the same.
    """
    return {
        "version": VERSION,
        "engine": host.engine,
        "image": f"{image.name} {image.ref}",
        "suites": suites,
        "processor": processor,
        "toolchain": toolchain,
        "place": place,
        "cpus": str(host.cpus),
        **{f"host {name}": value for name, value in host.axes.items()},  # the device, its driver, the architecture
        **{f"observed {name}": value for name, value in image.observed.items()},  # torch, triton and others in full
        **{f"asked {name}": value for name, value in cell.axes.items()},  # options and variables too
    }


def key(parts: Mapping[str, str]) -> str:
    """The name of the cache: a digest of all parts."""
    return text.digest(dict(parts), 32)


def suites_digest(suites: Path) -> str:
    """Of the suite's own text: its loads are the graphs."""
    whole = hashlib.sha256()
    for path in sorted((suites / "suites").rglob("*.py")):
        content = path.read_bytes()
        whole.update(f"{path.relative_to(suites).as_posix()} {len(content)}\n".encode() + content)
    return whole.hexdigest()


def processor(cpuinfo: str) -> str:
    """Model and instruction sets from /proc/cpuinfo: kernels are built for the very processor that builds them."""
    lines = dict(
        re.findall(
            r"^(vendor_id|cpu family|model|model name|stepping|flags|Features|CPU part)\s*:\s*(.*)$",
            cpuinfo,
            re.MULTILINE,
        )
    )
    flags = " ".join(sorted({*lines.pop("flags", "").split(), *lines.pop("Features", "").split()}))
    told = " ".join(f"{name}={value}" for name, value in sorted(lines.items()))
    return f"{platform.machine()} {told} flags {text.digest(flags, 16)}"


def toolchain(engine: str, image: Image, cell: PlannedCell) -> str:
    """The compiler of the kernels: an image has its own, which its id names; without a container it is this host's."""
    if engine == "docker":
        return image.ref
    named = dict(pair.partition("=")[::2] for pair in cell.axes.get("env", "").split())
    return version_of(named.get("CXX", "g++"))


def version_of(compiler: str) -> str:
    """What a compiler says of its version and target; `none` where it cannot be asked."""
    told = []
    for option in ("--version", "-dumpmachine"):
        try:
            done = subprocess.run([compiler, option], capture_output=True, timeout=_ASK_S, check=True, text=True)
        except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
            return "none"
        told.append(text.one_line(done.stdout.strip().partition("\n")[0], 200))
    return " ".join(told)
