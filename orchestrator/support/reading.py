"""From what somebody wrote to a Question: every value read, or named as one that could not be.

Values are text, or what JSON has for it: a list of packages or variables, an object, a flag. A key that is no axis and
a value that says nothing are ignored and named; nothing that a user writes here is an error.
"""

import re
from collections.abc import Callable, Mapping

from orchestrator import text
from orchestrator.axes import AXES, Grammar, problem_with
from orchestrator.support import extensions, words, written
from orchestrator.support.axes import is_version
from orchestrator.support.conditions import Value
from orchestrator.support.devices import count_in, slice_in
from orchestrator.support.question import Question

_LONGEST = 400
_MOST = 64
_ABSENT = re.compile(r"(?:none|no|n/a|null|absent|not installed|-)?", re.IGNORECASE)
_ANY = re.compile(r"(?:any|all|\*|unknown|\?)", re.IGNORECASE)
# How people call an axis elsewhere.
_OTHER_NAMES: Mapping[str, str] = {
    "pytorch": "torch",
    "torch_version": "torch",
    "cuda": "cuda_runtime",
    "rocm": "rocm_userspace",
    "nvidia_driver": "driver",
    "driver_version": "driver",
    "python_version": "python",
    "compute_capability": "gpu_arch",
    "gpu_name": "gpu",
    "mig": "partition",
    "arch": "host_arch",
}
# What says the contrary of the value in it, or tells of two times.
_CONTRARY = re.compile(
    r"(?:not|no|non|without|never|except|instead of)\b|.*(?:->|=>|\N{RIGHTWARDS ARROW}|\bnouveau\b)", re.IGNORECASE
)
_SEVERAL = re.compile(r",|\||\s\+\s|\s(?:or|and|vs)\s", re.IGNORECASE)
# Axes of one word, of which two are no answer: half of what was said would go unread.
_ONE_WORD = frozenset(
    {"torch_build", "host_arch", "os", "distro", "libc", "channel", "gpu_class", "gpu_vendor", "kernel_modules"}
)
_VARIABLE = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(\S*)")
_NCCL = re.compile(r"nvidia[-_]nccl[-_]cu(\d+)(?:\s*==\s*([\d.]+))?")
_ARCHES = re.compile(r"(?:sm|compute)_\d{2,3}[af]?|gfx[0-9]{1,2}[0-9a-f]{2}|\b\d{1,2}\.\d\b")


def read(combination: Mapping[str, object]) -> Question:
    """The question that a combination asks; keys are axes, values as people write them."""
    question = Question(values={}, origin={}, scope=frozenset(), ignored=())
    ignored: list[str] = []
    for key, raw in combination.items():
        axis = key if key in AXES or _OTHER_NAMES.get(key, key) in combination else _OTHER_NAMES.get(key, key)
        if axis not in AXES or len(question.values) > _MOST:
            ignored.append(text.one_line(str(axis), 60))
        elif not _take(question, axis, raw):
            ignored.append(axis)
    question.scope = _scope(question)
    question.ignored = tuple(ignored)
    return question


def _take(question: Question, axis: str, raw: object) -> bool:
    """Puts a value into the question; False when it says nothing that can be read."""
    if isinstance(raw, str) and _ANY.fullmatch(raw.strip()):
        return True
    if reader := _WHOLE.get(axis):
        return reader(question, raw)
    if isinstance(raw, list | tuple):
        raw = ", ".join(map(str, raw))
    if raw is None or isinstance(raw, Mapping):
        return raw is None
    plain = " ".join(str(raw).split())[:_LONGEST]
    return (_ABSENT.fullmatch(plain) is not None and axis not in _ABSENCE_COUNTS) or _take_text(question, axis, plain)


def _take_text(question: Question, axis: str, plain: str) -> bool:
    contrary = axis not in _ABSENCE_SAYS and _CONTRARY.match(plain)
    if contrary or (axis in _ONE_WORD and _SEVERAL.search(plain)) or _is_outside(axis, plain):
        return False
    if special := _SPECIAL.get(axis):
        return special(question, plain)
    return _set(question, axis, written.version(axis, plain) if is_version(axis) else words.word(axis, plain))


def _is_outside(axis: str, plain: str) -> bool:
    """Whether an axis of a closed set is given a word that is not in it; `gpus` may say `multi`."""
    grammar = AXES[axis].grammar
    if axis == "gpus" and plain.lower() == "multi":
        return False
    closed = axis not in _FREELY_WRITTEN and grammar in {Grammar.CHOICE, Grammar.COUNT}
    return closed and bool(problem_with(AXES[axis], plain))


def _word(text: str) -> Value:
    return Value(text, words=(text,))


def _follow(question: Question, axis: str, value: Value, source: str) -> None:
    """Adds what the value of `source` says of another axis, unless that was given itself."""
    if axis not in question.values:
        question.values[axis] = value
        question.origin[axis] = (source,)


def _set(question: Question, axis: str, value: Value | None) -> bool:
    """What is given outweighs what follows from another value, whichever is read first."""
    if value is not None:
        question.values[axis] = value
        question.origin.pop(axis, None)
    return value is not None


def _take_torch(question: Question, plain: str) -> bool:
    question.nightly = written.is_nightly(plain)
    if build := written.torch_build_in(plain):
        _follow(question, "torch_build", _word(build), "torch")
        question.own_build = build
    return _set(question, "torch", written.version("torch", plain))


def _take_gpu(question: Question, plain: str) -> bool:
    """Which device a name means is for the facts to say; here only the count and the slice are taken off."""
    count, name = count_in(plain)
    parent, profile = slice_in(name)
    if count:
        _follow(question, "gpus", _word(count), "gpu")
    if profile:
        _follow(question, "partition", _word(profile.lower()), "gpu")
    return _set(question, "gpu", _word(parent) if parent else None)


