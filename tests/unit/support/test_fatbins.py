"""Device code in the bytes of a library."""

import io
import struct
import tracemalloc
from types import SimpleNamespace
from typing import IO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.errors import InputError
from orchestrator.support import fatbins
from orchestrator.support.fatbins import Code, read


def of(data: bytes) -> Code:
    return read(io.BytesIO(data))


def test_each_container_counts_once_for_each_architecture(make: SimpleNamespace) -> None:
    both = make.fatbin(make.entry(2, 80), make.entry(2, 90), make.entry(1, 90), make.entry(2, 90))
    found = of(make.elf(both, make.fatbin(make.entry(2, 80)), glibc=("2.14", "2.4")))
    assert found == Code(found={"sm_80": 2, "sm_90": 1, "ptx_90": 1}, containers=2, compressed=0, glibc=(2, 14))


@pytest.mark.parametrize("chunk", [1, 3, 16, 64, 1 << 20])
def test_no_boundary_between_two_reads_hides_anything(
    make: SimpleNamespace, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fatbins, "CHUNK", chunk)
    code = make.fatbin(make.entry(2, 75, b"x" * 999), make.entry(1, 120))
    found = of(make.elf(code, code + code, make.bundle("hipv4-amdgcn-amd-amdhsa--gfx942"), glibc=("2.28",)))
    assert found.found == {"sm_75": 3, "ptx_120": 3, "gfx942": 1}
    assert (found.containers, found.glibc) == (4, (2, 28))


def test_targets_of_hip_are_read_and_hosts_are_none(make: SimpleNamespace) -> None:
    names = (
        "host-x86_64-unknown-linux--",
        "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
        "hip-amdgcn-amd-amdhsa-gfx1100",
        "hipv4-amdgcn-amd-amdhsa--" + "x" * 400,
    )
    assert of(make.elf(make.bundle(*names))).found == {"gfx90a": 1, "gfx1100": 1}


def test_what_is_compressed_is_counted_and_four_letters_are_nothing(make: SimpleNamespace) -> None:
    assert of(make.elf(b"CCOB" + struct.pack("<HH", 2, 1), b"CCOB, said the rest", b"CCOB")).compressed == 1


def test_code_in_code_is_not_seen(make: SimpleNamespace) -> None:
    inner = make.fatbin(make.entry(2, 50))
    assert of(make.elf(make.fatbin(make.entry(2, 90, inner)))).found == {"sm_90": 1}


def test_the_mark_alone_is_no_container() -> None:
    assert of(struct.pack("<IHHQ", 0xBA55ED50, 2, 16, 9) + b"GLIBC_9.9").containers == 0


@pytest.mark.parametrize("lost", [1, 30, 60, 100])
def test_a_container_that_is_cut_off_is_an_error(make: SimpleNamespace, lost: int) -> None:
    with pytest.raises(InputError, match="cut off"):
        of(make.fatbin(make.entry(2, 90))[:-lost])


@pytest.mark.parametrize("header", [0, 31, 64])
def test_an_entry_larger_than_its_container_is_an_error(make: SimpleNamespace, header: int) -> None:
    entry = struct.pack("<HHIQIIHHI", 2, 1, header, 1 << 62, 0, 0, 0, 0, 90)
    with pytest.raises(InputError, match="larger than its fatbin"):
        of(make.fatbin(entry + b"\0" * 64))


def test_endless_entries_are_an_error(make: SimpleNamespace) -> None:
    with pytest.raises(InputError, match="does not end"):
        of(make.fatbin(*[make.entry(2, 90, b"", 32)] * 5000))


def test_a_library_that_knows_the_marks_holds_no_code(make: SimpleNamespace) -> None:
    number = struct.pack("<IHH", 0xBA55ED50, 1, 16) + b"\x48\x89\xe5\xff" * 12
    text = b"\0__CLANG_OFFLOAD_BUNDLE__\0file is not an offload bundle\0"
    long = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<QQQQ", 1, 0, 0, 1 << 40)
    found = of(make.elf(number, text, long, make.fatbin(make.entry(2, 90)), text[:26]))
    assert (found.found, found.containers) == ({"sm_90": 1}, 1)


class Endless(io.RawIOBase):
    """Many bytes that are nowhere at once."""

    def __init__(self, head: bytes, length: int) -> None:
        self._head, self._left = head, length

    def read(self, size: int = -1, /) -> bytes:
        taken, self._head = self._head[:size], self._head[size:]
        fill = min(size - len(taken), self._left)
        self._left -= fill
        return taken + b"\0" * fill


def test_memory_does_not_grow_with_the_file(make: SimpleNamespace) -> None:
    size = 200 << 20
    entry = struct.pack("<HHIQIIHHI", 2, 1, 64, size, 0, 0, 0, 0, 90).ljust(64, b"\0")
    head = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, size + 64) + entry
    stream: IO[bytes] = Endless(head, size + (100 << 20))  # type: ignore[assignment]
    tracemalloc.start()
    try:
        assert read(stream).found == {"sm_90": 1}
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


MARKS = st.sampled_from(
    [struct.pack("<IHH", 0xBA55ED50, 1, 16), b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB", b"\0GLIBC_2.9\0"]
)


@given(st.lists(MARKS | st.binary(max_size=80)))
def test_no_bytes_break_the_reader(parts: list[bytes]) -> None:
    try:
        found = of(b"".join(parts))
    except InputError:
        return
    assert found.containers >= max(found.found.values(), default=0)
