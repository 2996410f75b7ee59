"""Is head worse than base, and could we have told? A paired comparison of runs, never of the samples within a run.

Student's paired t (Biometrika 6, 1908) between runs, with a margin and three ways to end as tests of equivalence have
them (Schuirmann 1987, https://doi.org/10.1007/BF01068419). Constants without a source of their own were chosen by the
simulations of `benchmarks/decisions.py`.

A pair is one fresh run of base and one of head, next to each other in time, in an order that a coin chose: what drifts
between pairs falls out of ln(head / base). How far that repeats where nothing changed comes from these pairs and, where
there are any, from pairs of the same image on the same kind of device.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from orchestrator import text
from orchestrator.model import PairedComparison
from orchestrator.vocabulary import ComparisonVerdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

ALPHA = 1e-3  # one-sided: of 1,000 comparisons of the same thing one is called a loss
FAMILY_RATE = 0.01  # of what is found in a family of comparisons so much may be chance
LOOKS = (5, 10, 20)  # pairs at which a comparison that is still being measured may be looked at
POWER = 0.9
SAME_NOISE, OTHER_NOISE = (
    1.25,
    3.0,
)  # times the calibrated variance: up to here it counts in full, from there not at all
_CONTRADICTED = 0.05  # what the exact test may not exceed beside a loss that the t-test finds
_EXACT_UP_TO = 40  # pairs; beyond it the t-test's own assumption holds well enough
_NO_NOISE = 1e-12  # of ln: what rounding leaves of differences that are all the same
_MOST_PAIRS = 10_000
_LEAST_CHANCE = 1e-15  # smaller ones are the rounding of the tail


class Design(Struct, frozen=True, kw_only=True):
    """What a comparison promises: the `margin` (a share) to catch, and how often it is looked at on the way."""

    margin: float = 0.03
    higher_is_better: bool = False
    looks: int = 1
    alpha: float = ALPHA

    @property
    def margin_of_ln(self) -> float:
        """The margin on the scale of ln: half the rate is as much as twice the time."""
        return -math.log1p(-self.margin) if self.higher_is_better else math.log1p(self.margin)

    @property
    def half_of_ln(self) -> float:
        """Half the margin on that scale: what is smaller is no loss that was promised, however sure it is."""
        return replace(self, margin=self.margin / 2).margin_of_ln

    @property
    def alpha_each(self) -> float:
        """Bonferroni over the looks: together they call no more of the same thing a loss than one look would."""
        return self.alpha / self.looks


class Noise(Struct, frozen=True, kw_only=True):
    """How far ln(head / base) of a pair strays: a standard deviation, its freedom, and what is to be said of it."""

    sigma: float
    freedom: int
    note: str = ""


class Evidence(Struct, frozen=True, kw_only=True):
    """What pairs show before anything is decided: the mean of ln(head / base), its noise, and how likely by chance.

    `worse` and `better` are the one-sided chances of such a mean, or one further off, where nothing changed: by the
    t-test, and by the exact test of signs, which is None where there are too many pairs for it. The pairs have no
    noise to hold a change against where `noise` is None; `tick` is the least step of ln between readings that repeat.
    """

    pairs: int
    mean: float
    noise: Noise | None
    tick: float = 0.0
    worse: float = 1.0
    better: float = 1.0
    exact_worse: float | None = None
    exact_better: float | None = None


def compare(
    base: Sequence[float], head: Sequence[float], design: Design, calibration: Sequence[tuple[float, float]] = ()
) -> PairedComparison:
    """The verdict on pairs of positive, finite measurements; `calibration` are pairs of the same image.

    With `design.looks` above 1 these are the pairs so far, and `pairs_wanted` says how many the next look needs.
    """
    return decide(evidence(base, head, calibration, higher_is_better=design.higher_is_better), design)


def compare_family(found: Sequence[Evidence], design: Design) -> tuple[PairedComparison, ...]:
    """The verdicts on comparisons that belong together, such as all operators of two cells.

    A loss is called by its share of false discoveries instead of by a chance of its own: Benjamini and Hochberg 1995,
    https://doi.org/10.1111/j.2517-6161.1995.tb02031.x
    """
    from scipy.stats import false_discovery_control

    measured = [one for one in found if one.noise]
    rate = FAMILY_RATE / design.looks
    worse, better = (
        iter(false_discovery_control(chances) if chances else ())
        for chances in ([one.worse for one in measured], [one.better for one in measured])
    )
    alpha = rate / max(len(measured), 1)  # where only one of them differs, it has to be this unlikely
    return tuple(
        _decided(one, design, alpha, (next(worse) <= rate, next(better) <= rate)) if one.noise else _unmeasurable(one)
        for one in found
    )


def evidence(
    base: Sequence[float],
    head: Sequence[float],
    calibration: Sequence[tuple[float, float]] = (),
    *,
    higher_is_better: bool = False,
) -> Evidence:
    """What the pairs show; ValueError unless base and head are as many, and all positive and finite."""
    import numpy as np
    from scipy import stats

    new = log_ratios(base, head)
    mean = float(new.mean()) if len(new) else 0.0
    tick = _tick(np.log([*base, *head]))
    noise = _noise(new, log_ratios(*np.reshape(calibration, (-1, 2)).T))
    if noise is None:
        return Evidence(pairs=len(new), mean=mean, noise=None, tick=tick)
    loss = -new if higher_is_better else new
    t = float(loss.mean()) / (noise.sigma / math.sqrt(len(new)))
    exact = len(new) <= _EXACT_UP_TO
    return Evidence(
        pairs=len(new),
        mean=mean,
        noise=noise,
        tick=tick,
        worse=float(stats.t.sf(t, noise.freedom)),
        better=float(stats.t.cdf(t, noise.freedom)),
        exact_worse=sign_flip(loss) if exact else None,
        exact_better=sign_flip(-loss) if exact else None,
    )


def decide(found: Evidence, design: Design) -> PairedComparison:
    """The verdict on what one comparison shows."""
    alpha = design.alpha_each
    return _decided(found, design, alpha, (found.worse <= alpha, found.better <= alpha))


def pairs_wanted(told: PairedComparison) -> int:
    """How many pairs the next look needs, those there are among them; 0 when the comparison has ended."""
    if told.verdict is not ComparisonVerdict.INCONCLUSIVE:
        return 0
    return next((look for look in LOOKS if look > told.pairs), 0)


def sign_flip(differences: "Sequence[float] | Numbers") -> float:
    """The exact one-sided chance of so large a sum, were every sign a coin's: 1 / 2**n at the least.

    Fisher's randomisation test (The Design of Experiments, 1935, section 21). The sums of both halves are met in the
    middle, so 40 differences take 2**20 sums a half and not 2**40.
    """
    import numpy as np

    sizes = np.abs(np.asarray(differences, dtype=np.float64))
    total = float(np.sum(differences))
    left, right = (_signed_sums(half) for half in (sizes[: len(sizes) // 2], sizes[len(sizes) // 2 :]))
    right.sort()
    near = 1e-12 * float(sizes.sum())  # equal sums may differ in their last bits
    at_least = len(right) - np.searchsorted(right, total - near - left)
    return float(at_least.sum()) / 2.0 ** len(sizes)


def smallest_detectable(noise: Noise, pairs: int, alpha: float) -> float:
    """The least mean of ln(head / base) that a one-sided t-test at `alpha` finds 9 times of 10.

    By the noncentral t distribution: Cohen, Statistical Power Analysis, 2nd edition 1988, section 2.4.
    """
    return _noncentrality(noise.freedom, alpha) * noise.sigma / math.sqrt(pairs)


def log_ratios(base: Sequence[float], head: Sequence[float]) -> "Numbers":
    """ln(head / base) of each pair; ValueError unless they are as many, and all positive and finite."""
    import numpy as np

    below, above = np.asarray(base, dtype=np.float64), np.asarray(head, dtype=np.float64)
    if below.shape != above.shape:
        raise ValueError(f"{below.size} measurements of base and {above.size} of head make no pairs")
    if not all((numbers > 0).all() and np.isfinite(numbers).all() for numbers in (below, above)):
        raise ValueError("a ratio needs measurements that are positive and finite")
    return np.log(above) - np.log(below)


def _tick(readings: "Numbers") -> float:
    """The least step between readings most of which are there more than once: a clock's; 0 where they all differ."""
    import numpy as np

    values = np.unique(readings)
    return float(np.diff(values).min()) if 1 < len(values) <= len(readings) / 2 else 0.0


