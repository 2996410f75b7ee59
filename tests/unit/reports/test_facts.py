"""The facts as they are printed."""

from collections.abc import Callable

from orchestrator.model import Difference
from orchestrator.reports.facts import Fact, RuleAge, compared, facts, rules

Golden = Callable[[str, str], None]
HOSTILE = "\x1b]0;title\x07\u202e\n::error::x"

AGES = [
    RuleAge(rule="driver-arch", kind="lifetime", rows=14, oldest="2026-08-31", age=90, old=True),
    RuleAge(rule="arch-binary", kind="binary-compatibility", rows=1, oldest="2026-11-28", age=1, old=False),
    RuleAge(rule="platform", kind="mapping", rows=3, oldest="", age=None, old=False),
]
FACTS = [
    Fact(
        rule="glibc",
        when="torch=2.6 host_arch=x86_64",
        says="glibc=>=2.17",
        source="the wheel",
        evidence="measured",
        as_of="2026-11-29",
    ),
    Fact(rule="end-of-life", when="", says="ends 2030-10-31", source="a list", evidence="secondary", as_of=""),
]
COMPARED = [
    Difference(axis="gpu_arch", rule="arch-binary", state="same", learned="sm_75", believed="sm_75", source="a"),
    Difference(axis="triton", rule="companion-pin", state="new", learned="4.2", believed="", source=""),
    Difference(axis="glibc", rule="glibc", state="differs", learned=">=2.28", believed=">=2.17", source="a document"),
]


def test_the_pages_read_as_they_always_have(golden: Golden) -> None:
    pages = [
        rules(AGES, width=100, colour=False),
        facts(FACTS, width=100),
        compared("torch.whl", COMPARED, width=100, colour=False),
        compared("torch.whl", COMPARED, width=60, colour=False),
    ]
    golden("facts.txt", "\n\n".join(pages) + "\n")


def test_nothing_is_a_line() -> None:
    assert rules([], width=80, colour=False) == "0 rows in 0 rules"
    assert facts([], width=80) == "0 rows"
    assert compared("x.whl", [], width=80, colour=False) == "learned of x.whl: nothing was learned"


def test_what_is_old_and_what_differs_is_coloured_and_said() -> None:
    assert "\x1b[33m90 days, old" in rules(AGES, width=100, colour=True)
    page = compared("x", COMPARED, width=100, colour=True)
    assert "\x1b[1;33mdiffers" in page
    assert page.startswith("learned of x: 1 same, 1 new, 1 differs\n")


def test_nothing_from_outside_acts_on_a_terminal_or_stands_first() -> None:
    fact = Fact(rule=HOSTILE, when=HOSTILE, says=HOSTILE, source=HOSTILE, evidence="issue", as_of=HOSTILE)
    one = Difference(axis=HOSTILE, rule=HOSTILE, state="differs", learned=HOSTILE, believed=HOSTILE, source=HOSTILE)
    age = RuleAge(rule=HOSTILE, kind="pin", rows=1, oldest=HOSTILE, age=1, old=False)
    for page in (
        facts([fact], width=80),
        compared(HOSTILE, [one], width=80, colour=False),
        rules([age], width=80, colour=False),
    ):
        lines = page.split("\n")
        assert all(line.isprintable() for line in lines)
        assert not [line for line in lines[3:] if line.lstrip().startswith("::")]
