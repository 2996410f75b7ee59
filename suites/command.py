"""The command: from the request to the exit code. Only this file decides what is said when there is no session."""

from __future__ import annotations

import getpass
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Dict, Optional, Sequence

from suites import cases, exits, observe
from suites.bundle import CELL, ENVIRONMENT, STRUCTURE, Bundle
from suites.cell import Cell, CellError, named_by, requested
from suites.devices import DeviceMissing, pick
from suites.junit import Case
from suites.request import PROFILES, Request, parse


def main(argv: Sequence[str]) -> int:
    """Run the suite; the exit code is 0 all passed, 1 a test failed, 2 usage, 4 device missing or lost."""
    request = parse(argv)
    there = cases.read(Path(__file__).parent) or {}
    if request.listing:
        print(cases.listing(there, request.profile or PROFILES[-1], request.loads))
        return exits.PASSED
    unknown = [glob for glob in request.loads if not any(cases.fits(name, [glob]) for name in there)]
    if unknown:
        print(f"python -m suites: no load is named {', '.join(unknown)}: --list prints all", file=sys.stderr)
        return exits.USAGE
    try:
        cell = requested(request)
        _with_environment(cell.axes.get("env", ""), argv)
        bundle = Bundle((request.out or Path(tempfile.mkdtemp(prefix="suites-"))).absolute())
    except (CellError, OSError) as error:
        print(f"python -m suites: {error}", file=sys.stderr)
        return exits.USAGE
    scratch = Path(tempfile.mkdtemp(prefix="suites-scratch-"))
    try:
        _own_caches(scratch)
        code = _run(bundle, cell, request)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"bundle: {bundle.folder}")
    return code


def _run(bundle: Bundle, cell: Cell, request: Request) -> int:
    try:
        import torch  # noqa: F401 - whether it can be imported is the first thing to learn
    except Exception as error:  # noqa: BLE001 - a broken installation raises anything
        return _no_session(
            bundle, cell, exits.FAILED, Case("import torch", "error", _import_word(error), repr(error), 0.0)
        )
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

    return session.run(bundle, cell, request, device)


def _no_session(bundle: Bundle, cell: Cell, code: int, case: Optional[Case]) -> int:
    """A whole bundle for a run that could not begin: no case, or the one that says why."""
    run = {"backend": cell.backend}
    environment = observe.environment(sys.modules.get("torch"), None, run)
    named = named_by(cell, environment["axes"])
    if case is not None:
        bundle.progress(event="start", test=case.name)
        bundle.progress(event="end", test=case.name, outcome=case.outcome)
        print(case.message, file=sys.stderr)
    bundle.put(CELL, named.document())
    bundle.put(ENVIRONMENT, environment)
    bundle.put(STRUCTURE, {"schema_version": 1, "backends": []})
    bundle.cases(named.id, [case] if case else [])
    bundle.seal(code, 1 if case else 0)
    return code


def _import_word(error: BaseException) -> str:
    """What a failed import is told by: a package that is not there, or a library under it."""
    word = exits.MISSING_PACKAGE if isinstance(error, ModuleNotFoundError) else exits.MISSING_LIBRARY
    return f"{word}: {str(error).splitlines()[0] if str(error) else type(error).__name__}"


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