def _take_os(question: Question, plain: str) -> bool:
    """A distribution given as the operating system is one of Linux."""
    system, distribution = words.word("os", plain), words.word("distro", plain)
    if system is None and distribution is not None:
        _follow(question, "distro", distribution, "os")
        system = _word("linux")
    return _set(question, "os", system)


def _take_distribution(question: Question, plain: str) -> bool:
    """Windows 11 given as a distribution is Windows; a Linux that nobody knows is not read."""
    distribution, system = words.word("distro", plain), words.word("os", plain)
    is_system = system is not None and (system.text != "linux" or plain.lower() == "linux")
    if distribution is None and system is not None and is_system and "os" not in question.values:
        _follow(question, "os", system, "distro")
        return True
    return _set(question, "distro", distribution)


def _take_base(question: Question, plain: str) -> bool:
    """The base of an image: its distribution too, where its name tells one."""
    if (distribution := words.word("distro", plain)) is not None:
        _follow(question, "distro", distribution, "base")
    return _set(question, "base", Value(plain, words=(plain.lower(),)))


def _take_compat(question: Question, plain: str) -> bool:
    lowered = plain.lower()
    if _ABSENT.fullmatch(plain) or lowered in {"false", "off", "inactive", "disabled"}:
        value: Value | None = _word("none")
    elif lowered in {"active", "true", "yes", "on", "enabled"}:
        value = _word("active")
    else:
        value = written.version("cuda_compat", plain)
    return _set(question, "cuda_compat", value)


def _items(raw: object) -> list[str]:
    """A list, an object or a text as single texts."""
    if isinstance(raw, Mapping):
        return [f"{name}={value}" for name, value in raw.items()][:_MOST]
    if isinstance(raw, list | tuple):
        return [str(item)[:_LONGEST] for item in raw][:_MOST]
    return [str(raw)[:_LONGEST]]


def _take_env(question: Question, raw: object) -> bool:
    """The variables that some rule knows; prose about the environment is not read."""
    found = [match for item in _items(raw) for match in _VARIABLE.finditer(item)]
    prose = [item for item in _items(raw) if item.strip() and not _VARIABLE.match(item)]
    for name, value in (match.groups() for match in found):
        _take_variable(question, name, value)
    question.values["env"] = Value(" ".join(match[0].strip() for match in found), words=("env",))
    return not prose


def _take_variable(question: Question, name: str, value: str) -> None:
    match name:
        case "LD_LIBRARY_PATH" if re.search(r"\bcuda\b", value, re.IGNORECASE):
            _follow(question, "ld_library_path", _word("cuda"), "env")
        case "HSA_OVERRIDE_GFX_VERSION" if override := written.version("hsa_override", value):
            _follow(question, "hsa_override", override, "env")
        case "NVIDIA_DISABLE_REQUIRE" if value.lower() in {"1", "true"}:
            _follow(question, "require_check", _word("skipped"), "env")
        case "NCCL_NVLS_ENABLE":
            _follow(question, "nccl_nvls", _word("off" if value == "0" else "on"), "env")
        case "TRITON_PTXAS_PATH":
            _follow(question, "triton_ptxas", _word("given"), "env")
        case _:
            return


def _take_nccl(question: Question, raw: object) -> bool:
    found = [match for item in _items(raw) for match in _NCCL.finditer(item.lower())]
    if not found:
        return False
    flavours = {match[1] for match in found}
    question.values["nccl_installed"] = Value(", ".join(sorted(match[0] for match in found)), words=("nccl",))
    _follow(question, "nccl_packages", _word("several" if len(flavours) > 1 else "one"), "nccl_installed")
    if len(flavours) == 1 and found[0][2] and (value := written.version("nccl", found[0][2])):
        _follow(question, "nccl", value, "nccl_installed")
    if len(flavours) == 1 and (cuda := written.version("cuda_runtime", f"{found[0][1]}.x")):
        _follow(question, "nccl_cuda", cuda, "nccl_installed")
    return True


def _take_arches(question: Question, raw: object) -> bool:
    names = [name for item in _items(raw) for name in _ARCHES.findall(item.lower())]
    read = [value.text for name in names if (value := words.architecture(name.replace("compute_", "sm_")))]
    ptx = [f"ptx_{name[8:]}" for name in names if name.startswith("compute_")]
    if not read:
        return False
    held = dict.fromkeys(value for value, name in zip(read, names, strict=False) if not name.startswith("compute_"))
    question.values["torch_arch_list"] = Value(" ".join((*held, *ptx)), words=(*held, *ptx))
    return True


def _scope(question: Question) -> frozenset[str]:
    """What is asked beside install, import and eager kernels; a backend that compiles asks for torch.compile."""
    asked = set(question.values["scope"].words) if "scope" in question.values else set()
    backend = question.values.get("backend")
    if backend is not None and not set(backend.words) & {"eager", "ipex"}:
        asked.add("torch.compile")
    return frozenset(asked - {"eager"})


_WHOLE: Mapping[str, Callable[[Question, object], bool]] = {
    "env": _take_env,
    "ext": extensions.take,
    "nccl_installed": _take_nccl,
    "torch_arch_list": _take_arches,
}
_SPECIAL: Mapping[str, Callable[[Question, str], bool]] = {
    "cuda_compat": _take_compat,
    "gpu": _take_gpu,
    "torch": _take_torch,
    "os": _take_os,
    "distro": _take_distribution,
    "base": _take_base,
}
_ABSENCE_SAYS = {"cuda_compat", "require_check", "needs_ptx_jit"}
_ABSENCE_COUNTS = _ABSENCE_SAYS | {"torch", "python", "driver"}
_FREELY_WRITTEN = {"host_arch"}
