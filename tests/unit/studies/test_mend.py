"""What must move with a change, and what is left."""

from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.model import Reason
from orchestrator.studies.answers import Answers, flaws
from orchestrator.studies.mend import mend
from orchestrator.vocabulary import RuleKind, Verdict

LADDERS = {"torch": ("2.8.0", "2.9.1", "2.10.0"), "driver": ("535", "570", "580", "615", "620")}
START = {"torch": "2.9.1", "driver": "535", "base": "debian12", "gpu": "H100"}
FLOOR = (("driver",), lambda driver: driver == "535")


def mended(answers: Answers, borne: Any = frozenset()) -> tuple[dict[str, str] | None, Reason | None]:
    move, left = mend(answers, answers.state(START), LADDERS, borne)
    return dict(move.change) if move else None, left


def test_what_is_supported_needs_nothing(make: SimpleNamespace) -> None:
    assert mended(make.answers({})) == (None, None)


def test_the_smallest_change_is_made(make: SimpleNamespace) -> None:
    assert mended(make.answers({"floor": FLOOR})) == ({"driver": "570"}, None)


def test_what_was_wrong_before_is_not_asked_to_be_mended(make: SimpleNamespace) -> None:
    answers = make.answers({}, {"slow": FLOOR})
    assert mended(answers)[0] == {"driver": "570"}
    assert mended(answers, flaws(answers.state(START))) == (None, None)


def test_what_was_wrong_before_may_stay_while_something_else_is_mended(make: SimpleNamespace) -> None:
    answers = make.answers({"pin": (("torch",), lambda torch: torch == "2.9.1")}, {"slow": FLOOR})
    borne = flaws(answers.state(START | {"torch": "2.8.0"}))
    assert mended(answers, borne) == ({"torch": "2.10.0"}, None)
    change, left = mended(answers)
    assert change == {"torch": "2.10.0", "driver": "570"}
    assert left is None


def test_what_nothing_that_moves_can_mend_is_left_and_told(make: SimpleNamespace) -> None:
    answers = make.answers({}, {"slow": FLOOR, "ended": (("base",), lambda base: base == "debian12")})
    change, left = mended(answers)
    assert change == {"driver": "570"}
    assert left is not None
    assert left.rule == "ended"


def test_where_nothing_helps_the_rule_that_refuses_what_stays_is_told(make: SimpleNamespace) -> None:
    answers = make.answers({"floor": FLOOR, "card": (("gpu",), lambda gpu: gpu == "H100")})
    change, left = mended(answers)
    assert change is None
    assert left is not None
    assert left.rule == "card"


def test_where_nothing_is_supported_what_runs_at_all_is_taken(make: SimpleNamespace) -> None:
    answers = make.answers({"floor": FLOOR}, {"slow": (("driver",), lambda driver: driver != "535")})
    change, left = mended(answers)
    assert change == {"driver": "570"}
    assert left is not None
    assert left.rule == "slow"


class Silent:
    """Says nothing of one card, and is content with the rest."""

    tried = 0

    def verdict(self, combo: dict[str, str]) -> Verdict:
        self.tried += 1
        return Verdict.UNKNOWN if combo.get("gpu") == "X999" else Verdict.SUPPORTED

    def answer(self, combo: dict[str, str]) -> Any:
        from orchestrator.model import Answer

        none = Reason(
            kind=RuleKind.NO_DATA,
            rule="no-data",
            axes=("gpu",),
            verdict=Verdict.UNKNOWN,
            because="nobody",
            source="",
            as_of="",
        )
        known = self.verdict(combo) is Verdict.SUPPORTED
        return Answer(verdict=self.verdict(combo), reasons=() if known else (none,), supported_until=None)

    def refusal(self, combo: dict[str, str]) -> None:
        return None


def test_of_what_nobody_speaks_nothing_is_moved() -> None:
    silent = Silent()
    answers = Answers(silent)  # type: ignore[arg-type]
    move, left = mend(answers, answers.state({**START, "gpu": "X999"}), LADDERS, frozenset())
    assert move is None
    assert left is not None
    assert left.rule == "no-data"
    assert silent.tried <= 4


class Lives:
    """Drivers with an end of life: over for some, known for others, unknown for the rest."""

    OVER, KNOWN = frozenset({"535", "570"}), frozenset({"580", "620"})

    def verdict(self, combo: dict[str, str]) -> Verdict:
        return Verdict.DEGRADED if combo.get("driver") in self.OVER else Verdict.SUPPORTED

    def answer(self, combo: dict[str, str]) -> Any:
        from orchestrator.model import Answer

        driver, verdict = combo.get("driver"), self.verdict(combo)
        known = driver in self.OVER | self.KNOWN
        life = Reason(
            kind=RuleKind.LIFETIME,
            rule="branch",
            axes=("driver",),
            verdict=verdict,
            because="it ends",
            source="a test",
            as_of="",
        )
        return Answer(verdict=verdict, reasons=(life,) if known else (), supported_until=None)

    def refusal(self, combo: dict[str, str]) -> None:
        return None


@pytest.mark.parametrize(("start", "goal"), [("535", "580"), ("570", "580")])
def test_what_has_ended_goes_to_something_whose_end_is_known(start: str, goal: str) -> None:
    answers = Answers(Lives())  # type: ignore[arg-type]
    ladders = {"driver": ("535", "570", "575", "580", "615", "620")}
    move, left = mend(answers, answers.state({"driver": start}), ladders, frozenset())
    assert move is not None
    assert (dict(move.change), left) == ({"driver": goal}, None)


def test_without_such_a_thing_the_nearest_is_taken() -> None:
    answers = Answers(Lives())  # type: ignore[arg-type]
    move, _ = mend(answers, answers.state({"driver": "535"}), {"driver": ("535", "570", "575", "615")}, frozenset())
    assert move is not None
    assert dict(move.change) == {"driver": "575"}
