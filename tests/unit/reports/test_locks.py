"""Locks, as they are printed."""

from orchestrator.model import CheckedLock, LockCheck, LockedImage, Locking
from orchestrator.reports.locks import checking, locking
from orchestrator.vocabulary import LockState


def test_what_was_done_is_one_line_an_image_with_what_changed_below() -> None:
    images = (
        LockedImage(
            image="torch2-a",
            rows=("ci", "serve"),
            state=LockState.WRITTEN,
            wheels=18,
            packages=160,
            moved=tuple(f"p{number}: 1 -> 2" for number in range(10)),
            apart=("numpy 2.2.4, most have 2.4.6: openvino<=2025.4.1 depends on numpy<2.4",),
            notes=("no distribution package is locked: no mmdebstrap",),
        ),
        LockedImage(image="torch2-b", rows=(), state=LockState.FAILED, reason="wheels: no\nwheels"),
    )
    told = locking(Locking(folder="images/locks", images=images), width=120, colour=False).splitlines()
    assert told[0].split() == ["lock", "wheels", "packages", "image", "rows"]
    assert told[1].split() == ["written", "18", "160", "torch2-a", "ci,", "serve"]
    assert told[2] == "  | p0: 1 -> 2"
    assert told[10:13] == [
        "  | and 2 more",
        "  | numpy 2.2.4, most have 2.4.6: openvino<=2025.4.1 depends on numpy<2.4",
        "  | no distribution package is locked: no mmdebstrap",
    ]
    assert told[13].split() == ["failed", "-", "-", "torch2-b"]
    assert told[14].startswith("  | wheels: no")
    assert told[-1] == "locks    images/locks"


def checked(*states: LockState, notes: tuple[str, ...] = ()) -> str:
    locks = tuple(CheckedLock(image="torch2-a", rows=("ci",), state=state, because=("why",)) for state in states)
    good = set(states) <= {LockState.GOOD, LockState.NONE}
    found = LockCheck(
        folder="images/locks",
        good=good,
        asked=True,
        locks=locks,
        notes=notes,
        answered=LockState.UNANSWERED not in states,
    )
    return checking(found, width=120, colour=False)


def test_a_check_says_what_mends_it() -> None:
    assert checked(LockState.GOOD, LockState.MISSING).endswith("\n\n`torchmatrix lock` mends it")
    assert checked(LockState.STALE).endswith("\n\n`torchmatrix lock --upgrade` mends it")
    assert checked(LockState.STALE, LockState.MISSING).endswith(
        "\n\n`torchmatrix lock` mends it\n`torchmatrix lock --upgrade` mends it"
    )
    assert checked(LockState.LEFT_OVER).endswith("`torchmatrix lock --prune` removes what is left over")
    assert "`torchmatrix site` shows what was asked" in checked(LockState.UNANSWERED)
    assert "mends" not in checked(LockState.GOOD, LockState.NONE)


def test_what_could_not_be_asked_is_a_note_that_acts_on_nothing() -> None:
    told = checked(LockState.GOOD, notes=("not asked: \x1b[31m::error::x",))
    assert "\x1b" not in told
    assert "\n  | note: not asked: " in told


def test_states_have_their_colour_on_a_terminal() -> None:
    found = LockCheck(
        folder="x", good=False, asked=False, locks=(CheckedLock(image="a", rows=(), state=LockState.STALE),)
    )
    assert "\x1b[31mstale" in checking(found, width=80, colour=True)
