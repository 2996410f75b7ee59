"""Backends: what is refused, what is missing, and what is counted."""

import subprocess
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.torch
Snippet = Callable[..., subprocess.CompletedProcess[str]]

COMPILES = "import torch\nif not hasattr(torch, 'compile'): raise SystemExit(77)\n"


def held(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode == 77:
        pytest.skip("this torch has no torch.compile")
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_unknown_backend_is_refused_and_a_package_is_named(snippet: Snippet) -> None:
    held(
        snippet(
            COMPILES
            + """
from suites import backends
backends.ready("eager")
for name, told in (("nosuch", "backend refused: torch"), ("torch_tensorrt", "missing package: backend torch_tensorrt")):
    try:
        backends.ready(name)
    except AssertionError as error:
        assert str(error).startswith(told), error
    else:
        raise SystemExit(f"{name} was taken")
"""
        )
    )


def test_a_torch_without_compile_is_refused(snippet: Snippet) -> None:
    held(
        snippet("""
import torch
if hasattr(torch, "compile"): del torch.compile
from suites import backends
try:
    backends.ready("inductor")
except AssertionError as error:
    assert str(error).endswith("has no torch.compile, inductor needs it"), error
else:
    raise SystemExit("taken")
""")
    )


def test_graphs_breaks_and_reasons_are_counted(snippet: Snippet) -> None:
    held(
        snippet(
            COMPILES
            + """
from suites import backends
def broken(x):
    x = x.sin()
    torch._dynamo.graph_break()
    return x.cos()
before = backends.start("aot_eager")
backends.through("aot_eager", broken)(torch.ones(3))
use = backends.used("aot_eager", before)
assert (use.graphs, use.taken) == (2, 2), use
number, reasons = backends.counts(use)
assert number == 1 and len(reasons) == 1 and "\\n" not in reasons[0], use
"""
        )
    )


def test_breaks_of_one_reason_add_up_and_frames_left_to_python_are_counted(snippet: Snippet) -> None:
    held(
        snippet(
            COMPILES
            + """
from suites import backends
from torch._dynamo.utils import counters
before = backends.start("aot_eager")
counters["graph_break"].update({"why\\n at one line": 2, "why\\n at another": 1, "else": 1})
counters["frames"].update({"total": 5, "ok": 3})
use = backends.used("aot_eager", before)
assert use.breaks == {"why": 3, "else": 1} and use.skipped == 2, use
assert backends.counts(use) == (4, ("else", "why"))
"""
        )
    )


LACKING = {
    "InvalidCxxCompiler: No working C++ compiler found in torch._inductor.config.cpp.cxx": "a C++ compiler",
    "CppCompileError: fatal error: Python.h: No such file or directory": "Python.h (the headers of this Python)",
    "fatal error: torch/csrc/inductor/cpp_prefix.h: No such file or directory": "the C++ headers of torch",
    "ModuleNotFoundError: No module named 'setuptools'": "setuptools",
    "RuntimeError: Failed to find C compiler. Please specify via CC environment variable": "a C compiler",
    "CppCompileError: C++ compile error: expected ';' before '}' token": None,
    "OSError: x.so: failed to map segment from shared object": None,
}


def test_what_a_toolchain_lacks(snippet: Snippet) -> None:
    held(
        snippet(f"""
from suites.backends import toolchain_missing
told = {{text: toolchain_missing(RuntimeError(text)) for text in {list(LACKING)!r}}}
assert told == {LACKING!r}, told
""")
    )


def test_a_refusal_is_one_line_without_its_noise(snippet: Snippet) -> None:
    held(
        snippet("""
from suites.backends import refusal
said = refusal("openvino", ValueError("\\nsources must not be empty\\n"))
assert said == "backend refused: openvino: sources must not be empty", said
assert refusal("x", ValueError()) == "backend refused: x: ValueError"
""")
    )
