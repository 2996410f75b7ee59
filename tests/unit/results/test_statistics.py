"""Paired comparison: the figures that the plan promises, and what cannot be told from the numbers at hand."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from simulated import pairs

from orchestrator.model import PairedComparison
from orchestrator.results.statistics import (
    ALPHA,
    LOOKS,
    Design,
    Noise,
    compare,
    compare_family,
    evidence,
    pairs_wanted,
    sign_flip,
    smallest_detectable,
)
from orchestrator.vocabulary import ComparisonVerdict

ONE_LOOK = Design()
IN_LOOKS = Design(looks=len(LOOKS))
PASS, FAIL, IMPROVED, INCONCLUSIVE, UNMEASURABLE = ComparisonVerdict
Pairs = tuple[Sequence[float], Sequence[float]]


def told(found: Pairs, design: Design = ONE_LOOK, calibration: Pairs = ((), ())) -> PairedComparison:
    return compare(*found, design, list(zip(*calibration, strict=True)))


def in_looks(found: Pairs, calibration: Pairs) -> PairedComparison:
    """A comparison as it is measured: so many pairs, a look, more pairs where it did not end."""
    wanted = LOOKS[0]
    while True:
        seen = told((found[0][:wanted], found[1][:wanted]), IN_LOOKS, calibration)
        if not (wanted := pairs_wanted(seen)):
            return seen


def verdicts(found: Sequence[PairedComparison]) -> dict[ComparisonVerdict, float]:
    return {verdict: count / len(found) for verdict, count in Counter(one.verdict for one in found).items()}


@pytest.mark.parametrize("noise", [0.01, 0.015, 0.02])
def test_of_the_same_image_at_most_2_in_1000_are_called_a_loss(noise: float) -> None:
    random = np.random.default_rng(20)
    same = [in_looks(pairs(random, 20, noise, drift=0.004), pairs(random, 20, noise, drift=0.004)) for _ in range(4000)]
    assert verdicts(same).get(FAIL, 0) <= 0.002


def test_a_loss_of_3_percent_is_caught_with_seven_pairs_on_average() -> None:
    random = np.random.default_rng(21)
    found = [in_looks(pairs(random, 20, 0.01, loss=0.03), pairs(random, 20, 0.01)) for _ in range(2000)]
    assert verdicts(found)[FAIL] >= 0.95
    assert np.mean([one.pairs for one in found]) <= 7


def test_without_a_calibration_one_look_at_twenty_pairs_catches_it() -> None:
    random = np.random.default_rng(22)
    found = [told(pairs(random, 20, 0.01, loss=0.03)) for _ in range(2000)]
    assert verdicts(found)[FAIL] >= 0.95


def test_runs_that_follow_their_neighbours_are_no_loss() -> None:
    random = np.random.default_rng(27)
    found = [told(pairs(random, 20, 0.01, correlation=0.5)) for _ in range(2000)]
    assert verdicts(found).get(FAIL, 0) <= 0.003


@pytest.mark.parametrize("count", [5, 10, 20])
def test_in_one_look_noise_that_doubled_is_seldom_called_a_loss(count: int) -> None:
    random = np.random.default_rng(28)
    found = [told(pairs(random, count, 0.02), calibration=pairs(random, 20, 0.01)) for _ in range(2000)]
    assert verdicts(found).get(FAIL, 0) <= 0.014  # 0.9 % at 5 pairs, and three standard errors


def test_noise_that_doubled_since_its_calibration_is_seldom_called_a_loss() -> None:
    random = np.random.default_rng(23)
    found = [in_looks(pairs(random, 20, 0.02), pairs(random, 20, 0.01)) for _ in range(4000)]
    assert verdicts(found).get(FAIL, 0) <= 0.01


def test_what_did_not_change_mostly_passes() -> None:
    random = np.random.default_rng(24)
    found = [told(pairs(random, 20, 0.01)) for _ in range(1000)]
    assert verdicts(found)[PASS] >= 0.8


@pytest.mark.parametrize("speeds", [(1.0, 1.4), (1.0, 40.0)])
def test_machines_of_two_speeds_are_no_loss(speeds: tuple[float, float]) -> None:
    random = np.random.default_rng(25)
    found = [told(pairs(random, 20, 0.01, speeds=speeds)) for _ in range(2000)]
    assert verdicts(found).get(FAIL, 0) <= 0.003


def test_outliers_are_no_loss_and_hide_none_for_ever() -> None:
    random = np.random.default_rng(26)
    same = [told(pairs(random, 20, 0.01, outliers=0.03)) for _ in range(2000)]
    assert verdicts(same).get(FAIL, 0) <= 0.002
    lost = [told(pairs(random, 20, 0.01, loss=0.1, outliers=0.03)) for _ in range(500)]
    assert PASS not in verdicts(lost)


@pytest.mark.parametrize(
    ("count", "pooled", "alone"),
    [(5, 0.031, 0.065), (7, 0.026, 0.039), (10, 0.022, 0.027)],  # of ln, published for this plan: 1 % noise a run
)
def test_the_smallest_loss_that_is_found(count: int, pooled: float, alone: float) -> None:
    for freedom, least in ((19 + count - 1, pooled), (count - 1, alone)):
        found = smallest_detectable(Noise(sigma=0.01 * math.sqrt(2), freedom=freedom), count, ALPHA)
        assert found == pytest.approx(least, abs=0.0007)


@given(st.lists(st.floats(-5, 5, allow_subnormal=False).filter(bool), min_size=1, max_size=10))
@settings(max_examples=200)
def test_the_exact_test_counts_every_assignment_of_signs(differences: list[float]) -> None:
    sizes = np.abs(differences)
    signs = np.array(np.meshgrid(*[[-1, 1]] * len(sizes))).reshape(len(sizes), -1)
    at_least = np.count_nonzero(signs.T @ sizes >= sum(differences) - 1e-12 * sizes.sum())
    assert sign_flip(differences) == at_least / 2 ** len(sizes)


@pytest.mark.parametrize(("count", "least"), [(5, 1 / 32), (10, 1 / 1024), (40, 2.0**-40)])
def test_the_exact_test_cannot_say_less_than_all_signs_alike(count: int, least: float) -> None:
    assert sign_flip([0.01 + 0.001 * at for at in range(count)]) == least


def test_a_figure_of_an_independent_library() -> None:
    from scipy import stats

    random = np.random.default_rng(1)
    base, head = pairs(random, 12, 0.01, loss=0.02)
    by_hand = evidence(base, head)
    assert by_hand.worse == pytest.approx(stats.ttest_1samp(np.log(head / base), 0, alternative="greater").pvalue)


def exact(ratios: Sequence[float]) -> Pairs:
    return [100.0] * len(ratios), [100.0 * ratio for ratio in ratios]


AROUND = (0.99, 1.0, 1.01, 0.995, 1.005) * 4


def test_a_small_loss_beyond_chance_passes_below_half_the_margin() -> None:
    found = told(exact([1.005 * (1 + (ratio - 1) / 50) for ratio in AROUND]))
    assert found.verdict is PASS
    assert found.effect == pytest.approx(0.005, abs=1e-4)


def test_rates_are_better_when_they_are_higher() -> None:
    slower = exact([ratio * 0.95 for ratio in AROUND])
    assert told(slower, Design(higher_is_better=True)).verdict is FAIL
    assert told(slower).verdict is IMPROVED


def test_too_few_pairs_for_the_margin_never_pass_and_say_how_many_would_do() -> None:
    found = told(exact(AROUND[:5]))
    assert found.verdict is INCONCLUSIVE
    assert found.smallest_detectable is not None
    assert found.smallest_detectable > 0.03
    wanted = int(found.why.rsplit("about ", 1)[1].split(" of this noise")[0])
    assert wanted > 5
    assert told(exact((AROUND * 100)[:wanted])).smallest_detectable <= 0.032  # type: ignore[operator]


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (exact([]), "no pair"),
        (exact([1.1]), "one pair"),
        (exact([1.0] * 20), "all differences are the same"),
        (([1.0, 10.0, 100.0], [1.1, 11.0, 110.0]), "all differences are the same"),
    ],
)
def test_what_shows_no_noise_is_not_measurable(found: Pairs, why: str) -> None:
    seen = told(found, calibration=exact(AROUND))
    assert seen.verdict is UNMEASURABLE
    assert why in seen.why
    assert seen.interval is seen.smallest_detectable is None


@pytest.mark.parametrize("steps", [[1.0] * 19 + [1.05], ([1.0] * 9 + [1.05]) * 2])
def test_a_clock_that_is_too_coarse_for_the_margin_rules_no_loss_out(steps: list[float]) -> None:
    found = told(([20.0] * 20, [20 * step for step in steps]))
    assert (found.verdict, found.why) == (UNMEASURABLE, "readings come in steps of 5 %, too coarse for a margin of 3 %")
    fine = [20 + 0.001 * (at % 3) for at in range(20)]
    assert told((fine, fine[1:] + fine[:1])).verdict is PASS


@pytest.mark.parametrize("number", [0.0, -1.0, math.nan, math.inf])
def test_what_is_no_measurement_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="positive and finite"):
        told(([1.0, number], [1.0, 1.0]))
    with pytest.raises(ValueError, match="make no pairs"):
        told(([1.0], [1.0, 1.0]))


@pytest.mark.parametrize(
    ("calibration", "count", "note"),
    [
        (exact([1.02, 1.021, 1.022, 1.023]), 20, "tells its own two sides apart"),
        (exact([1.0] * 20), 20, "there is no noise in it"),
        (exact([1.01]), 20, "there is no noise in it"),
        (exact(AROUND), 4, "fewer than 5 pairs"),
        (exact([1 + (ratio - 1) / 4 for ratio in AROUND]), 20, "the noise is 4.0 times as large now"),
    ],
)
def test_a_calibration_that_does_not_fit_is_left_out_and_told(calibration: Pairs, count: int, note: str) -> None:
    alone, beside = told(exact(AROUND[:count])), told(exact(AROUND[:count]), calibration=calibration)
    assert note in beside.why
    assert replace(beside, why="") == replace(alone, why="")


def test_a_calibration_counts_less_the_more_the_noise_has_grown() -> None:
    def freedom(growth: float) -> int:
        calm = exact([1 + (ratio - 1) / growth for ratio in AROUND])
        noise = evidence(*exact(AROUND), list(zip(*calm, strict=True))).noise
        assert noise is not None
        return noise.freedom

    grown = [freedom(growth) for growth in (1.0, 1.2, 1.3, 1.5, 1.7, 1.8)]
    assert grown == sorted(grown, reverse=True)
    assert (grown[0], grown[-1]) == (38, 19)


def test_signs_that_do_not_agree_with_the_mean_withhold_a_verdict() -> None:
    found = exact([math.exp(change) for change in (-0.001, 0.04, 0.05, 0.03, 0.03)])
    calibration = exact([1 + (ratio - 1) * 2 for ratio in AROUND])
    seen = told(found, calibration=calibration)
    assert seen.verdict is INCONCLUSIVE
    assert "by its signs alone that may be chance (p 0.062)" in seen.why
    assert told((found[1], found[0]), calibration=calibration).verdict is INCONCLUSIVE


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (0.5, "head is 50 % below base, which is better"),
        (2.0, "head is 100 % above base, which is worse"),
        (1.125, "head is 12.5 % above base, which is worse"),
    ],
)
def test_a_verdict_is_said_in_shares_of_base(ratio: float, said: str) -> None:
    found = exact([ratio * (1 + (one - 1) / 1e6) for one in AROUND])
    assert told(found).why.startswith(said)
    swapped = {"better": "worse", "worse": "better"}
    *_, last = said.split()
    assert told(found, Design(higher_is_better=True)).why.startswith(said.replace(last, swapped[last]))


def test_of_a_family_of_operators_chance_finds_none() -> None:
    random = np.random.default_rng(3)
    same = [evidence(*pairs(random, 10, 0.01)) for _ in range(2000)]
    assert FAIL not in verdicts(compare_family(same, Design(margin=0.1)))
    slower = [evidence(*pairs(random, 10, 0.01, loss=0.1)) for _ in range(20)]
    found = compare_family([*same, *slower], Design(margin=0.1))
    assert all(one.verdict is FAIL for one in found[2000:])
    alone = compare_family([slower[0]], Design(margin=0.1))[0]
    assert alone.smallest_detectable is not None
    assert found[2000].smallest_detectable is not None
    assert found[2000].smallest_detectable > alone.smallest_detectable
    assert compare_family([], ONE_LOOK) == ()
    assert [one.verdict for one in compare_family([evidence([1.0], [2.0]), slower[0]], ONE_LOOK)] == [
        UNMEASURABLE,
        FAIL,
    ]


@given(
    st.lists(st.tuples(*[st.floats(1e-300, 1e300)] * 2), max_size=30),
    st.lists(st.tuples(*[st.floats(1e-300, 1e300)] * 2), max_size=30),
    st.floats(0.001, 0.9),
    st.booleans(),
)
def test_whatever_is_measured_gets_a_verdict_that_holds_together(
    found: list[tuple[float, float]], same: list[tuple[float, float]], margin: float, higher: bool
) -> None:
    base, head = [one for one, _ in found], [other for _, other in found]
    design = Design(margin=margin, higher_is_better=higher)
    seen = compare(base, head, design, same)
    assert seen.pairs == len(found)
    numbers = [seen.effect, seen.smallest_detectable, *(seen.interval or ())]
    assert all(number is None or math.isfinite(number) for number in numbers)
    if seen.verdict in {PASS, FAIL, IMPROVED}:
        assert seen.pairs > 1
        assert seen.interval is not None
    if seen.verdict is PASS:
        assert seen.smallest_detectable is not None
        assert seen.smallest_detectable <= margin * (1 + 1e-9)
        losing = seen.interval[0] if higher else seen.interval[1]  # type: ignore[index]
        assert (-losing if higher else losing) <= margin * (1 + 1e-9)  # type: ignore[operator]
    if seen.verdict in {FAIL, IMPROVED} and seen.effect is not None:
        lost = -seen.effect if higher else seen.effect
        assert lost > margin / 3 if seen.verdict is FAIL else lost < 0
    turned = compare(head, base, design, [(other, one) for one, other in same])
    assert {seen.verdict, turned.verdict} not in ({FAIL}, {IMPROVED})