def _noise(new: "Numbers", same: "Numbers") -> Noise | None:
    """The noise of new pairs, pooled with that of pairs of the same image as far as it is the same noise.

    Where noise has doubled since it was calibrated, the pooled figure would find losses that are none. A step at one
    ratio of the variances throws away calibrations that are good; fading keeps them, and simulated it is better on
    both sides: at 1 % noise a loss of 3 % takes 6.9 pairs on average instead of 7.2, and of comparisons of the same
    thing at doubled noise 0.8 % are called a loss in both.
    """
    if len(new) < 2:  # noqa: PLR2004 - one difference has no spread
        return None
    own, freedom = float(new.var(ddof=1)), len(new) - 1
    if math.sqrt(own) <= _NO_NOISE:
        return None
    alone = Noise(sigma=math.sqrt(own), freedom=freedom)
    if not len(same):
        return alone
    if problem := _unusable(same, len(new)):
        return replace(alone, note=f"the calibration was left out: {problem}")
    known = float(same.var(ddof=1))
    weight = min(max((OTHER_NOISE - own / known) / (OTHER_NOISE - SAME_NOISE), 0.0), 1.0)
    more = weight * (len(same) - 1)
    note = (
        "" if weight else f"the calibration was left out: the noise is {math.sqrt(own / known):.1f} times as large now"
    )
    return Noise(
        sigma=math.sqrt((freedom * own + more * known) / (freedom + more)), freedom=freedom + int(more), note=note
    )


