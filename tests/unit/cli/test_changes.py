"""KEY=VALUE as `impact` and `upgrade` take it."""

import datetime as dt

import pytest

from orchestrator.cli.changes import day_of, of_cells, pairs_of
from orchestrator.errors import ExitCode, InputError


@pytest.mark.parametrize(
    ("words", "pairs"),
    [
        (("torch=2.13.0",), {"torch": "2.13.0"}),
        (("torch=2.13.0,torch_build=cu130",), {"torch": "2.13.0", "torch_build": "cu130"}),
        (("torch=2.13.0", "torch_build=cu130"), {"torch": "2.13.0", "torch_build": "cu130"}),
        (("torch=2.13.0, driver=580",), {"torch": "2.13.0", "driver": "580"}),
        (("env=OMP_NUM_THREADS=1",), {"env": "OMP_NUM_THREADS=1"}),
        (("cuda_compat=none,driver=580",), {"cuda_compat": "", "driver": "580"}),
        ((), {}),
    ],
)
def test_pairs_come_one_by_one_or_with_commas(words: tuple[str, ...], pairs: dict[str, str]) -> None:
    assert pairs_of(words) == pairs


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("torch", "is not KEY=VALUE"),
        ("=1", "is not KEY=VALUE"),
        ("torhc=2.13.0", "did you mean `torch`?"),
        ("torch=v2.13", "did you mean `2.13`?"),
        ("python=4", "takes a Python version"),
        ("torch_build=cuda", "takes cpu, cuXYZ, rocmX.Y or xpu"),
        ("base=none,gpus=none", "`gpus`"),
        ("torch=2.13.0,torch=2.14.1", "given twice"),
        ("torch=2.13.0\x1b[2J", "x1b"),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_asked(word: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        pairs_of([word])
    assert told in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert caught.value.exit_code == ExitCode.BAD_INPUT


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        pairs_of(["torhc=2.13.0,python=4"])
    assert len(str(caught.value).split("\n")) == 2


@pytest.mark.parametrize("change", [{"rocm_userspace": "7.1"}, {"scope": "torch.compile"}, {"cuda_compat": ""}])
def test_a_row_takes_only_what_a_cell_can_have(change: dict[str, str]) -> None:
    with pytest.raises(InputError):
        of_cells(change)
    assert of_cells({"driver": "580"}) == {"driver": "580"}


def test_the_day_is_today_unless_one_is_given() -> None:
    assert day_of("2027-06-01") == dt.date(2027, 6, 1)
    assert day_of(None) == dt.datetime.now(tz=dt.UTC).date()
    with pytest.raises(InputError):
        day_of("June")
