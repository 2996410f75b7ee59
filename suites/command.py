"""The command: from the request to the exit code. Only this file decides what is said when there is no session."""

from __future__ import annotations

import errno
import getpass
import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Dict, Iterator, NoReturn, Optional, Sequence

from suites import cases, exits, observe, usage
from suites.bundle import CELL, ENVIRONMENT, STRUCTURE, Bundle
from suites.cell import Cell, named_by, requested
from suites.devices import DeviceMissing, pick
from suites.junit import Case
from suites.request import PROFILES, Request, UsageError, parse


def main(argv: Sequence[str]) -> int:
    """Run the suite; the exit code is 0 all passed, 1 a test failed, 2 usage, 4 device missing or lost."""
    try:
        return _main(parse(argv), argv)
    except UsageError as error:
        print(f"python -m suites: {error}", file=sys.stderr)
        return exits.USAGE


def _main(request: Request, argv: Sequence[str]) -> int:
    there = cases.read(Path(__file__).parent) or {}
    if request.listing:
        profile = request.profile or PROFILES[-1]
        usage.hold_loads(there, profile, False, request.loads)
        print(cases.listing(there, profile, request.loads))
        return exits.PASSED
    try:
        cell = requested(request)
        usage.hold_loads(there, cell.profile, cell.backend != "eager", request.loads)
        usage.hold_checkpoints(there, cell, request)
        _with_environment(cell.axes.get("env", ""), argv)
    except OSError as error:
        raise UsageError(str(error)) from None
    scratch = Path(tempfile.mkdtemp(prefix="suites-scratch-"))
    try:
        _own_caches(scratch)
        broken = _broken_torch()  # torch may read where its caches are as soon as it is imported
        if broken is None:
            usage.hold_backend(request.backend)
        bundle = _bundle(request.out)
        with _no_silent_leave():
            return _run(bundle, cell, request, broken)
    except OSError as error:
        word = exits.OUT_OF_DISK if error.errno in (errno.ENOSPC, errno.EDQUOT) else "error"
        print(f"{word}: the bundle was not completed: {error}", file=sys.stderr)
        return exits.FAILED
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _no_silent_leave() -> Iterator[None]:
    """Let nothing that runs in this process end it with 0 (`os._exit`) before the suite has said how it went."""
    leave, suite = os._exit, os.getpid()
    errors = os.dup(sys.stderr.fileno())  # pytest takes the descriptor itself while a test runs

    def told(status: int) -> NoReturn:
        if status == exits.PASSED and os.getpid() == suite:
            os.write(errors, b"error: something ended the process before the suite had said all\n")
            status = exits.FAILED
        leave(status)

    os._exit = told
    try:
        yield
    finally:
        os._exit = leave
        os.close(errors)


def _bundle(out: Optional[Path]) -> Bundle:
    try:
        return Bundle((out or Path(tempfile.mkdtemp(prefix="suites-"))).absolute())
    except OSError as error:
        raise UsageError(str(error)) from None


def _broken_torch() -> Optional[Exception]:
    """Why torch cannot be imported. Asked once: a second import of what came half way fails for another reason."""
    try:
        import torch  # noqa: F401 - whether it can be imported is the first thing to learn
    except Exception as error:  # noqa: BLE001 - a broken installation raises anything
        return error
    return None


def _run(bundle: Bundle, cell: Cell, request: Request, broken: Optional[Exception]) -> int:
    if broken is not None:
        why = Case("import torch", "error", _import_word(broken), repr(broken), 0.0)
        return _no_session(bundle, cell, exits.FAILED, why)
    try:
        import pytest  # noqa: F401 - likewise
    except ImportError as error:
        return _no_session(bundle, cell, exits.FAILED, Case("import pytest", "error", _import_word(error), "", 0.0))
    try:
        device = pick(cell.device, int(cell.axes.get("gpus", "1")))
    except DeviceMissing as error:
        print(f"{exits.DEVICE_MISSING}: {error}", file=sys.stderr)
        return _no_session(bundle, cell, exits.DEVICE, None)
    from suites import session

    code = session.run(bundle, cell, request, device)
    print(f"bundle: {bundle.folder}")
    return code


def _no_session(bundle: Bundle, cell: Cell, code: int, case: Optional[Case]) -> int:
    """A whole bundle for a run that could not begin: no case, or the one that says why."""
    run = {"backend": cell.backend}
    environment = observe.environment(sys.modules.get("torch"), None, run)
    named = named_by(cell, environment["axes"])
    if case is not None:
        bundle.progress(event="start", test=case.name)
        bundle.progress(event="end", test=case.name, outcome=case.outcome)
        print(case.message, *_what_to_do(case), sep="\n", file=sys.stderr)
    bundle.put(CELL, named.document())
    bundle.put(ENVIRONMENT, environment)
    bundle.put(STRUCTURE, {"schema_version": 1, "backends": []})
    bundle.cases(named.id, [case] if case else [])
    bundle.seal(code, 1 if case else 0)
    print(f"no load was run, the bundle says only why: {bundle.folder}")
    return code


def _what_to_do(case: Case) -> Sequence[str]:
    """What the suite needs where this interpreter lacks it as a whole, and how it comes there."""
    lacks = [f"{exits.MISSING_PACKAGE}: No module named '{name}'" for name in ("torch", "pytest")]
    if case.message not in lacks:
        return ()
    return (
        f"the suite needs torch and pytest in the Python that runs it, which is {sys.executable}",
        f"hint: `{sys.executable} -m pip install torch pytest`",
        f"hint: or `uv pip install --python {sys.executable} torch pytest`; or run it with a Python that has them",
    )


def _import_word(error: BaseException) -> str:
    """What a failed import is told by: a package or a library that is not there, or what it raised of its own."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    if isinstance(error, ModuleNotFoundError):
        return f"{exits.MISSING_PACKAGE}: {lines[0]}"
    if isinstance(error, (ImportError, OSError)):
        return f"{exits.MISSING_LIBRARY}: {lines[0]}"
    return f"{type(error).__name__}: {lines[0]}"


def _with_environment(pairs: str, argv: Sequence[str]) -> None:
    """Begin again with the cell's variables: the loader and the interpreter read theirs only at their own start."""
    wanted: Dict[str, str] = dict(pair.split("=", 1) for pair in pairs.split() if "=" in pair)
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        os.environ.update(wanted)
        sys.stdout.flush()
        original = getattr(sys, "orig_argv", [sys.executable, "-m", "suites", *argv])  # since Python 3.10
        os.execv(sys.executable, [sys.executable, *original[1:]])  # noqa: S606 - the same command, no shell


def _own_caches(scratch: Path) -> None:
    """Caches of compilers under a folder of this run, unless the caller keeps them elsewhere."""
    for name, folder in (
        ("TORCHINDUCTOR_CACHE_DIR", "inductor"),
        ("TRITON_CACHE_DIR", "triton"),
        ("TORCH_EXTENSIONS_DIR", "extensions"),
        ("CUDA_CACHE_PATH", "cuda"),
        ("XDG_CACHE_HOME", "cache"),
    ):
        os.environ.setdefault(name, str(scratch / folder))
    # A precompiled header is 150 MB and 20 s, for the few kernels of a smoke run.
    os.environ.setdefault("TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS", "0")
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "2")
    try:
        getpass.getuser()
    except (KeyError, OSError):  # a container's user has no name, and torch asks for one
        os.environ["LOGNAME"] = str(os.getuid())
    if not os.access(os.environ.get("HOME", "/nonexistent"), os.W_OK):
        os.environ["HOME"] = str(scratch)
