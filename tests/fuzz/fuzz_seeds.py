"""Libraries with device code, as the fuzzers begin with them."""

import struct


def elf_seeds() -> tuple[bytes, ...]:
    """CUDA code for two architectures with PTX, and a HIP bundle, each among other bytes of a library."""
    head = b"\x7fELF\2\1\1".ljust(64, b"\0") + b"\0GLIBC_2.2.5\0GLIBC_2.17\0"
    entries = b"".join(_entry(kind, number) for kind, number in ((2, 90), (2, 150), (1, 150)))
    fatbin = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entries)) + entries
    targets = (
        b"host-x86_64-unknown-linux--",
        b"hipv4-amdgcn-amd-amdhsa--gfx942",
        b"hip-amdgcn-amd-amdhsa-gfx90a:xnack+",
    )
    bundle = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(targets))
    bundle += b"".join(struct.pack("<QQQ", 4096, 16, len(target)) + target for target in targets)
    compressed = b"CCOB" + struct.pack("<HH", 2, 1) + b"\xcc" * 40
    return (head + b"\xcc" * 13 + fatbin * 2, head + bundle + b"\xcc" * 60, head + compressed + fatbin)


def _entry(kind: int, architecture: int) -> bytes:
    code = b"\1" * 40
    return struct.pack("<HHIQIIHHI", kind, 0x101, 64, len(code), 0, 0, 0, 0, architecture).ljust(64, b"\0") + code
