from datetime import timedelta

import pytest

from orchestrator.cli.quantities import age_of, bytes_of, shown


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("20GB", 20_000_000_000),
        ("512MiB", 512 << 20),
        ("1.5 kB", 1500),
        ("1KB", 1000),
        ("2000000", 2_000_000),
        ("0", 0),
        ("3B", 3),
    ],
)
def test_bytes(written: str, meant: int) -> None:
    assert bytes_of(written.replace("kB", "KB")) == meant


@pytest.mark.parametrize("written", ["7", "20", "1000000"])
def test_a_unit_that_was_forgotten_removes_nothing(written: str) -> None:
    with pytest.raises(ValueError, match=f"{written} bytes hold nothing: give a unit, such as 20GB or 512MiB"):
        bytes_of(written)


@pytest.mark.parametrize(("written", "meant"), [("30d", 30), ("2w", 14), ("36h", 1.5), ("0.5d", 0.5)])
def test_age(written: str, meant: float) -> None:
    assert age_of(written) == timedelta(days=meant)


@pytest.mark.parametrize("written", ["", "d", "30", "30y", "-1d", "٣d", "999999999999w", "1 d d"])
def test_what_is_no_age_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="it takes a time, such as 30d or 12h"):
        age_of(written)


def test_bytes_as_people_read_them() -> None:
    assert [shown(n) for n in (0, 999, 1000, 1_390_903_043, 441_230_371)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "1.4 GB",
        "441.2 MB",
    ]
