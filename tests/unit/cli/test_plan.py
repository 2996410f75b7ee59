"""The plan, and the recipe of a cell."""

import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator import errors
from orchestrator.errors import ExitCode

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_plan_prints_the_cells_and_why(torchmatrix: Run) -> None:
    done = torchmatrix("plan")
    assert done.returncode == 0, done.stderr
    assert "ci-cpu" in done.stdout
    assert "train" in done.stdout
    assert "H100" in done.stdout


def test_plan_json_has_the_contract_of_the_design(torchmatrix: Run) -> None:
    done = torchmatrix("plan", "--json")
    plan = json.loads(done.stdout)
    assert {"cells", "left_out", "cost", "coverage"} <= plan.keys()
    for cell in plan["cells"]:
        assert {"id", "name", "tier", "why", "axes", "image", "placement", "support"} <= cell.keys()
        assert isinstance(cell["image"], str)
    placed = {cell["name"]: cell["placement"]["placed"] for cell in plan["cells"]}
    assert placed["train"] is False
    (train,) = [cell for cell in plan["cells"] if cell["name"] == "train"]
    assert "H100" in train["placement"]["reason"]


def test_plan_is_the_same_twice(torchmatrix: Run) -> None:
    assert torchmatrix("plan", "--json").stdout == torchmatrix("plan", "--json").stdout


def test_a_selection_that_matches_nothing_exits_3_and_suggests(torchmatrix: Run) -> None:
    done = torchmatrix("plan", "--select", "ci-cpuu")
    assert done.returncode == errors.ExitCode.NOTHING_SELECTED
    assert "ci-cpu" in done.stderr
    assert done.stdout == ""


def test_render_prints_a_containerfile_by_name_and_by_id(torchmatrix: Run) -> None:
    by_name = torchmatrix("render", "--cell", "train")
    assert by_name.returncode == 0, by_name.stderr
    assert "\nFROM " in by_name.stdout
    (train,) = [c for c in json.loads(torchmatrix("plan", "--json").stdout)["cells"] if c["name"] == "train"]
    assert torchmatrix("render", "--cell", train["id"]).stdout == by_name.stdout


EDGE = """\
edge: {neighbours: [previous, next], pairwise: [torch, torch_build, driver], budget: {cells: 3}}
rules: [{forbid: {torch: "2.6.0", python: "3.11"}, because: we have no use for it}]
"""


def test_the_edge_is_planned_where_it_is_asked_for(torchmatrix: Run, tmp_path: Path) -> None:
    file = tmp_path / "matrix.yaml"
    file.write_text(file.read_text() + EDGE)
    production = json.loads(torchmatrix("plan", "--json").stdout)
    assert {cell["tier"] for cell in production["cells"]} == {"production"}
    done = torchmatrix("plan", "--tier", "all", "--json")
    assert done.returncode == 0, done.stderr
    assert "edge" not in done.stderr
    plan = json.loads(done.stdout)
    edge = [cell for cell in plan["cells"] if cell["tier"] == "edge"]
    assert [cell["name"] for cell in edge] == ["ci-cpu+next-python", "ci-cpu+next-backend", "ci-cpu+previous-torch"]
    assert edge[2]["why"].startswith("previous torch after production row `ci-cpu`: 2.13.0 -> 2.6.0; ")
    assert "python had to move 3.11 -> 3.12 (we have no use for it; site-rule)" in edge[2]["why"]
    assert {cell["support"]["verdict"] for cell in edge} == {"supported"}
    assert [entry["axes"] for entry in plan["coverage"]] == [["torch", "torch_build", "driver"]]
    shown = torchmatrix("plan", "--tier", "edge").stdout
    assert "3 cells: " in shown
    assert "the budget of the edge is 3 cells" in shown
    assert "torch=2.6.0 torch_build=cu130" in shown  # no such wheel: a pair that cannot be covered, with its rule


# reliability row 10: more cells than the cap, of a file that is read whole
def test_more_cells_than_the_cap_are_refused_with_both_before_anything_is_made(
    torchmatrix: Run, tmp_path: Path
) -> None:
    file = tmp_path / "matrix.yaml"
    rows = "".join(f"  - {{name: r{number}, image: 'sha256:{number:064x}'}}\n" for number in range(10_001))
    file.write_text(f"version: 1\naxes: {{}}\nproduction:\n{rows}")
    for verb in ("plan", "run"):
        done = torchmatrix(verb)
        assert done.returncode == errors.ExitCode.BAD_INPUT, done.stderr
        assert done.stderr.splitlines()[-2:] == [
            "error: matrix.yaml: 10001 cells are more than the 10000 of one plan",
            "hint: select fewer with `--select`, or give `edge` a smaller `budget`",
        ]
        assert list(tmp_path.iterdir()) == [file]


