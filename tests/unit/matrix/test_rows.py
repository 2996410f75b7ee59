from typing import Any

import pytest

from orchestrator import axes
from orchestrator.matrix.rows import ROWS, axis_form

CPU = "torch: 2.6.0, torch_build: cpu, python: '3.11'"
CUDA = "torch: 2.6.0, torch_build: cu126, python: '3.11'"
DIGEST = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        (f"name: a, {CPU}", {}),
        (f"name: a, {CPU}, env: {{B: 2, A: x}}", {"env": "A=x B=2"}),
        (f"name: a, {CPU}, env: B=2 A=x", {"env": "A=x B=2"}),
        (f"name: a, {CPU}, env: ''", {"env": ""}),
        (f"name: a, {CUDA}, driver: '580', gpu: H100, gpus: 8", {"driver": "580", "gpu": "H100", "gpus": "8"}),
        (f"name: a, {CPU}, host_arch: aarch64", {"host_arch": "aarch64"}),
    ],
)
def test_the_axes_of_a_row(read: Any, snippet: str, expected: dict[str, str]) -> None:
    (written,) = read(ROWS, f"[{{{snippet}}}]")
    built = {name: value for name, value in written.row.axes.items() if name not in {"torch", "torch_build", "python"}}
    assert built == expected


def test_two_spellings_of_an_environment_are_one_cell(read: Any) -> None:
    rows = read(ROWS, f"[{{name: a, {CPU}, env: {{B: 2, A: 1}}}}, {{name: b, {CPU}, env: A=1 B=2}}]")
    assert axes.cell_id(rows[0].row.axes) == axes.cell_id(rows[1].row.axes)


def test_what_a_row_says_beside_its_axes(read: Any) -> None:
    (written,) = read(ROWS, f"[{{name: a, owner: infra@team, {CPU}, timeout: 1.5h, allow_fallback: true}}]")
    row = written.row
    assert (row.name, row.owner, row.timeout_s, row.allow_fallback) == ("a", "infra@team", 5400.0, True)
    assert str(row.place) == "m:1:2"
    assert str(written.places["owner"]) == "m:1:19"


def test_a_ready_image_needs_no_more_than_its_digest(read: Any) -> None:
    (written,) = read(ROWS, f"[{{name: a, image: '{DIGEST}', driver: '580', gpu: H100}}]")
    assert set(written.row.axes) == {"image", "driver", "gpu"}


@pytest.mark.parametrize(
    ("snippet", "problem"),
    [
        ("name: a, torch: 2.6.0", "row `a` lacks `torch_build` and `python` (or give a ready `image` by digest)"),
        (f"name: a, {CPU}, driver: '580'",
         "`driver` has no meaning where torch_build=cpu (it applies where torch_build=cu*|rocm*|xpu)"),
        (f"name: a, {CUDA}, level_zero: '1.2'",
         "`level_zero` has no meaning where torch_build=cu126 (it applies where torch_build=xpu)"),
        (f"name: a, image: '{DIGEST}', torch_build: cpu, gpu: H100",
         "`gpu` has no meaning where torch_build=cpu (it applies where torch_build=cu*|rocm*|xpu)"),
        (f"name: a, {CPU}, env: {{path: x}}", "`path=x` in `env` is not of the form NAME=value"),
        (f"name: a, {CPU}, env: 'A=1  B=2'", "`` in `env` is not of the form NAME=value"),
        (f"name: a, {CPU}, env: {{A: x=y}}", "`A=x=y` in `env` is not of the form NAME=value"),
        (f"name: a, {CPU}, env: A=1 A=2", "`A` is given twice in `env`"),
        (f"name: a, {CPU}, gpus: 2000", "`2000` is not a value of `gpus`: it takes a whole number from 1 to 1024"),
        (f"name: a, {CPU}, base: [x]", "`base` takes text, not a list"),
        (f"name: a, {CPU}, torch_from: pypi", "`pypi` is not a value of `torch_from`: wheel, distribution"),
    ],
)  # fmt: skip
def test_what_is_told(told: Any, snippet: str, problem: str) -> None:
    assert problem in [line.split(": ", 1)[1] for line in told(ROWS, f"[{{{snippet}}}]")]


def test_a_row_with_a_typo_is_not_told_to_lack_what_it_misspells(told: Any) -> None:
    assert told(ROWS, "[{name: a, torch: 2.6.0, torch_build: cpu, pyhton: '3.11'}]") == [
        "m:1:44: `key` has no key `pyhton`, did you mean `python`?"
    ]


def test_the_schema_of_a_choice_lists_its_values() -> None:
    assert axis_form(axes.AXES["matmul_precision"]).schema == {"enum": ["highest", "high", "medium"]}


def test_a_row_names_its_secrets(read: Any) -> None:
    (written,) = read(ROWS, f"[{{name: a, {CPU}, secrets: [INDEX_TOKEN, OTHER]}}]")
    assert written.row.secrets == ("INDEX_TOKEN", "OTHER")


@pytest.mark.parametrize(
    "env", ["HF_TOKEN=x", "A=1 MY_API_KEY=x", "{DB_PASSWORD: x}", "{AWS_SECRET_ACCESS_KEY: x}", "apikey=x"]
)
def test_a_variable_that_looks_secret_is_refused_without_its_value(told: Any, env: str) -> None:
    (problem,) = told(ROWS, f"[{{name: a, {CPU}, env: {env.replace('=x', '=hunter22')}}}]")
    assert "looks like a secret (name its place under `secrets`, and `secrets: [" in problem
    assert "hunter22" not in problem


@pytest.mark.parametrize("env", ["TOKENIZERS_PARALLELISM=0", "HF_TOKEN_FILE=/run/x", "MONKEY=1", "KEYBOARD=1"])
def test_a_variable_that_only_reads_like_it_is_none(read: Any, env: str) -> None:
    (written,) = read(ROWS, f"[{{name: a, {CPU}, env: {env}}}]")
    assert written.row.axes["env"] == env
