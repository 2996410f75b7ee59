"""The operators that models use, one by one: does torch or the backend compute each right, and what is taken over?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Callable, List, Sequence, Tuple

import torch

from suites import backends, compiling, numerics
from suites.devices import sticky
from suites.fingerprint import fingerprints
from suites.work import Labels

if TYPE_CHECKING:
    from suites.bench import Bench
    from suites.operator_table import Operator

_LABELS = Labels("operators", "tiny", "fp32", "operators", "1")
_AROUND = frozenset({"add", "mul"})


@dataclass(frozen=True)
class Answer:
    """What became of one operator: `taken`, `computed` (eagerly), `fell back`, `refused` or `wrong`, by what word."""

    operator: str
    outcome: str
    told: str = ""

    def __str__(self) -> str:
        return f"aten.{self.operator}: {self.outcome}" + (f": {self.told}" if self.told else "")


def covered(bench: Bench, operators: Sequence[Operator]) -> List[Answer]:
    """Take each operator through the backend of the cell; the rows and the structure say what became of it.

    Each has an error against fp64 and a fingerprint of its own, in eager too: two cells are compared by them.
    """
    answers = [_asked(bench, operator) for operator in operators]
    if bench.backend != "eager":
        for answer in answers:
            taken = int(answer.outcome == "taken")
            bench.row(_LABELS, "operator_taken", taken, "0 or 1", direction="higher", scope=f"aten.{answer.operator}")
        share = sum(answer.outcome == "taken" for answer in answers) / len(answers)
        bench.row(_LABELS, "operator_coverage", share, "fraction", direction="higher", samples=len(answers))
    left = [str(answer) for answer in answers if answer.outcome not in ("taken", "computed")]
    if left or bench.backend != "eager":
        compiling.keep(bench, _LABELS, {"fallbacks": left})
    return answers


def _asked(bench: Bench, operator: Operator) -> Answer:
    inputs = tuple(_input(bench, letter, salt) for salt, letter in enumerate(operator.takes))
    call = _between(operator.call)
    with torch.no_grad():
        exact = call(*(_exact(bench, one) for one in inputs))
        plain = exact.to(torch.float32) if exact.is_floating_point() else exact
        if bench.backend != "eager":
            plain = call(*inputs)
        before = backends.start(bench.backend)
        try:
            result = backends.through(bench.backend, call)(*inputs)
        except Exception as error:
            no_toolchain = bench.backend == "inductor" and backends.toolchain_missing(error)
            if no_toolchain or sticky(bench.device, str(error)):
                raise
            return Answer(operator.name, "refused", backends.refusal(bench.backend, error)[:200])
    use = backends.used(bench.backend, before)
    wrong = _wrong(bench, operator.name, result, plain, exact)
    if wrong:
        return Answer(operator.name, "wrong", wrong)
    if bench.backend == "eager":
        return Answer(operator.name, "computed")
    fell_back = use.taken <= 0 or bool(use.left) or use.skipped > 0
    if bench.backend == "openvino" and operator.name not in _AROUND:
        inside = {name for kernel in use.fused or () for name in kernel}
        fell_back = fell_back or not inside - _AROUND
    return Answer(operator.name, "fell back" if fell_back else "taken", ", ".join(use.left or ()))


def _wrong(bench: Bench, name: str, result: torch.Tensor, plain: torch.Tensor, exact: torch.Tensor) -> str:
    """Write the error and keep the fingerprint of a result; why it is wrong, or an empty text."""
    labels = replace(_LABELS, model=name)
    bench.fingerprints += fingerprints(replace(labels, load=f"operators.{name}"), [result])
    if result.dtype != plain.dtype and not (bench.backend == "eager" and result.is_floating_point()):
        return f"its result is {result.dtype}, {plain.dtype} was expected"
    # Whole numbers and truth values have an error like any other, and no rounding: as fp64 they are what they were.
    given = [one if result.is_floating_point() else one.double() for one in (result, plain, exact)]
    try:
        error = numerics.compare(
            given[:1], given[1:2], given[2:], precision="fp32", matmul=bench.matmul_precision(labels)
        )
        bench.write_error(labels, error, scope=f"aten.{name}")
        numerics.hold(error, "fp32")
    except AssertionError as error:
        return str(error)
    return ""


def _exact(bench: Bench, given: torch.Tensor) -> torch.Tensor:
    """An input of the reference: in fp64, where the device has it."""
    there = given.to(bench.device.exact())
    return there.double() if there.is_floating_point() else there


def _between(call: Callable[..., Any]) -> Callable[..., Any]:
    """The call with a product and a sum around it: some backends leave a lone operator to torch whatever it is."""

    def compute(*inputs: torch.Tensor) -> torch.Tensor:
        given = [one * 2 if one.is_floating_point() else one for one in inputs]  # exact: no error but the operator's
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
