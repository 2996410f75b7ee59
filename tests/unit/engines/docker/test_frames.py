from hypothesis import given
from hypothesis import strategies as st

from orchestrator.engines.docker.frames import Frames


def frame(stream: int, payload: bytes) -> bytes:
    return bytes([stream, 0, 0, 0]) + len(payload).to_bytes(4, "big") + payload


def test_frames_come_apart() -> None:
    stream = frame(1, b"out") + frame(2, b"") + frame(2, b"err")
    assert list(Frames().payloads(stream)) == [b"out", b"err"]


@given(st.lists(st.binary(max_size=30)), st.lists(st.integers(1, 12)))
def test_cuts_do_not_matter(payloads: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(frame(1 + number % 2, payload) for number, payload in enumerate(payloads))
    frames, out = Frames(), b""
    for cut in [*cuts, len(stream)]:
        out += b"".join(frames.payloads(stream[:cut]))
        stream = stream[cut:]
    assert out == b"".join(payloads)


@given(st.binary())
def test_nonsense_does_not_raise_and_is_not_held(data: bytes) -> None:
    frames = Frames()
    assert sum(map(len, frames.payloads(data))) <= len(data)
    assert len(frames._header) < 8
