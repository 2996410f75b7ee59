"""Checkpoints: the same bits in every cell, and what of another's is not the same."""

import subprocess
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.torch
Snippet = Callable[..., subprocess.CompletedProcess[str]]

HEAD = """
import pathlib, sys, tempfile
import torch
from suites import checkpoints
path = pathlib.Path(tempfile.mkdtemp()) / "c.pt"
ours = checkpoints.content()
"""


def held(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_content_is_the_same_in_every_torch(snippet: Snippet) -> None:
    held(
        snippet(
            f"""{HEAD}
assert ours["int32"][:4].tolist() == WANT["int32"], ours["int32"][:4].tolist()
assert ours["uint8"][:4].tolist() == WANT["uint8"], ours["uint8"][:4].tolist()
assert ours["int64"][0].item() == WANT["int64"], ours["int64"][0].item()
assert ours["float16"].isnan().any() and ours["bool"].any() and not ours["bool"].all()
""".replace("WANT", repr(numbers()))
        )
    )


def numbers() -> dict[str, object]:
    """The first numbers of some tensors, worked out in plain Python."""

    def bits(size: int, number: int, at: int) -> int:
        state = at + number * 1_000_003
        for _ in range(3):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        state -= 2**64 if state >= 2**63 else 0
        return state if size == 8 else (state >> 33) % 2 ** (8 * size - 1)

    number = {"uint8": (0, 1), "int32": (3, 4)}
    first = {name: [bits(size, at, step) for step in range(4)] for name, (at, size) in number.items()}
    return {**first, "int64": bits(8, 4, 0)}


def test_what_is_saved_comes_back(snippet: Snippet) -> None:
    held(
        snippet(f"""{HEAD}
checkpoints.save(path, ours)
found = checkpoints.compare(ours, checkpoints.load(path, "cpu"))
assert (found.exact, found.missing, found.unexpected, found.different) == (1.0, [], [], []), found
assert [one.name for one in path.parent.iterdir()] == ["c.pt"]
""")
    )


def test_what_differs_is_named(snippet: Snippet) -> None:
    held(
        snippet(f"""{HEAD}
theirs = {{name: one.clone() for name, one in ours.items()}}
theirs["float32"][7] = 1.5
theirs["float64"][0] = -theirs["float64"][0]
theirs["int16"] = theirs["int16"].int()
del theirs["bool"]
theirs["new"] = torch.ones(1)
found = checkpoints.compare(ours, theirs)
assert (found.missing, found.unexpected) == (["bool"], ["new"])
assert found.different == ["float32", "float64", "int16"] and 0.9 < found.exact < 1
assert found.lost == ["bool"]
assert checkpoints.compare(ours, {{}}).exact == 0
del theirs["float8_e5m2"]
assert checkpoints.compare(ours, theirs).lost == ["bool"], "not every torch has it"
""")
    )


def test_a_file_that_runs_something_or_is_none_of_ours_is_refused(snippet: Snippet) -> None:
    held(
        snippet(f"""{HEAD}
class Evil:
    def __reduce__(self):
        return (sys.exit, (9,))
for content in (Evil(), {{"version": 2, "tensors": Evil()}}, {{"version": 1, "tensors": {{}}}}, [1]):
    torch.save(content, path)
    try:
        checkpoints.load(path, "cpu")
    except ValueError as refusal:
        assert str(refusal).startswith(str(path)), refusal
    else:
        raise AssertionError(content)
""")
    )


def test_what_no_checkpoint_of_ours_holds_is_counted_and_never_repeated(snippet: Snippet) -> None:
    held(
        snippet(f"""{HEAD}
ours = checkpoints.content()
strange = [{{"a\\ud800b": ours["bool"]}}, {{"\\x1b[2J": ours["bool"]}}, {{7: ours["bool"]}}]
strange += [{{"bool": "no tensor"}}, {{"float32": torch.eye(2).to_sparse()}}]
for one in strange:
    torch.save({{"version": 2, "tensors": {{**ours, **one}}}}, path)
    number = len({{**ours, **one}})
    try:
        checkpoints.load(path, "cpu")
    except ValueError as refusal:
        assert str(refusal) == f"{{path}}: 1 of its {{number}} entries are in no checkpoint of version 2", refusal
    else:
        raise AssertionError(one)
torch.save({{"version": torch.tensor([2, 2]), "tensors": ours}}, path)
try:
    checkpoints.load(path, "cpu")
except ValueError as refusal:
    assert str(refusal) == f"{{path}}: no checkpoint of this suite, version 2", refusal
""")
    )


def test_a_pipe_is_not_waited_for(snippet: Snippet) -> None:
    held(
        snippet(f"""{HEAD}
import os
pipe = path.with_name("pipe")
os.mkfifo(pipe)
try:
    checkpoints.load(pipe, "cpu")
except ValueError as refusal:
    assert str(refusal) == f"{{pipe}}: no such file"
else:
    raise AssertionError("it was read")
""")
    )


@pytest.mark.parametrize(
    ("version", "safe"), [("1.13.0a0", False), ("2.5.1", False), ("2.6.0+debian", True), ("2.14.1", True)]
)
def test_a_file_of_others_is_read_only_where_that_is_safe(snippet: Snippet, version: str, safe: bool) -> None:
    held(
        snippet(f"""{HEAD}
torch.__version__ = {version!r}
told = checkpoints.unsafe()
assert (told == "") is {safe}, told
assert told == "" or told.startswith("not applicable: ") and "CVE-2025-32434" in told
""")
    )
