"""What counts as lacking a precision: what can be asked, and texts that torch is known to refuse by. Nothing else."""

import json
import subprocess
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from suites.devices import adapter, products

Snippet = Callable[..., subprocess.CompletedProcess[str]]

REFUSALS = [
    ("cpu", "\"addmm_impl_cpu_\" not implemented for 'Half'"),  # huggingface/peft#267
    # pollockjj/ComfyUI-MultiGPU#108
    ("cpu", "Could not run 'aten::_scaled_mm' with arguments from the 'CPU' backend. This could be because the"),
    # intel/torch-xpu-ops#1550
    ("xpu", "The operator 'aten::_scaled_mm.out' is not currently implemented for the XPU device."),
    # meta-pytorch/float8_experimental#197 and Comfy-Org/ComfyUI#4539
    ("cuda", "torch._scaled_mm is only supported on devices with compute capability >= 9.0)"),
    ("cuda", "_scaled_mm_out_cuda is not compiled for this platform."),
    # pytorch/pytorch#117822, stas00/ml-engineering#91 and pytorch/ao#1066
    (
        "rocm",
        "torch._scaled_mm is only supported on CUDA devices with compute capability >= 9.0 or 8.9, or ROCm MI300+",
    ),
    ("rocm", "\"_tunable_scaled_gemm\" not implemented for 'Float8_e4m3fn'"),
    (
        "rocm",
        '"HIPDataType.h":102, please report a bug to PyTorch. Cannot convert ScalarType Float8_e4m3fn to hipDataType.',
    ),
    # pytorch/pytorch#148420, pytorch/torchchat#616 and oobabooga/textgen#5216
    ("mps", "Trying to convert Float8_e4m3fn to the MPS backend but it does not have support for that dtype."),
    ("mps", "MPS BFloat16 is only supported on MacOS 14 or newer"),
    ("mps", "BFloat16 is not supported on MPS"),
]
BROKEN = [
    # vllm-project/vllm#5222, ROCm/legacy-rocm-build#2235 and intel/torch-xpu-ops#2757
    ("cuda", "CUDA error: uncorrectable ECC error encountered"),
    ("rocm", "Memory access fault by GPU node-10 (Agent handle: 0x7538750) on address (nil). Reason: Page not present"),
    ("xpu", "level_zero backend failed with error: 20 (UR_RESULT_ERROR_DEVICE_LOST)"),
    # pytorch/pytorch#108411: what cuBLAS does not support may be a wrong call as well
    (
        "cuda",
        "CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasLtMatmulAlgoGetHeuristic( ltHandle, computeDesc",
    ),
    # pytorch/pytorch#121583: a product that the device has, and got wrong above certain sizes
    ("mps", "Undefined type BFloat16"),
    ("cuda", "CUDA error: uncorrectable ECC error encountered\n\"addmm_cuda\" not implemented for 'Half'"),
]


@pytest.mark.parametrize(("name", "text"), REFUSALS)
def test_a_known_refusal_is_one(name: str, text: str) -> None:
    assert products.unwritten(adapter(name), text)


@pytest.mark.parametrize(("name", "text"), BROKEN)
def test_any_other_error_is_none(name: str, text: str) -> None:
    assert not products.unwritten(adapter(name), text)


PROBE = """
import json, sys, types
import torch
from suites import devices
from suites.loads import attention_kernels, capabilities
name, text, kind = sys.argv[1:]
class Tile:
    def __matmul__(self, other): raise getattr(__builtins__, kind)(text)
def attend(*tensors): raise getattr(__builtins__, kind)(text)
adapter = devices.adapter(name)
device = types.SimpleNamespace(
    STICKY=adapter.STICKY, UNWRITTEN=adapter.UNWRITTEN, lacking=lambda precision: None, synchronise=lambda: None
)
bench = types.SimpleNamespace(device=device, random=lambda *shape, precision: Tile())
told = []
torch.nn.functional.scaled_dot_product_attention = attend
def force():
    with attention_kernels.forced(bench, "math", "fp16"): pass
for ask in (lambda: capabilities.lacking(bench, "fp16"), force):
    try:
        told.append(ask())
    except BaseException as end:
        told.append(f"{type(end).__name__}: {end}")
print(json.dumps(told))
"""


def asked(snippet: Snippet, name: str, text: str, kind: str = "RuntimeError") -> list[str]:
    done = snippet(PROBE, name, text, kind)
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout)
    return found


@pytest.mark.torch
def test_a_device_error_fails_the_test_that_asks(snippet: Snippet) -> None:
    name, text = BROKEN[0]
    assert asked(snippet, name, text) == [f"RuntimeError: {text}"] * 2


@pytest.mark.torch
def test_what_torch_has_not_written_is_skipped(snippet: Snippet) -> None:
    name, text = REFUSALS[0]
    product, attention = asked(snippet, name, text)
    assert product == f"this build lacks it: {text}"
    assert attention == f"Skipped: not applicable: no math attention for fp16 here: {text}"
    kernel = "No available kernel. Aborting execution."  # lucidrains/x-transformers#143
    assert asked(snippet, "cuda", kernel) == [
        f"RuntimeError: {kernel}",
        f"Skipped: not applicable: no math attention for fp16 here: {kernel}",
    ]


