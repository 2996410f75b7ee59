"""The suite's source: what it may import, and that the oldest Python it runs on can read it."""

import ast
import sys
from pathlib import Path

import pytest

import suites

HERE = Path(suites.__file__).parent
FILES = sorted(HERE.rglob("*.py"))
FOREIGN = {"torch", "pytest", "suites", "openvino"}  # openvino only to count what it took, where it is the backend


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HERE)))
def test_it_imports_only_what_an_image_has(path: Path) -> None:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names.add((node.module or "").split(".")[0])
    assert names <= FOREIGN | sys.stdlib_module_names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HERE)))
def test_python_3_9_reads_it(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 9))
    annotated = any(isinstance(node, ast.FunctionDef | ast.AnnAssign) for node in ast.walk(tree))
    lazy = any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
    assert lazy or not annotated, "annotations are evaluated without `from __future__ import annotations`"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HERE)))
def test_no_check_is_lost_where_python_leaves_out_assertions(path: Path) -> None:
    # pytest writes those of its test modules anew, so that PYTHONOPTIMIZE leaves them in; of no other file.
    found = [node.lineno for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Assert)]
    assert not found or path.name.startswith("test_"), f"raise AssertionError instead, in lines {found}"


def test_the_modules_that_need_no_torch_do_not_import_it() -> None:
    early = (
        "request",
        "cell",
        "bundle",
        "junit",
        "observe",
        "formulas",
        "timing",
        "summary",
        "expected",
        "command",
        "usage",
    )
    for name in early:
        tree = ast.parse((HERE / f"{name}.py").read_text())
        top = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
        assert not top & {"torch", "pytest"}, name
