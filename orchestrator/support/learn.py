"""From what a wheel or an image was seen to hold, to rows of facts."""

import re
from collections.abc import Iterator, Mapping, Sequence

from orchestrator import axes
from orchestrator.errors import InputError
from orchestrator.support import words
from orchestrator.support.facts import Facts
from orchestrator.support.learned import MEASURED, METADATA, Learned, compiled, in_order, learned, pin, pinned
from orchestrator.support.rows import Row
from orchestrator.support.wheel import Wheel
from orchestrator.vocabulary import RuleKind

_COMMON = 0.25  # of the containers: a few kernels are compiled for more architectures than the build is

_PIN_PACKAGES = (
    (re.compile(r"(?:pytorch-)?triton(?:-rocm|-xpu)?"), "triton"),
    (re.compile(r"nvidia-nccl-cu\d+"), "nccl"),
    (re.compile(r"nvidia-cudnn-cu\d+"), "cudnn"),
)
_PLATFORM = re.compile(r"(?:manylinux|musllinux|linux|macosx|win)[0-9_]*?_?(x86_64|aarch64|arm64|amd64|32)")
_TAGGED = re.compile(r"manylinux_(\d{1,2})_(\d{1,3})_")
_ARCHES: Mapping[str, str] = {"amd64": "x86_64", "arm64": "aarch64"}
_FLAGS = re.compile(r"(?:sm_|compute_|gfx)[0-9a-f]{2,5}[a-z]?")


def from_wheel(wheel: Wheel) -> tuple[Learned, ...]:
    """What a wheel says of the package that it holds; InputError when that is nothing that facts speak of."""
    axis = next((axis for axis in axes.AXES.values() if axis.package == wheel.name), None)
    if axis is None:
        known = ", ".join(sorted(one.package for one in axes.AXES.values() if one.package))
        raise InputError(f"no facts speak of `{wheel.name}`", place=wheel.file, cause=f"they speak of {known}")
    place = _place(wheel.platforms)
    rows = list(_torch(wheel, place) if axis.name == "torch" else _companion(wheel, axis.name, place))
    return tuple(one for one in rows if all(one.example.values()))


def _place(platforms: Sequence[str]) -> dict[str, str]:
    """Operating system and machine of the platform tags; nothing when they name several, or any."""
    places = set()
    for platform in platforms:
        if found := _PLATFORM.fullmatch(platform):
            system = "macos" if platform.startswith("mac") else "windows" if platform.startswith("win") else "linux"
            places.add((system, _ARCHES.get(found[1] or "", found[1] or "")))
    if len(places) != 1:
        return {}
    ((system, machine),) = places
    return {"os": system, "host_arch": machine}


def _torch(wheel: Wheel, place: Mapping[str, str]) -> Iterator[Learned]:
    release = {"torch": wheel.version}
    build = {"torch_build": build_of(wheel.local, wheel.said)}
    here = {**release, **place, "torch_from": "wheel"}
    yield learned("index-mapping", RuleKind.MAPPING, "table", here, build, METADATA, one_of=True)
    if wheel.pythons:
        yield learned("python-wheel", RuleKind.MAPPING, "table", here, {"python": wheel.pythons}, METADATA, one_of=True)
    if wheel.requires_python:
        needs = {"python": _without_zeros(wheel.requires_python)}
        because = "torch {torch} asks for Python {allowed}"
        yield learned(
            "python-wheel",
            RuleKind.INTERVAL,
            "all",
            {**release, "torch_from": "wheel"},
            needs,
            METADATA,
            because=because,
        )
    if place.get("os") == "linux" and (floor := _glibc(wheel)):
        yield learned("glibc", RuleKind.INTERVAL, "table", {**here, **build}, {"glibc": floor[0]}, floor[1])
    yield from compiled({**release, **build}, place.get("host_arch", ""), _common(wheel))
    for package, version in wheel.pins.items():
        for pattern, axis in _PIN_PACKAGES:
            if pattern.fullmatch(package) and (needed := pin(axis, version)):
                yield pinned({**release, **build}, axis, *needed)


def _companion(wheel: Wheel, axis: str, place: Mapping[str, str]) -> Iterator[Learned]:
    """A package beside torch: the torch that it asks for, its Pythons and its glibc."""
    release = {axis: wheel.version}
    if torch := wheel.pins.get("torch"):
        because = f"{wheel.name} {{{axis}}} asks for torch {{allowed}}, here is {{torch}}"
        public = torch.partition("+")[0]
        yield learned(
            "companion-pin", RuleKind.PIN, "all", release, {"torch": public}, METADATA, because=because, one_of=True
        )
    if wheel.pythons:
        needs = {"python": wheel.pythons}
        name = f"{axis.replace('_', '-')}-wheel"
        yield learned(name, RuleKind.MAPPING, "table", {**release, **place}, needs, METADATA, one_of=True)
    if place.get("os") == "linux" and (floor := _glibc(wheel)):
        because = f"the wheel of {wheel.name} {{{axis}}} needs glibc {{allowed}}, here is {{glibc}}"
        needs_glibc = {"glibc": floor[0]}
        yield learned("glibc", RuleKind.INTERVAL, "all", {**release, **place}, needs_glibc, floor[1], because=because)


