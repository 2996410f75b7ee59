"""Products of matrices: stock answers of adapters, assigned where they are true of a device.

What this torch has not written for a device it says in a text; each is known from a public thread, and any other error
is what it is: a device that breaks in the first small product does not `lack` the precision.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Iterator, Optional

if TYPE_CHECKING:
    from types import ModuleType

E4M3 = "float8_e4m3fn"
UNWRITTEN = (
    # `"addmm_impl_cpu_" not implemented for 'Half'`, github.com/huggingface/peft/issues/267
    r"not implemented for '\w+'|"
    # `The operator 'aten::_scaled_mm.out' is not currently implemented for the XPU device.`,
    # github.com/intel/torch-xpu-ops/issues/1550
    r"is not currently implemented for the \w+ device|"
    # `Could not run 'aten::_scaled_mm' with arguments from the 'CPU' backend.`,
    # github.com/pollockjj/ComfyUI-MultiGPU/issues/108
    r"Could not run '[\w:.]+' with arguments from the '\w+' backend"
)
"""What every torch says of an operation that it does not have for a device or a dtype."""


def unwritten(device: ModuleType, text: str) -> bool:
    """Whether an error says that this torch has no such operation for the device; of a broken device none does."""
    from suites.devices import sticky

    if sticky(device, text):
        return False
    return any(re.search(pattern, text) for pattern in (UNWRITTEN, device.UNWRITTEN) if pattern)


def e4m3() -> str:
    """Torch's name of the fp8 numbers that most devices multiply."""
    return E4M3


def untold() -> Optional[bool]:
    """What a product becomes that may be less exact than fp32: nothing tells."""
    return None


@contextmanager
def tf32() -> Iterator[None]:
    """Within it, products of fp32 may be TensorFloat-32's: torch's own switch, which cuda and ROCm heed."""
    import torch

    kept = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(kept)
