"""Words of real stacks, each beside the cause that it tells."""

import signal

import pytest

from orchestrator.results.causes import cause_of, cause_of_signal, signal_name, stated
from orchestrator.vocabulary import Cause

WORDS = [
    (
        "RuntimeError: CUDA error: no kernel image is available for execution on the device",
        Cause.NO_KERNEL_IMAGE,
    ),
    ("hipErrorNoBinaryForGpu: Unable to find code object for all current devices!", Cause.NO_KERNEL_IMAGE),
    (
        "RuntimeError: The NVIDIA driver on your system is too old (found version 11040).",
        Cause.DRIVER_TOO_OLD,
    ),
    ("CUDA driver version is insufficient for CUDA runtime version", Cause.DRIVER_TOO_OLD),
    (
        "Error 803: system has unsupported display driver / cuda driver combination",
        Cause.DRIVER_TOO_OLD,
    ),
    ("Error 804: forward compatibility was attempted on non supported HW", Cause.DRIVER_TOO_OLD),
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.", Cause.OUT_OF_MEMORY),
    ("torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2 GiB", Cause.OUT_OF_MEMORY),
    ("XPU out of memory. Tried to allocate 2 GiB", Cause.OUT_OF_MEMORY),
    ("UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", Cause.OUT_OF_MEMORY),
    ("OSError: [Errno 12] Cannot allocate memory", Cause.OUT_OF_MEMORY),
    (
        "RuntimeError: [enforce fail at alloc_cpu.cpp:114] DefaultCPUAllocator: can't allocate memory: you tried",
        Cause.OUT_OF_MEMORY,
    ),
    ("terminate called after throwing an instance of 'std::bad_alloc'", Cause.OUT_OF_MEMORY),
    (
        "RuntimeError: DataLoader worker is killed by signal: Bus error. Its workers are out of shared memory.",
        Cause.OUT_OF_SHARED_MEMORY,
    ),
    ("OSError: [Errno 28] No space left on device: '/dev/shm/torch_123'", Cause.OUT_OF_SHARED_MEMORY),
    ("OSError: [Errno 28] No space left on device: '/tmp/x'", Cause.OUT_OF_DISK),
    (
        "InductorError: InvalidCxxCompiler: No working C++ compiler found in torch._inductor.config.cpp.cxx",
        Cause.COMPILER_MISSING,
    ),
    ("fatal error: Python.h: No such file or directory", Cause.COMPILER_MISSING),
    ("torch._inductor.exc.CppCompileError: C++ compile error", Cause.COMPILER_MISSING),
    ("ImportError: /tmp/x.so: failed to map segment from shared object", Cause.COMPILER_MISSING),
    ("RuntimeError: Failed to find C compiler. Please specify via CC environment variable.", Cause.COMPILER_MISSING),
    ("ImportError: libcudart.so.12: cannot open shared object file: No such file", Cause.MISSING_LIBRARY),
    ("OSError: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found", Cause.MISSING_LIBRARY),
    ("ImportError: libtorch.so: undefined symbol: _ZN3c10", Cause.MISSING_LIBRARY),
    ("RuntimeError: operator torchvision::nms does not exist", Cause.MISSING_LIBRARY),
    ("ModuleNotFoundError: No module named 'openvino'", Cause.MISSING_PACKAGE),
    ("CUDA error: unspecified launch failure", Cause.DEVICE_LOST),
    ("Unable to determine the device handle for GPU 0000:01:00.0: GPU is lost.", Cause.DEVICE_LOST),
    ("RuntimeError: No CUDA GPUs are available", Cause.DEVICE_MISSING),
    ("AssertionError: Torch not compiled with CUDA enabled", Cause.DEVICE_MISSING),
    ("RuntimeError: Found no NVIDIA driver on your system.", Cause.DEVICE_MISSING),
    ("torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:275", Cause.COLLECTIVE),
    ("RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed", Cause.COLLECTIVE),
    ("use_libuv was requested but PyTorch was build without libuv support", Cause.COLLECTIVE),
    ("AssertionError: sources must not be empty for symbol s96", Cause.BACKEND_REFUSED),
    ("torch._dynamo.exc.InvalidBackend: Invalid backend: 'onnxrt'", Cause.BACKEND_REFUSED),
    ("AssertionError: Tensor-likes are not close!", Cause.NUMERICS),
    ("AssertionError: the sum differs", Cause.ASSERTION),
    ("assert 1 == 2", Cause.ASSERTION),
    ("CUDA error: device-side assert triggered", Cause.ASSERTION),
    ("numerics: max error 0.1 over 0.01", Cause.NUMERICS),
    ("backend fell back: openvino took 0 of 3", Cause.BACKEND_FELL_BACK),
    ("backend refused: it raised", Cause.BACKEND_REFUSED),
    ("known issue gone: it passes", Cause.KNOWN_ISSUE_GONE),
    ("known issue expired: accepted until 2026-01-01", Cause.KNOWN_ISSUE_EXPIRED),
    ("version mismatch: torch 2.13.0 was asked for", Cause.VERSION_MISMATCH),
    ("it did not work", Cause.UNCLEAR),
    ("", Cause.UNCLEAR),
]


@pytest.mark.parametrize(("words", "cause"), WORDS)
def test_words(words: str, cause: Cause) -> None:
    assert cause_of(words) is cause
    assert cause_of(f"first line\n{words}") is cause or stated(words) is cause or words.startswith("assert")


def test_a_warning_that_each_cpu_run_prints_tells_nothing() -> None:
    assert cause_of("gpuGetDeviceCount failed with code 35\nUSDT: profiler_start\n") is Cause.UNCLEAR


def test_the_first_telling_text_decides() -> None:
    assert cause_of("quiet", "No module named 'x'", "CUDA out of memory") is Cause.MISSING_PACKAGE


def test_stated_causes_are_the_closed_set_and_not_none() -> None:
    assert {stated(f"{cause.value}: x") for cause in Cause} == {None, *Cause} - {Cause.NONE}
    assert stated("numerics") is None
    assert stated("a numerics: x") is None


@pytest.mark.parametrize(
    ("number", "log", "cause"),
    [
        (signal.SIGSEGV, "CUDA out of memory", Cause.SEGMENTATION_FAULT),
        (signal.SIGBUS, "", Cause.SEGMENTATION_FAULT),
        (signal.SIGBUS, "out of shared memory", Cause.OUT_OF_SHARED_MEMORY),
        (signal.SIGABRT, "", Cause.ABORT),
        (signal.SIGABRT, "CUDA out of memory", Cause.OUT_OF_MEMORY),
        (signal.SIGABRT, "AssertionError", Cause.ABORT),
        (signal.SIGKILL, "", Cause.KILLED),
        (signal.SIGTERM, "", Cause.KILLED),
        (signal.SIGILL, "", Cause.UNCLEAR),
        (77, "", Cause.UNCLEAR),
    ],
)
def test_signals(number: int, log: str, cause: Cause) -> None:
    assert cause_of_signal(number, log) is cause


def test_signal_names() -> None:
    assert signal_name(11) == "SIGSEGV"
    assert signal_name(77) == "signal 77"


def test_a_hostile_text_costs_no_more_than_its_length() -> None:
    for text in ("/gloo/", "/dev/shm", "`GLIBC", "operator ", "\nE    "):
        assert cause_of(text * 10_000) is Cause.UNCLEAR