def _unusable(same: "Numbers", pairs: int) -> str:
    """Why pairs that should be of the same image cannot say what the noise of so many pairs is; empty when they can."""
    from scipy import stats

    if pairs < LOOKS[0]:
        return f"fewer than {LOOKS[0]} pairs cannot show that the noise is still the same"
    spread = float(same.std(ddof=1)) if len(same) > 1 else 0.0
    if spread <= _NO_NOISE:
        return "there is no noise in it"
    off = abs(float(same.mean())) / (spread / math.sqrt(len(same)))
    return "it tells its own two sides apart" if 2 * stats.t.sf(off, len(same) - 1) <= ALPHA else ""


def _signed_sums(sizes: "Numbers") -> "Numbers":
    import numpy as np

    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate((sums - size, sums + size))
    return sums


@lru_cache(maxsize=1024)
def _quantile(freedom: int, alpha: float) -> float:
    from scipy import stats

    return float(stats.t.isf(alpha, freedom))


@lru_cache(maxsize=1024)
def _noncentrality(freedom: int, alpha: float) -> float:
    """By how many standard errors the truth must be off for the test to find it with the power that is promised."""
    from scipy import optimize, stats

    bound = _quantile(freedom, alpha)
    return float(optimize.brentq(lambda off: stats.nct.sf(bound, freedom, off) - POWER, 0.0, 4 * bound + 10))


def _decided(found: Evidence, design: Design, alpha: float, beyond_chance: tuple[bool, bool]) -> PairedComparison:
    """The verdict, where it is known whether the pairs are worse, or better, by more than chance."""
    if found.noise is None:
        return _unmeasurable(found)
    error = found.noise.sigma / math.sqrt(found.pairs)
    reach = _quantile(found.noise.freedom, alpha) * error
    least = smallest_detectable(found.noise, found.pairs, alpha)
    verdict, why = _verdict(found, design, beyond_chance, reach, least)
    if verdict is ComparisonVerdict.INCONCLUSIVE and least > design.margin_of_ln:
        why = f"{why}; {_enough(found, found.noise, design, alpha)}"
    return PairedComparison(
        verdict=verdict,
        effect=_share(found.mean),
        interval=(_share(found.mean - reach), _share(found.mean + reach)),
        smallest_detectable=_loss_share(least, design),
        pairs=found.pairs,
        why="; ".join(filter(None, (why, found.noise.note))),
    )


