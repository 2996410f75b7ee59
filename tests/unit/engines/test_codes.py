import pytest

from orchestrator.engines.codes import code_of, signal_of


@pytest.mark.parametrize(
    ("code", "number"),
    [(0, None), (1, None), (128, None), (129, 1), (137, 9), (139, 11), (192, 64), (193, None), (255, None)],
)
def test_signal_of(code: int, number: int | None) -> None:
    assert signal_of(code) == number


@pytest.mark.parametrize(("returncode", "code"), [(0, 0), (3, 3), (-9, 137), (-11, 139)])
def test_code_of(returncode: int, code: int) -> None:
    assert code_of(returncode) == code
