"""The house holds: imports go downwards, one package prints and exits, heavy libraries wait until they are needed."""

import ast
import graphlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "orchestrator").rglob("*.py"))
LIMIT = 400

STOREYS = (
    {"cli"},
    {"studies"},
    {"running"},
    {"planning"},
    {"matrix"},
    {"images"},
    {"engines"},
    {"support"},
    {"results"},
    {"reports"},
    {"ci"},
    {"schemas"},
    {"settings"},
    {"axes", "model", "formats", "vocabulary"},
    {"disk", "text", "masking", "yaml_bounds"},
    {"errors"},
)
LEVEL = {name: level for level, names in enumerate(STOREYS) for name in names}
GROUND = {"settings", "axes", "model", "formats", "vocabulary", "text", "masking", "errors", "yaml_bounds", "disk"}
ROOMS = LEVEL.keys() - GROUND
KNOWS = {
    "cli": ROOMS - {"cli"},
    "studies": ROOMS - {"cli", "studies"},
    "running": {"images", "engines", "results"},
    "planning": {"support", "results"},
    "images": {"engines"},
}
HEAVY = {"docker", "duckdb", "jinja2", "junitparser", "numpy", "packaging", "pyarrow", "rich", "ruamel", "scipy"}
SPEAKS = {"print", "input", "exit", "quit", "sys.exit", "os._exit", "click.echo", "click.secho", "SystemExit"}
SPEAKS |= {f"sys.{stream}.write" for stream in ("stdout", "stderr")}
EXCUSED = {
    # a program for the inside of an image, which imports nothing of ours
    "orchestrator.images.contents": {"sys.stdout.write", "os._exit"},
    # the second ^C ends the process from within a signal handler, where there is nobody to return to
    "orchestrator.running.signals": {"os._exit"},
}


def module(path: Path) -> str:
    """`orchestrator.images.recipe` of a path; a package is named without `__init__`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree: ast.AST) -> Iterator[str]:
    """Every module that a source names in an import, anywhere in it; `from a import b` gives `a` and `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def forbidden_imports(importer: str, tree: ast.AST) -> list[str]:
    """The imports that a module may not have: upwards, or of a room that its own does not know."""
    room = importer.split(".")[1] if "." in importer else ""
    wrong = []
    for name in imports(tree):
        top, _, rest = name.partition(".")
        other = rest.split(".")[0]
        if top != "orchestrator" or other == room:
            continue
        unknown = other in ROOMS and other not in KNOWS.get(room, set())
        if other not in LEVEL or unknown or LEVEL[other] < LEVEL.get(room, -1):
            wrong.append(name)
    return wrong


def at_once(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """What runs when a module is imported: no body of a function, nothing that only type checkers see."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from at_once(node.orelse)
            continue
        yield node
        yield from at_once(list(ast.iter_child_nodes(node)))


def heavy_imports(tree: ast.Module) -> list[str]:
    found = [
        name
        for node in at_once(tree.body)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in imports(ast.Module([node], []))
        if name.split(".")[0] in HEAVY
    ]
    return list(dict.fromkeys(found))


def words_spoken(tree: ast.AST) -> list[str]:
    """Calls that print or exit."""
    called = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    raised = [ast.unparse(node.exc) for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
    return [name for name in (*called, *raised) if name in SPEAKS]


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@pytest.mark.parametrize("path", SOURCES, ids=module)
def test_imports_go_downwards(path: Path) -> None:
    assert forbidden_imports(module(path), parsed(path)) == []


@pytest.mark.parametrize("path", SOURCES, ids=module)
def test_heavy_libraries_wait_until_they_are_needed(path: Path) -> None:
    assert heavy_imports(parsed(path)) == []


@pytest.mark.parametrize("path", [path for path in SOURCES if module(path).split(".")[1:2] != ["cli"]], ids=module)
def test_only_the_command_line_prints_or_exits(path: Path) -> None:
    assert set(words_spoken(parsed(path))) == EXCUSED.get(module(path), set())


def test_no_module_imports_itself_by_a_detour() -> None:
    names = {module(path): path for path in SOURCES}
    graph = {
        name: {_longest(found, names) for found in imports(parsed(path))} & names.keys() for name, path in names.items()
    }
    for name, others in graph.items():
        others -= {name, "orchestrator"}
    order = tuple(graphlib.TopologicalSorter(graph).static_order())  # raises CycleError with the detour
    assert len(order) == len(names)


def _longest(name: str, names: dict[str, Path]) -> str:
    return name if name in names else name.rpartition(".")[0]


def test_every_room_has_a_storey() -> None:
    inside = {module(path).split(".")[1] for path in SOURCES if "." in module(path)}
    assert inside <= LEVEL.keys()


def test_the_suite_knows_nothing_of_the_orchestrator() -> None:
    sources = sorted((ROOT / "suites").rglob("*.py"))
    known = {
        str(path): [name for name in imports_of_suite(path) if name.startswith("orchestrator")] for path in sources
    }
    assert not any(known.values()), known


def imports_of_suite(path: Path) -> list[str]:
    """The suite is a package of its own and may name its modules relatively."""
    nodes = list(ast.walk(parsed(path)))
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return plain + [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]


def test_no_file_is_long() -> None:
    paths = [*SOURCES, *sorted((ROOT / "suites").rglob("*.py"))]
    long = {
        str(path.relative_to(ROOT)): lines for path in paths if (lines := len(path.read_bytes().splitlines())) > LIMIT
    }
    assert long == {}


@pytest.mark.parametrize(
    ("importer", "source"),
    [
        ("orchestrator.text", "from orchestrator.model import Plan"),
        ("orchestrator.results.judge", "import orchestrator.running.run"),
        ("orchestrator.results.judge", "def late():\n    from orchestrator.reports import html"),
        ("orchestrator.planning.plan", "from orchestrator import images"),
        ("orchestrator.reports.html", "from orchestrator.cli import main"),
        ("orchestrator.model", "from orchestrator import nowhere"),
    ],
)
def test_a_wrong_import_is_seen(importer: str, source: str) -> None:
    assert forbidden_imports(importer, ast.parse(source))


@pytest.mark.parametrize(
    ("importer", "source"),
    [
        ("orchestrator.cli", "from orchestrator.running import run"),
        ("orchestrator.running.run", "from orchestrator.engines.task import Task"),
        ("orchestrator.results.judge", "from orchestrator.results.known import apply"),
        ("orchestrator.formats", "from orchestrator.model import Axes"),
        ("orchestrator.text", "import json"),
    ],
)
def test_a_right_import_is_no_matter(importer: str, source: str) -> None:
    assert forbidden_imports(importer, ast.parse(source)) == []


def test_a_heavy_import_is_seen_where_it_runs_at_once() -> None:
    source = """
import docker
if TYPE_CHECKING:
    import jinja2
try:
    from rich.table import Table
except ImportError:
    pass
class Late:
    import duckdb
    def method(self):
        import scipy
def function():
    import pyarrow
"""
    assert set(heavy_imports(ast.parse(source))) == {"docker", "rich.table.Table", "duckdb"}


@pytest.mark.parametrize(
    "source",
    [
        "print('x')",
        "sys.exit(1)",
        "raise SystemExit",
        "raise SystemExit(2)",
        "sys.stdout.write('x')",
        "click.echo('x')",
    ],
)
def test_a_spoken_word_is_heard(source: str) -> None:
    assert words_spoken(ast.parse(source))