def _verdict(
    found: Evidence, design: Design, beyond_chance: tuple[bool, bool], reach: float, least: float
) -> tuple[ComparisonVerdict, str]:
    """What the evidence comes to, and why, for people."""
    worse, better = beyond_chance
    loss = -found.mean if design.higher_is_better else found.mean
    promised = text.percent(design.margin)
    effect = _share(found.mean)
    moved = f"head is {_percent(None if effect is None else abs(effect))} {'above' if found.mean > 0 else 'below'} base"
    for beyond, size, chance, exact, verdict in (
        (worse, loss, found.worse, found.exact_worse, ComparisonVerdict.FAIL),
        (better, -loss, found.better, found.exact_better, ComparisonVerdict.IMPROVED),
    ):
        if not beyond or size < design.half_of_ln:
            continue
        if exact is not None and exact > max(_CONTRADICTED, 2.0**-found.pairs):
            return ComparisonVerdict.INCONCLUSIVE, f"{moved}, and by its signs alone that may be chance (p {exact:.2g})"
        said = "worse" if verdict is ComparisonVerdict.FAIL else "better"
        odds = f"p {max(chance, _LEAST_CHANCE):.1g}"
        return verdict, f"{moved}, which is {said}, by more than chance ({odds}) and half of the {promised} margin"
    most = _loss_share(loss + reach, design)
    if least > design.margin_of_ln:
        found_from = _percent(_loss_share(least, design))
        return ComparisonVerdict.INCONCLUSIVE, f"these pairs find a loss from {found_from} on, not one of {promised}"
    if found.tick > design.half_of_ln:
        coarse = f"readings come in steps of {_percent(_share(found.tick))}"
        return ComparisonVerdict.UNMEASURABLE, f"{coarse}, too coarse for a margin of {promised}"
    if loss + reach < design.margin_of_ln:
        return ComparisonVerdict.PASS, f"a loss of {promised} is ruled out: {_at_most(most)}"
    return ComparisonVerdict.INCONCLUSIVE, f"the loss may be chance, and it may be up to {_percent(most)}"


def _unmeasurable(found: Evidence) -> PairedComparison:
    """What can be shown of too few pairs, or of pairs without noise: the difference, and no verdict."""
    if found.pairs > 1:
        why = "all differences are the same: a count is compared exactly, and a clock this coarse measures nothing"
    else:
        why = f"{'one pair' if found.pairs else 'no pair'} shows no noise to hold a difference against"
    return PairedComparison(
        verdict=ComparisonVerdict.UNMEASURABLE,
        effect=_share(found.mean) if found.pairs else None,
        interval=None,
        smallest_detectable=None,
        pairs=found.pairs,
        why=why,
    )


def _enough(found: Evidence, noise: Noise, design: Design, alpha: float) -> str:
    """How many pairs of this noise would find the margin."""
    if found.pairs < LOOKS[0]:
        return f"of fewer than {LOOKS[0]} pairs the noise is not known well enough to say how many would"
    if found.pairs >= _MOST_PAIRS:
        return "it takes more of them, or less noise"
    known = noise.freedom - (found.pairs - 1)

    def enough(pairs: int) -> bool:
        then = replace(noise, freedom=known + pairs - 1)
        return smallest_detectable(then, pairs, alpha) <= design.margin_of_ln

    wanted = bisect_left(range(_MOST_PAIRS + 1), True, lo=found.pairs, key=enough)
    return f"about {wanted:,} of this noise would" if wanted <= _MOST_PAIRS else f"not even {_MOST_PAIRS:,} would"


def _share(of_ln: float) -> float | None:
    """exp(x) - 1; None past the largest number there is."""
    try:
        return math.expm1(of_ln)
    except OverflowError:
        return None


def _loss_share(of_ln: float, design: Design) -> float | None:
    """The loss, as a share of base, of so much on the scale of ln: of a rate it cannot be more than all of it."""
    return -math.expm1(-of_ln) if design.higher_is_better else _share(of_ln)


def _at_most(share: float | None) -> str:
    return f"it is at most {_percent(share)}" if share is None or share > 0 else "there is none"


def _percent(share: float | None) -> str:
    return "more than a number can say" if share is None else text.percent(share)