# reliability row 13: a combination that has no wheel
def test_a_row_without_a_wheel_is_skipped_in_sight_and_an_error_by_name(torchmatrix: Run, tmp_path: Path) -> None:
    file = tmp_path / "matrix.yaml"
    row = '  - {name: old, torch: "2.6.0", torch_build: cu130, python: "3.12", driver: "580", gpu: H100}\n'
    file.write_text(file.read_text() + row)
    done = torchmatrix("plan")
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if " old " in line]
    assert line.split()[:3] == ["production", "unsupported", "nowhere"]
    assert "(index-mapping, " in done.stdout
    for verb in (["plan"], ["run", "--here"], ["build"], ["plan", "--json"]):
        named = torchmatrix(*verb, "--select", "old")
        assert named.returncode == errors.ExitCode.BAD_INPUT, named.stderr
        assert named.stdout == ""
        assert "matrix.yaml:12:5: `old` is unsupported: torch 2.6.0" in named.stderr
        assert "(index-mapping, " in named.stderr
        assert "hint: nearest: torch" in named.stderr
    assert torchmatrix("plan", "--select", "ol*").returncode == 0


def test_aliases_show_what_they_became(torchmatrix: Run, tmp_path: Path) -> None:
    file = tmp_path / "matrix.yaml"
    file.write_text(
        file.read_text()
        .replace('"2.13.0"]', '"2.13.0", newest 2.6.x]')
        .replace('ci-cpu, torch: "2.13.0"', "ci-cpu, torch: newest 2.13.x")
    )
    plan = json.loads(torchmatrix("plan", "--json").stdout)
    (cell,) = [cell for cell in plan["cells"] if cell["name"] == "ci-cpu"]
    assert cell["aliases"] == {"torch": "newest 2.13.x"}
    assert cell["axes"]["torch"] == "2.13.0"
    assert cell["why"].endswith("; torch 2.13.0 is `newest 2.13.x`")
    file.write_text(file.read_text().replace("newest 2.13.x", "newest 9.x"))
    wrong = torchmatrix("plan")
    assert wrong.returncode == errors.ExitCode.BAD_INPUT
    assert "matrix.yaml:10:5: `newest 9.x` of `torch` is nothing that the facts know" in wrong.stderr


def test_facts_of_the_site_are_laid_over_the_shipped_ones(torchmatrix: Run, tmp_path: Path) -> None:
    file = tmp_path / "matrix.yaml"
    file.write_text(file.read_text() + "facts: [./own/*.yaml]\n")
    missing = torchmatrix("plan")
    assert missing.returncode == errors.ExitCode.BAD_INPUT
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "site.yaml").write_text(
        "sources: {us: {text: our own tests, as_of: '2026-11-01', evidence: measured}}\n"
        "rules:\n"
        "  - name: our-tests\n"
        "    kind: validated-list\n"
        "    rank: 1\n"
        "    mode: all\n"
        "    yes: torch {torch} keeps its packets\n"
        "    no: torch {torch} loses packets here\n"
        "    rows: [{when: {torch: '2.13', driver: '580'}, source: us}]\n"
    )
    plan = json.loads(torchmatrix("plan", "--json").stdout)
    verdicts = {cell["name"]: cell["support"]["verdict"] for cell in plan["cells"]}
    assert verdicts == {"ci-cpu": "supported", "train": "unsupported"}


# reliability row 10: neither the cells that axes could come to nor the rows that are written fill the memory
WIDE = {
    "torch": ["2.6.0", "2.7.0", "2.7.1", "2.8.0", "2.9.0", "2.9.1", "2.10.0", "2.11.0", "2.12.0", "2.13.0"],
    "torch_build": ["cpu", "cu126", "cu128", "cu129", "cu130"],
    "python": ["3.10", "3.11", "3.12", "3.13", "3.14"],
    "backend": ["eager", "inductor", "cudagraphs", "onnxrt", "openvino"],
    "numpy": [f"2.{minor}.0" for minor in range(40)],
}
ON_GPUS = {"driver": [str(550 + number) for number in range(40)], "gpu": ["H100", "A100", "H200", "L4", "T4"]}


@pytest.mark.parametrize(("rows", "code"), [(1, ExitCode.GOOD), (10_001, ExitCode.BAD_INPUT)])
def test_a_product_of_ten_million_or_rows_over_the_cap_take_no_memory(tmp_path: Path, rows: int, code: int) -> None:
    assert math.prod(map(len, [*WIDE.values(), *ON_GPUS.values()])) == 10**7
    given = {**WIDE, **{axis: {"when": {"torch_build": "cu*"}, "values": of} for axis, of in ON_GPUS.items()}}
    row = {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11"}
    matrix = {
        "version": "1",
        "axes": given,
        "production": [{"name": f"r{number}", **row, "env": f"A={number}"} for number in range(rows)],
        "edge": {"neighbours": ["next"], "pairwise": [*given]},
    }
    (tmp_path / "matrix.yaml").write_text(json.dumps(matrix))
    line = (
        f'ulimit -v 250000; exec {sys.executable} -c "from orchestrator.cli import main; main()" plan --tier all --json'
    )
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == code, done.stderr
    if rows == 1:
        assert 1 < len(json.loads(done.stdout)["cells"]) < 10_000
    else:
        assert "values: a matrix of that size is a mistake" in done.stderr


def test_letters_of_every_kind_stay_as_they_are_in_json(torchmatrix: Run, tmp_path: Path) -> None:
    owner = "Größe e\u0301 \u05d0\u05d1 \U0001f389"
    file = tmp_path / "matrix.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("{name: ci-cpu,", f"{{name: ci-cpu, owner: '{owner}',"))
    done = torchmatrix("plan", "--select", "ci-cpu", "--json")
    assert json.loads(done.stdout)["cells"][0]["owner"] == owner, done.stderr
