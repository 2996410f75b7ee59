import os
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from orchestrator.matrix.document import read
from orchestrator.matrix.starter import Start, StartRow, starter

GOLDEN = Path(__file__).parents[2] / "golden" / "starter"
CPU = {"torch": "2.15.0", "torch_build": "cpu", "python": "3.10"}
GPU = {"torch": "2.15.0", "torch_build": "cu130", "python": "3.12", "gpu": "H100", "driver": "580"}
STARTS = {
    "cpu": Start(
        found=("debian12 on x86_64, 2 CPUs", "engine: docker (a\nlie: [)"),
        rows=(
            StartRow(name="cpu-eager", axes=CPU),
            StartRow(name="cpu-inductor", axes={**CPU, "backend": "inductor"}),
            StartRow(name="cpu-eager-before", axes={**CPU, "torch": "2.14.1"}),
        ),
        torch=("2.14.1", "2.15.0"),
        runner={},
    ),
    "gpu": Start(
        found=("ubuntu24.04 on x86_64",),
        rows=(StartRow(name="cpu-eager", axes=CPU), StartRow(name="h100-eager", axes=GPU)),
        torch=("2.15.0",),
        runner={"driver": "580", "gpu": "H100", "gpus": "8"},
    ),
}


@pytest.mark.parametrize("name", STARTS)
def test_the_file_is_as_it_was_looked_over(name: str) -> None:
    written = starter(STARTS[name])
    golden = GOLDEN / f"{name}.yaml"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(written)
    assert written == golden.read_text()


@pytest.mark.parametrize("name", STARTS)
def test_it_is_read_as_it_was_meant(name: str) -> None:
    start = STARTS[name]
    matrix = read(starter(start), "matrix.yaml", Path())
    assert [(row.name, row.axes) for row in matrix.production] == [(row.name, row.axes) for row in start.rows]
    assert [runner.axes for runner in matrix.runners] == [start.runner]
    assert matrix.edge.neighbours


def test_another_reader_of_yaml_takes_every_value_for_the_same_text() -> None:
    plain = YAML(typ="safe", pure=True).load(starter(STARTS["cpu"]))
    assert plain["axes"]["python"] == ["3.10"]
    assert plain["production"][0]["torch"] == "2.15.0"


def test_what_is_commented_out_would_be_read(tmp_path: Path) -> None:
    lines = starter(STARTS["cpu"]).splitlines()
    wanted = ("# rules:", "#   - {forbid", "# secrets:")
    opened = [line[2:] if line.startswith(wanted) else line for line in lines]
    opened = [line.replace(">=2.99", ">=2.15") for line in opened]
    matrix = read("\n".join(opened), "matrix.yaml", tmp_path)
    assert (len(matrix.rules), len(matrix.secrets)) == (1, 1)
