"""The fp64 rule, on tensors."""

import json
import subprocess
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.torch

HEAD = """
import torch
from suites.numerics import TooFarError, compare, hold
exact = torch.randn(64, 64, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
near = exact.float()
def told(result, plain=near, exact=exact, precision="fp32", matmul="highest"):
    try:
        error = compare([result], [plain], [exact], precision=precision, matmul=matmul)
        hold(error, precision)
        return error
    except AssertionError as error:
        return str(error)
"""


RULES = (
    "told(near).ratio <= 1.5",
    "told(near).result < 1e-7",
    "told(near + 1e-3).startswith('numerics: error against fp64 is 1.0')",
    "told(near * 1.001).startswith('numerics: error against fp64 is 1.00e-03 of')",
    "told(near[:5]).startswith('numerics: the result has shape (5, 64)')",
    "told(near.clone().fill_(float('nan'))) == 'numerics: 4096 of 4096 values are not finite'",
    "told(near, plain=near * float('nan')) == 'numerics: 4096 of 4096 values of the plain computation are not finite'",
    "told(near, exact=exact / 0) == 'numerics: 4096 of 4096 values of the fp64 reference are not finite'",
    # what the plain computation errs by is allowed twice, not more
    "told(near + 1.9e-3, plain=near + 1e-3).ratio > 1.8",
    "'numerics' in told(near + 2.2e-3, plain=near + 1e-3)",
    # of few values chance rules the error: three times, not more
    "told(near[0] + 2.9e-3, plain=near[0] + 1e-3, exact=exact[0]).ratio > 2.8",
    "'numerics' in told(near[0] + 3.2e-3, plain=near[0] + 1e-3, exact=exact[0])",
    # bf16 is held to its own rounding, and fp32 to its own
    "told(near.bfloat16(), plain=near.bfloat16(), precision='bf16').ratio < 2",
    "'numerics' in told(near.bfloat16())",
    # TensorFloat-32 is allowed only where products may be less exact
    "told(near * (1 + 3e-4), matmul='high').result > 2e-4",
    "'numerics' in told(near * (1 + 3e-4))",
    # a tensor of zeros has no size of its own
    "told(near * 0 + 1e-9, plain=near * 0, exact=exact * 0).result < 1e-5",
    "'numerics' in told(near * 0 + 1e-3, plain=near * 0, exact=exact * 0)",
)


@pytest.fixture(scope="module")
def held(snippet: Callable[..., subprocess.CompletedProcess[str]]) -> dict[str, bool]:
    """Rule -> whether it holds: one interpreter for all, since torch takes a second to import."""
    done = snippet(f"{HEAD}\nimport json\nprint(json.dumps({{rule: bool(eval(rule)) for rule in {RULES!r}}}))")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("rule", RULES)
def test_rule(held: dict[str, bool], rule: str) -> None:
    assert held[rule]


def test_a_wrong_result_is_measured_as_well(snippet: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = snippet(f"""{HEAD}
far = compare([near * 1.5], [near], [exact], precision="fp32", matmul="highest")
assert 0.49 < far.result < 0.51 and far.ratio > 1e6 and far.distance.largest > 1e6 and not far.nonfinite, far
try:
    hold(far, "fp32")
except TooFarError as error:
    assert error.error is far
else:
    raise SystemExit("it was let through")
holed = near.clone()
holed[0, :3] = float("nan")
lost = compare([near, holed], [near, near], [exact, exact], precision="fp32", matmul="highest")
assert (lost.nonfinite, lost.lost) == (3, "3 of 4096 values are not finite"), lost
""")
    assert done.returncode == 0, done.stderr


def test_the_worst_tensor_counts_and_a_missing_one_is_told(
    snippet: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = snippet(f"""{HEAD}
for got, told in (([near, near * 2], "error against fp64"), ([near], "1 tensors came back where 2")):
    try:
        hold(compare(got, [near, near], [exact, exact], precision="fp32", matmul="highest"), "fp32")
    except AssertionError as error:
        assert told in str(error), error
    else:
        raise SystemExit("nothing was said")
""")
    assert done.returncode == 0, done.stderr
