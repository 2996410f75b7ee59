"""Why something failed, read from its words and its signal: one table, the first row that fits.

Each pattern is a text that a real stack prints; the comment beside it says which. Patterns have no nested repeats, so
a hostile text costs no more than its length.
"""

import re
import signal
from collections.abc import Mapping

from orchestrator.vocabulary import Cause

_PATTERNS: tuple[tuple[Cause, str], ...] = (
    # cudaErrorNoKernelImageForDevice (209), hipErrorNoBinaryForGpu: the wheel holds no code for this architecture.
    (Cause.NO_KERNEL_IMAGE, r"no kernel image is available|hipErrorNoBinaryForGpu|invalid device function"),
    # cudaErrorInsufficientDriver (35), CUDA 803 and 804: user-mode and kernel driver disagree. torch/cuda/__init__.py
    # adds "The NVIDIA driver on your system is too old".
    (
        Cause.DRIVER_TOO_OLD,
        (
            r"driver version is insufficient|driver on your system is too old|"
            r"unsupported display driver / cuda driver combination|forward compatibility was attempted"
        ),
    ),
    # torch.OutOfMemoryError of CUDA, HIP and XPU; numpy and the C library for the host's memory.
    (
        Cause.OUT_OF_MEMORY,
        (
            r"(?:CUDA|HIP|XPU) out of memory|CUDA error: out of memory|hipErrorOutOfMemory|OutOfMemoryError|"
            r"UR_RESULT_ERROR_OUT_OF_(?:DEVICE|HOST|RESOURCES)|Cannot allocate memory|std::bad_alloc|\bMemoryError\b|"
            r"DefaultCPUAllocator: can't allocate memory"
        ),
    ),
    # torch/utils/data/_utils/worker.py, and what the C library says when /dev/shm is full.
    (
        Cause.OUT_OF_SHARED_MEMORY,
        (
            r"insufficient shared memory|out of shared memory|unable to (?:open|allocate) shared memory|"
            r"No space left on device[^\n]{0,200}/dev/shm|/dev/shm[^\n]{0,200}No space left on device"
        ),
    ),
    (Cause.OUT_OF_DISK, r"No space left on device|Disk quota exceeded"),
    # inductor without a toolchain, with one that lacks Python's headers, or with a /tmp that cannot be executed.
    (
        Cause.COMPILER_MISSING,
        (
            r"InvalidCxxCompiler|No working C\+\+ compiler|Python\.h: No such file|Failed to find C compiler|"
            r"CppCompileError|failed to map segment from shared object"
        ),
    ),
    # ld.so, and torch's own words about libraries of a wheel that were not found.
    (
        Cause.MISSING_LIBRARY,
        (
            r"cannot open shared object file|undefined symbol:|version `(?:GLIBC|CXXABI)[^\n]{1,40}' not found|"
            r"operator \S{1,80} does not exist"
        ),
    ),
    (Cause.MISSING_PACKAGE, r"ModuleNotFoundError|No module named |PackageNotFoundError"),
    # xid 79, cudaErrorDevicesUnavailable, a GPU that fell off the bus; the suite's exit 4 is judged by itself.
    (
        Cause.DEVICE_LOST,
        (
            r"GPU is lost|uncorrectable ECC|Unable to determine the device handle|"
            r"unspecified launch failure|UR_RESULT_ERROR_DEVICE_LOST|device (?:was )?lost"
        ),
    ),
    (
        Cause.DEVICE_MISSING,
        (
            r"no CUDA-capable device|No (?:CUDA|HIP|XPU) (?:GPUs|devices?) (?:are|is) available|"
            r"Found no NVIDIA driver|not compiled with (?:CUDA|XPU)|device missing"
        ),
    ),
    # torch/csrc/distributed: NCCL, RCCL under the same name, gloo, and the store they meet in.
    (
        Cause.COLLECTIVE,
        (
            r"NCCL (?:error|WARN|failure)|ncclUnhandled|ncclSystem|ncclInternal|DistBackendError|DistNetworkError|"
            r"DistStoreError|/gloo/transport/|use_libuv was requested"
        ),
    ),
    # OpenVINO 2026.1.0 and later on torch 2.13.0: Conv2d under torch.compile.
    (
        Cause.BACKEND_REFUSED,
        (
            r"sources must not be empty|InvalidBackend|BackendCompilerFailed|backend refused:|"
            r"needs to work with PyTorch \d"
        ),
    ),
    (Cause.NUMERICS, r"Tensor-likes are not close|Mismatched elements:"),
    (Cause.ASSERTION, r"AssertionError|device-side assert|^assert |\nE +assert "),
)
# Judge, the suite and the image room begin a message with the cause where they know it: `numerics: …`.
_STATED: Mapping[str, Cause] = {cause.value: cause for cause in Cause if cause is not Cause.NONE}
_TABLE = tuple((cause, re.compile(pattern, re.IGNORECASE)) for cause, pattern in _PATTERNS)

_SIGNALS: Mapping[int, Cause] = {
    signal.SIGSEGV: Cause.SEGMENTATION_FAULT,
    signal.SIGBUS: Cause.SEGMENTATION_FAULT,
    signal.SIGABRT: Cause.ABORT,
    signal.SIGKILL: Cause.KILLED,
    signal.SIGTERM: Cause.KILLED,
    signal.SIGINT: Cause.KILLED,
    signal.SIGHUP: Cause.KILLED,
}


def stated(words: str) -> Cause | None:
    """The cause that a text begins with, as `cause: …`."""
    return _STATED.get(words.partition(":")[0]) if ":" in words else None


def cause_of(*texts: str) -> Cause:
    """The cause that the first telling text names: texts in the order of their weight, rows in that of the table."""
    for words in texts:
        said = stated(words)
        if said is not None:
            return said
        for cause, pattern in _TABLE:
            if pattern.search(words):
                return cause
    return Cause.UNCLEAR


def cause_of_signal(number: int, log: str) -> Cause:
    """The cause of a death by signal. An abort and a bus error say why in the log, if anywhere."""
    if number in {signal.SIGABRT, signal.SIGBUS}:
        said = cause_of(log)
        if said not in {Cause.UNCLEAR, Cause.ASSERTION}:
            return said
    return _SIGNALS.get(number, Cause.UNCLEAR)


def signal_name(number: int) -> str:
    """`SIGSEGV`, or `signal 77` for one that has no name here."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
