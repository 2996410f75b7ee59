"""Units in the last place, against the standard library's and by hand."""

import json
import subprocess
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.torch

CODE = """
import json, math
import torch
from suites.ulps import distance
values = [1.0, 1.5, -3.75, 1e-300, 5e-324, 0.0, 1e300, 0.1, 2.0, 1.9999999999999998]
told = {}
for steps in (0, 1, 3):
    moved = []
    for value in values:
        for _ in range(steps):
            value = math.nextafter(value, math.inf if value >= 0 else -math.inf)
        moved.append(value)
    far = distance([torch.tensor(moved, dtype=torch.float64)], [torch.tensor(values, dtype=torch.float64)])
    told[str(steps)] = [far.largest, far.p99, far.exact]
one = torch.ones(1000, dtype=torch.float64)
off = one.to(torch.bfloat16)
off[0] += 2 ** -6
far = distance([off, one.float()], [one, one])
told["bf16"] = [far.largest, far.p99, far.exact]
# what the dtype cannot hold is no error of the result
far = distance([torch.tensor([0.1]).half()], [torch.tensor([0.1], dtype=torch.float64)])
told["rounded"] = [far.largest, far.p99, far.exact]
far = distance([torch.ones(0)], [torch.ones(0, dtype=torch.float64)])
told["empty"] = [far.largest, far.p99, far.exact]
print(json.dumps(told))
"""


def test_distances(snippet: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = snippet(CODE)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "0": [0.0, 0.0, 1.0],
        "1": [1.0, 1.0, 0.0],
        "3": [5.0, 5.0, 0.0],  # the last value steps over 2, where the unit doubles
        "bf16": [2.0, 0.0, 0.9995],
        "rounded": [0.0, 0.0, 1.0],
        "empty": [0.0, 0.0, 1.0],
    }