def _glibc(wheel: Wheel) -> tuple[str, str] | None:
    """The glibc that a wheel needs, and how that is known: pip asks for the tag's, the libraries for their own."""
    tags = [found for platform in wheel.platforms if (found := _TAGGED.match(platform))]
    tagged = min(((int(found[1]), int(found[2])) for found in tags), default=(0, 0))
    major, _, minor = wheel.glibc.partition(".")
    asked = (int(major), int(minor)) if wheel.glibc else (0, 0)
    if not any((*tagged, *asked)):
        return None
    needed = max(tagged, asked)
    return f">={needed[0]}.{needed[1]}", MEASURED if needed == asked else METADATA


def build_of(local: str, said: Mapping[str, str]) -> str:
    """The torch build of a local version, or of what the package says that it was compiled with; cpu for neither."""
    build = axes.AXES["torch_build"]
    if local and not axes.problem_with(build, local):
        return local
    for key, form in (("cuda", "cu{}{}"), ("hip", "rocm{}.{}")):
        if found := re.match(r"(\d{1,2})\.(\d{1,2})", said.get(key, "")):
            return form.format(found[1], found[2])
    return "xpu" if said.get("xpu") else "cpu"


def _without_zeros(condition: str) -> str:
    """`>=3.9` of `>=3.9.0`: the first release of 3.9 is meant by both."""
    return re.sub(r"(?<=\d\.)(\d+)(?:\.0)+(?=[,\s]|$)", r"\1", condition).replace(" ", "")


def _common(wheel: Wheel) -> tuple[str, ...]:
    """The architectures that most kernels hold code for, in the order of their numbers."""
    if wheel.compressed:
        return ()  # what could not be opened may hold more
    return in_order(name for name, count in wheel.code.items() if count >= _COMMON * wheel.containers)


def from_image(seen: Mapping[str, str], facts: Facts) -> tuple[Learned, ...]:
    """What an image says that was asked for its contents: torch, Python, device code, what stands beside."""
    torch, build = seen.get("torch", "").partition("+")[0], seen.get("torch_build", "")
    if not torch or not build:
        raise InputError("the image names no torch and build")
    release, from_ = {"torch": torch}, seen.get("torch_from", "wheel")
    here = {**release, "os": "linux", "host_arch": seen.get("host_arch", ""), "torch_from": from_}
    rows: list[Learned] = []
    python = ".".join(seen.get("python", "").split(".")[:2])
    if from_ == "wheel":
        rows = [
            learned("index-mapping", RuleKind.MAPPING, "table", here, {"torch_build": build}, MEASURED, one_of=True),
            learned("python-wheel", RuleKind.MAPPING, "table", here, {"python": (python,)}, MEASURED, one_of=True),
        ]
    elif distro := words.distribution(seen.get("base", "")):
        base = {"torch_from": from_, "distro": distro.text}
        held = {"torch": torch, "python": python, "torch_build": build}
        rows.append(learned("distribution", RuleKind.MAPPING, "table", base, held, MEASURED, one_of=True))
    flags = _FLAGS.findall(seen.get("torch_arch_list", ""))
    rows += compiled({**release, "torch_build": build}, seen.get("host_arch", ""), in_order(flags))
    rows += [_beside(axis, seen[axis].partition("+")[0], torch) for axis in sorted(_companions(facts) & seen.keys())]
    return tuple(one for one in rows if all(one.example.values()))


def _beside(axis: str, version: str, torch: str) -> Learned:
    """That a companion stood beside a torch: it says that they go together, not that others do not."""
    return Learned(
        rule="companion-pin",
        kind=RuleKind.PIN,
        mode="all",
        row=Row(when={axis: version}, need={"torch": torch}, partial=True, source=MEASURED),
        example={axis: version},
        one_of=True,
    )


def _companions(facts: Facts) -> set[str]:
    """The axes that stand and fall with torch."""
    return {
        axis
        for rule in facts.file.rules
        if rule.name == "companion-pin"
        for row in rule.rows
        if "torch" in (row.need or {}) and len(row.when) == 1
        for axis in row.when
    }