@pytest.mark.torch
def test_a_kernel_of_gpus_is_not_missed_on_a_processor(snippet: Snippet) -> None:
    done = snippet("""
import types
import pytest
from suites.devices import cpu
from suites.loads import attention_kernels
import torch
if not hasattr(torch.nn.functional, "scaled_dot_product_attention"): raise SystemExit(77)
bench = types.SimpleNamespace(device=cpu, random=lambda *shape, precision: torch.ones(shape))
for kernel, name in (("efficient", "memory-efficient"), ("cudnn", "cuDNN's")):
    try:
        with attention_kernels.forced(bench, kernel, "fp32"): pass
    except pytest.skip.Exception as skip:
        told = f"not applicable: {name} attention is for GPUs, and this device is a processor"
        assert str(skip) == told, skip
    else:
        raise AssertionError(f"{kernel} ran")
with attention_kernels.forced(bench, "math", "fp32"): pass
""")
    if done.returncode == 77:
        pytest.skip("this torch has no scaled_dot_product_attention")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.torch
def test_a_dtype_that_a_device_does_not_take_is_skipped(snippet: Snippet) -> None:
    name, text = REFUSALS[-1]
    assert asked(snippet, name, text, "TypeError")[0] == f"this build lacks it: {text}"


def torch_of(monkeypatch: pytest.MonkeyPatch, version: str, **properties: Any) -> SimpleNamespace:
    """A torch that has no more than a device's properties and the switch for TensorFloat-32."""
    capability = properties.pop("capability", (0, 0))
    matmul = SimpleNamespace(allow_tf32=False)
    made = SimpleNamespace(
        __version__=version,
        cuda=SimpleNamespace(
            get_device_properties=lambda _: SimpleNamespace(**properties), get_device_capability=lambda: capability
        ),
        backends=SimpleNamespace(cuda=SimpleNamespace(matmul=matmul), mkldnn=SimpleNamespace()),
        get_float32_matmul_precision=lambda: "highest",
    )

    def switch(precision: str) -> None:
        matmul.allow_tf32 = precision != "highest" and not properties.get("closed", False)

    made.set_float32_matmul_precision = switch
    monkeypatch.setitem(__import__("sys").modules, "torch", made)
    return made


@pytest.mark.parametrize(
    ("capability", "precision", "expected"),
    [
        ((7, 5), "fp16", ""),
        ((7, 5), "bf16", "not applicable: bf16 needs compute capability 8.0, this device has 7.5"),
        ((8, 0), "tf32", ""),
        ((8, 6), "fp8", "not applicable: fp8 needs compute capability 8.9, this device has 8.6"),
        ((9, 0), "fp8", None),
    ],
)
def test_nvidia_by_compute_capability(
    monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], precision: str, expected: str | None
) -> None:
    torch_of(monkeypatch, "2.13.0+cu130", capability=capability)
    assert adapter("cuda").lacking(precision) == expected


@pytest.mark.parametrize(
    ("arch", "fp8", "e4m3"),
    [
        # hipBLASLt, data type support: the fnuz types on gfx942 only, the others on gfx950 and gfx12
        ("gfx942:sramecc+:xnack-", None, "float8_e4m3fnuz"),
        ("gfx950:sramecc+:xnack-", None, "float8_e4m3fn"),
        ("gfx1201", None, "float8_e4m3fn"),
        ("gfx90a:sramecc+:xnack-", "not applicable: fp8 needs gfx94x, gfx95x or gfx12, this device is gfx90a", None),
        ("gfx1100", "not applicable: fp8 needs gfx94x, gfx95x or gfx12, this device is gfx1100", None),
    ],
)
def test_amds_fp8_by_architecture(
    monkeypatch: pytest.MonkeyPatch, arch: str, fp8: str | None, e4m3: str | None
) -> None:
    torch_of(monkeypatch, "2.13.0+rocm7.1", gcnArchName=arch)
    assert adapter("rocm").lacking("fp8") == fp8
    assert adapter("rocm").lacking("bf16") is None
    assert e4m3 is None or adapter("rocm").e4m3() == e4m3


@pytest.mark.parametrize(
    ("version", "arch", "closed", "expected"),
    [
        ("2.13.0+rocm7.1", "gfx942", False, ""),
        (
            "2.7.1+rocm6.3",
            "gfx942",
            True,
            "not applicable: this torch allows TensorFloat-32 only where HIPBLASLT_ALLOW_",
        ),
        (
            "2.6.0+rocm6.2.4",
            "gfx942",
            False,
            "this build lacks it: torch 2.6.0+rocm6.2.4 computes no TensorFloat-32 on",
        ),
        ("2.13.0+rocm7.1", "gfx90a", False, "not applicable: TensorFloat-32 needs gfx94x, this device is gfx90a"),
    ],
)
def test_amds_tensorfloat_is_behind_a_switch(
    monkeypatch: pytest.MonkeyPatch, version: str, arch: str, closed: bool, expected: str
) -> None:
    made = torch_of(monkeypatch, version, gcnArchName=arch, closed=closed)
    told = adapter("rocm").lacking("tf32")
    assert told.startswith(expected)
    assert bool(told) is bool(expected)
    assert not made.backends.cuda.matmul.allow_tf32, "what asks leaves the switch as it was"


def test_intels_tensorfloat_has_its_own_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    made = torch_of(monkeypatch, "2.6.0+xpu")
    assert (
        adapter("xpu").lacking("tf32") == "this build lacks it: torch 2.6.0+xpu has no switch for TensorFloat-32 on xpu"
    )
    made.backends.mkldnn.allow_tf32 = False
    assert adapter("xpu").lacking("tf32") == ""
    with adapter("xpu").tf32():
        assert made.backends.mkldnn.allow_tf32
    assert not made.backends.mkldnn.allow_tf32
