"""The work: one computation of a load, and what a figure of it is a figure of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional, Tuple

if TYPE_CHECKING:
    import torch

Compute = Callable[..., Any]


@dataclass(frozen=True)
class Labels:
    """What a figure is a figure of: all texts, none of them empty."""

    load: str
    shapes: str
    precision: str
    model: str
    version: str


@dataclass(frozen=True)
class Work(Labels):
    """One computation of a load.

    `compute` takes the inputs; `drive` turns it into what one step calls (a training step, say) and is given the
    module whose parameters it moves. `reference` is the formula in plain words where `compute` is not. `flops` and
    `bytes` are what one step does: operations by the convention of `formulas` that `formula` names, traffic by
    `formulas.TRAFFIC`.
    """

    compute: Compute
    inputs: Tuple[torch.Tensor, ...]
    flops: int = 0
    bytes: int = 0
    formula: str = ""
    drive: Optional[Callable[[Compute, Any], Compute]] = None
    reference: Optional[Compute] = None

    def step(self, forward: Compute, module: Any) -> Compute:
        """What one step calls."""
        return self.drive(forward, module) if self.drive else forward

    @property
    def index(self) -> int:
        """Which of the devices of its kind it runs on."""
        return max((one.device.index or 0 for one in self.inputs), default=0)

    @property
    def changes_itself(self) -> bool:
        """Whether a step moves parameters: calling it twice gives two results."""
        return self.drive is not None and hasattr(self.compute, "parameters")
