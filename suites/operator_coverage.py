"""Which of the operators that models use a backend takes over, and whether it computes them as torch does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, List, Sequence, Tuple

import torch

from suites import backends, compiling
from suites.work import Labels

if TYPE_CHECKING:
    from suites.bench import Bench
    from suites.operator_table import Operator

_LABELS = Labels("operators", "tiny", "fp32", "operators", "1")
_AROUND = frozenset({"add", "mul"})
_ALLOWED = 1e-4  # of the size: one operator on a few numbers


@dataclass(frozen=True)
class Answer:
    """What became of one operator: `taken`, `fell back`, `refused` or `wrong`, and by what word."""

    operator: str
    outcome: str
    told: str = ""

    def __str__(self) -> str:
        return f"aten.{self.operator}: {self.outcome}" + (f": {self.told}" if self.told else "")


def covered(bench: Bench, operators: Sequence[Operator]) -> List[Answer]:
    """Take each operator through the backend of the cell; the rows and the structure say what became of it."""
    answers = [_asked(bench, operator) for operator in operators]
    for answer in answers:
        taken = int(answer.outcome == "taken")
        bench.row(_LABELS, "operator_taken", taken, "0 or 1", direction="higher", scope=f"aten.{answer.operator}")
    share = sum(answer.outcome == "taken" for answer in answers) / len(answers)
    bench.row(_LABELS, "operator_coverage", share, "fraction", direction="higher", samples=len(answers))
    left = [str(answer) for answer in answers if answer.outcome != "taken"]
    compiling.keep(bench, _LABELS, {"fallbacks": left})
    return answers


def _asked(bench: Bench, operator: Operator) -> Answer:
    inputs = tuple(_input(bench, letter, salt) for salt, letter in enumerate(operator.takes))
    call = _between(operator.call)
    with torch.no_grad():
        plain = call(*inputs)
        before = backends.start(bench.backend)
        try:
            result = backends.through(bench.backend, call)(*inputs)
        except Exception as error:
            if bench.backend == "inductor" and backends.toolchain_missing(error):
                raise
            return Answer(operator.name, "refused", backends.refusal(bench.backend, error)[:200])
    use = backends.used(bench.backend, before)
    if not _same(result, plain):
        return Answer(operator.name, "wrong")
    fell_back = use.taken <= 0 or bool(use.left) or use.skipped > 0
    if bench.backend == "openvino" and operator.name not in _AROUND:
        inside = {name for kernel in use.fused or () for name in kernel}
        fell_back = fell_back or not inside - _AROUND
    return Answer(operator.name, "fell back" if fell_back else "taken", ", ".join(use.left or ()))


def _between(call: Callable[..., Any]) -> Callable[..., Any]:
    """The call with a product and a sum around it: some backends leave a lone operator to torch whatever it is."""

    def compute(*inputs: torch.Tensor) -> torch.Tensor:
        given = [one * 1.5 if one.is_floating_point() else one for one in inputs]
        result: torch.Tensor = call(*given)
        return result + 1

    return compute


def _input(bench: Bench, letter: str, salt: int) -> torch.Tensor:
    if letter == "n":
        return torch.arange(32).remainder(8).reshape(8, 4).to(bench.device.place())
    shape: Tuple[int, ...] = {
        "m": (16, 8),
        "t": (2, 8, 16),
        "u": (2, 16, 8),
        "i": (2, 4, 8, 8),
        "k": (4, 4, 3, 3),
        "v": (16,),
    }.get(letter, (8, 16))
    made = bench.random(*shape, salt=700 + salt)
    return made.abs() + 0.5 if letter == "p" else made


def _same(result: torch.Tensor, plain: torch.Tensor) -> bool:
    if result.shape != plain.shape or result.dtype != plain.dtype:
        return False
    return torch.allclose(result.double(), plain.double(), rtol=_ALLOWED, atol=_ALLOWED, equal_nan=True)
