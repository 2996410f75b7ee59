"""Timing."""

from suites.timing import host_samples, one_figure


def test_one_sample_for_each_call_and_the_device_waited_for_around_each() -> None:
    told: list[str] = []
    samples = host_samples(lambda: told.append("call"), 2, lambda: told.append("wait"))
    assert told == ["wait", "call", "wait"] * 2
    assert len(samples) == 2
    assert min(samples) >= 0


def test_the_figure_is_the_least_or_the_middle() -> None:
    assert one_figure([3.0, 1.0, 2.0], "min") == 1.0
    assert one_figure([3.0, 1.0, 9.0], "median") == 3.0
