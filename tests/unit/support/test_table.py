"""How rows are weighed: each test says one rule of it."""

from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.vocabulary import Evidence, Verdict

YES, PART, NO, OPEN = Verdict.SUPPORTED, Verdict.DEGRADED, Verdict.UNSUPPORTED, Verdict.UNKNOWN

PARTIAL = {"2.7": "3.13", "2.8": ("3.12", "3.13")}


def verdicts(world: SimpleNamespace, rule: Any, **axes: object) -> list[Verdict]:
    return [finding.verdict for finding in world.findings(rule, **axes)]


def pins(world: SimpleNamespace, **more: Any) -> Any:
    """A table of which torchvision belongs to which torch."""
    rows = [
        world.row({"torch": "2.8"}, {"torchvision": "0.23"}),
        world.row({"torch": "2.7"}, {"torchvision": "0.22"}),
    ]
    return world.rule(*rows, mode="table", **more)


# mode all: each row is a rule of its own


def test_each_row_that_applies_speaks(world: SimpleNamespace) -> None:
    rule = world.rule(
        world.row({"torch": ">=2.0"}, {"python": ">=3.9"}),
        world.row({"torch_build": "cu*"}, {"python": "<3.14"}),
        world.row({"torch": "1"}, {"python": "<3.9"}),
    )
    assert verdicts(world, rule, torch="2.8.0", torch_build="cu128", python="3.14") == [YES, NO]


def test_a_row_with_no_need_refuses_its_when(world: SimpleNamespace) -> None:
    rule = world.rule(world.row({"torch": "2.8", "numpy": "2"}))
    assert verdicts(world, rule, torch="2.8.0", numpy="2.1") == [NO]
    assert verdicts(world, rule, torch="2.8.0", numpy="1.26") == []


@pytest.mark.parametrize("otherwise", [NO, PART, OPEN])
def test_a_row_says_what_its_failure_comes_to(world: SimpleNamespace, otherwise: Verdict) -> None:
    rule = world.rule(world.row({"torch": "2.8"}, {"python": ">=3.9"}, otherwise=otherwise))
    assert verdicts(world, rule, torch="2.8.0", python="3.8") == [otherwise]


def test_an_axis_that_may_decide_is_missing_only_where_the_row_could_refuse(world: SimpleNamespace) -> None:
    rule = world.rule(world.row({"torch": ">=2.8"}, {"python": ">=3.9"}))
    (finding,) = world.findings(rule, python="3.8")  # which torch was not said
    assert (finding.row, finding.verdict, finding.missing) == (None, OPEN, ("torch",))
    assert world.findings(rule, python="3.12") == []


def test_a_need_that_was_not_told_is_missing(world: SimpleNamespace) -> None:
    rule = world.rule(world.row({"torch": "2.8"}, {"python": ">=3.9"}))
    (finding,) = world.findings(rule, torch="2.8.0")
    assert (finding.row, finding.verdict, finding.missing) == (None, OPEN, ("python",))


def test_an_optional_axis_that_was_not_given_is_not_there(world: SimpleNamespace) -> None:
    """Nobody who names no numpy is told of numpy; a torch that was not named may still be any."""
    rule = world.rule(world.row({"numpy": "2"}, {"torch": ">=2.3"}))
    assert world.findings(rule, torch="2.1.0") == []
    assert verdicts(world, rule, torch="2.1.0", numpy="2.1") == [NO]


def test_any_of_several_needs_is_enough(world: SimpleNamespace) -> None:
    rule = world.rule(world.row({"torch": "2.8"}, need_any=({"driver": ">=570"}, {"driver_cuda": ">=12.8"})))
    nvidia = {"torch": "2.8.0", "gpu_vendor": "nvidia"}
    assert verdicts(world, rule, **nvidia, driver="580", driver_cuda="12.4") == [YES]
    assert verdicts(world, rule, **nvidia, driver="550", driver_cuda="12.4") == [NO]
    (finding,) = world.findings(rule, **nvidia, driver="550")
    assert (finding.verdict, finding.missing) == (OPEN, ("driver_cuda",))


def test_a_partial_row_allows_and_never_refuses(world: SimpleNamespace) -> None:
    rule = world.rule(world.row({"torch": "2.8"}, {"python": "3.12"}, partial=True))
    assert verdicts(world, rule, torch="2.8.0", python="3.12") == [YES]
    assert verdicts(world, rule, torch="2.8.0", python="3.13") == []
    assert verdicts(world, rule, python="3.13") == []


def test_a_row_of_a_scope_counts_when_that_is_asked(world: SimpleNamespace) -> None:
    rule = world.rule(world.row({"torch": "2.8"}, {"python": "<3.14"}, scope=("torch.compile",), otherwise=PART))
    asked = {"torch": "2.8.0", "python": "3.14"}
    assert verdicts(world, rule, **asked) == []
    assert verdicts(world, rule, **asked, scope="multi-gpu") == []
    assert verdicts(world, rule, **asked, scope="torch.compile") == [PART]
    assert verdicts(world, rule, **asked, backend="inductor") == [PART]


@pytest.mark.parametrize(
    ("driver", "expected"),
    [
        ("579.99", [NO]),
        ("580.65.05", [NO]),
        ("580.65.06", [YES]),
        ("581.0", [YES]),
        ("580", [YES]),  # a branch is the newest of its drivers
        ("579", [NO]),
        (">=570", [OPEN]),
        (">=590", [YES]),
        ("<580", [NO]),
        ("570|590", [OPEN]),
    ],
)
def test_a_floor(world: SimpleNamespace, driver: str, expected: list[Verdict]) -> None:
    rule = world.rule(world.row({"gpu_vendor": "nvidia"}, {"driver": ">=580.65.06"}))
    assert verdicts(world, rule, driver=driver, gpu_vendor="nvidia") == expected


@pytest.mark.parametrize(
    ("need", "driver", "expected"),
    [
        ("<580.65", "580.64", [YES]),
        ("<580.65", "580.65", [NO]),
        ("<580.65", "579", [YES]),
        ("<580.65", "580", [OPEN]),  # the newest of them is past the end
        ("580.65", "580", [YES]),  # the one that is meant
        (("570.10", "580.65"), "580", [YES]),
        ("!=580.65", "580", [YES]),
        ("!=580.65", "580.65", [NO]),
    ],
)
def test_a_branch_is_the_newest_of_its_drivers_or_the_one_that_is_named(
    world: SimpleNamespace, need: Any, driver: str, expected: list[Verdict]
) -> None:
    rule = world.rule(world.row({"gpu_vendor": "nvidia"}, {"driver": need}))
    assert verdicts(world, rule, driver=driver, gpu_vendor="nvidia") == expected


def test_a_range_that_leaves_a_need_open_is_told_with_its_row(world: SimpleNamespace) -> None:
    """It is no missing axis: the user said what could be said, and it is not enough to call it supported."""
    row = world.row({"torch": "2.8"}, {"python": ">=3.9", "glibc": ">=2.28"})
    for mode in ("all", "table"):
        (finding,) = world.findings(world.rule(row, mode=mode), torch="2.8.0", python="3.12", glibc=">=2.17")
        assert (finding.row, finding.verdict, finding.missing) == (row, OPEN, ())
        (finding,) = world.findings(world.rule(row, mode=mode), torch="2.8.0", glibc=">=2.17")
        assert (finding.row, finding.verdict, finding.missing) == (row, OPEN, ("python",))


@pytest.mark.parametrize(
    ("condition", "torchvision", "expected"),
    [
        ("same as torch", "2.8.1", [NO]),
        ("same as torch", "2.8.0", [YES]),
        ("same as torch", "2.8", [YES]),
        ("compatible with torch", "2.9.0", [YES]),
        ("compatible with torch", "2.7.0", [NO]),
        ("compatible with torch", "3.0.0", [NO]),
    ],
)
def test_a_need_can_compare_two_axes(
    world: SimpleNamespace, condition: str, torchvision: str, expected: list[Verdict]
) -> None:
    rule = world.rule(world.row({"torchvision": ">=0"}, {"torchvision": condition}))
    assert verdicts(world, rule, torch="2.8.0", torchvision=torchvision) == expected


def test_a_comparison_with_what_was_not_given_is_open(world: SimpleNamespace) -> None:
    rule = world.rule(world.row({"torchvision": ">=0"}, {"torchvision": "same as torch"}))
    assert verdicts(world, rule, torchvision="2.8.0") == [OPEN]


# mode table: the entry that fits best counts


def test_only_the_entry_that_fits_speaks(world: SimpleNamespace) -> None:
    assert verdicts(world, pins(world), torch="2.8.0", torchvision="0.23.0") == [YES]
    assert verdicts(world, pins(world), torch="2.8.0", torchvision="0.22.1") == [NO]
    assert verdicts(world, pins(world), torch="2.6.0", torchvision="0.21.0") == []


def test_what_names_a_patch_release_outweighs_what_names_its_minor(world: SimpleNamespace) -> None:
    rows = [
        world.row({"torch": "2.8"}, {"python": ">=3.9"}),
        world.row({"torch": "2.8.1"}, {"python": ">=3.10"}, source="secondary"),
    ]
    for order in (rows, rows[::-1]):
        rule = world.rule(*order, mode="table")
        assert verdicts(world, rule, torch="2.8.1", python="3.9") == [NO]
        assert verdicts(world, rule, torch="2.8.0", python="3.9") == [YES]


def test_what_names_more_axes_outweighs_what_names_fewer(world: SimpleNamespace) -> None:
    rows = [
        world.row({"torch": "2.8.1"}, {"python": ">=3.9"}),
        world.row({"torch": "2.8", "host_arch": "aarch64"}, {"python": ">=3.10"}, source="secondary"),
    ]
    rule = world.rule(*rows, mode="table")
    assert verdicts(world, rule, torch="2.8.1", python="3.9", host_arch="aarch64") == [NO]
    assert verdicts(world, rule, torch="2.8.1", python="3.9", host_arch="x86_64") == [YES]


@pytest.mark.parametrize(("better", "worse"), list(zip(list(Evidence), list(Evidence)[1:], strict=False)))
def test_of_two_sources_on_the_same_the_better_known_is_believed(
    world: SimpleNamespace, better: Evidence, worse: Evidence
) -> None:
    rows = [
        world.row({"torch": "2.8"}, {"python": ">=3.9"}, source=better.value),
        world.row({"torch": "2.8"}, {"python": ">=3.10"}, source=worse.value),
    ]
    for order in (rows, rows[::-1]):
        assert verdicts(world, world.rule(*order, mode="table"), torch="2.8.0", python="3.9") == [YES]


def test_a_rows_own_evidence_outweighs_its_sources(world: SimpleNamespace) -> None:
    rows = [
        world.row({"torch": "2.8"}, {"python": ">=3.9"}, source="metadata"),
        world.row({"torch": "2.8"}, {"python": ">=3.10"}, source="secondary", evidence=Evidence.MEASURED),
    ]
    assert verdicts(world, world.rule(*rows, mode="table"), torch="2.8.0", python="3.9") == [NO]


def test_a_partial_entry_that_does_not_allow_hides_no_other(world: SimpleNamespace) -> None:
    rows = [
        world.row({"torch": "2.8.0"}, {"python": "3.12"}, partial=True),
        world.row({"torch": "2.8"}, {"python": ">=3.9"}),
    ]
    rule = world.rule(*rows, mode="table")
    assert verdicts(world, rule, torch="2.8.0", python="3.13") == [YES]
    assert verdicts(world, rule, torch="2.8.0", python="3.8") == [NO]
    assert verdicts(world, world.rule(rows[0], mode="table"), torch="2.8.0", python="3.13") == []


def test_entries_of_another_scope_are_not_the_best_entry(world: SimpleNamespace) -> None:
    rows = [
        world.row({"torch": "2.8.0"}, {"triton": "3.4"}, scope=("torch.compile",)),
        world.row({"torch": "2.8.0"}, {"triton": "3.3"}, scope=("multi-gpu",)),
    ]
    rule = world.rule(*rows, mode="table")
    asked = {"torch": "2.8.0", "triton": "3.3.0"}
    assert verdicts(world, rule, **asked) == []
    assert verdicts(world, rule, **asked, scope="multi-gpu") == [YES]
    assert verdicts(world, rule, **asked, scope="torch.compile") == [NO]


# axes that are missing


def test_entries_that_all_agree_decide_without_the_missing_axis(world: SimpleNamespace) -> None:
    rule = world.rule(
        world.row({"torch": "2.8", "torch_build": "cu126"}, {"python": ">=3.9"}),
        world.row({"torch": "2.8", "torch_build": "cu128"}, {"python": ">=3.10"}),
        mode="table",
    )
    assert verdicts(world, rule, torch="2.8.0", python="3.8") == [NO]
    assert verdicts(world, rule, torch="2.8.0", python="3.10") == [YES]
    (finding,) = world.findings(rule, torch="2.8.0", python="3.9")
    assert (finding.verdict, finding.missing) == (OPEN, ("torch_build",))


def test_a_table_whose_every_key_is_missing_says_nothing(world: SimpleNamespace) -> None:
    assert world.findings(pins(world), torchvision="0.21.0") == []


def test_a_range_is_every_entry_in_it(world: SimpleNamespace) -> None:
    assert verdicts(world, pins(world), torch=">=2.7", torchvision="0.21.0") == [NO]
    assert verdicts(world, pins(world), torch=">=2.8", torchvision="0.23.0") == [YES]


def test_entries_that_disagree_are_unknown_and_name_the_missing_axis(world: SimpleNamespace) -> None:
    (finding,) = world.findings(pins(world), torch=">=2.7", torchvision="0.23.0")
    assert (finding.verdict, finding.missing) == (OPEN, ("torch",))


def test_in_a_lenient_table_one_entry_that_allows_is_enough(world: SimpleNamespace) -> None:
    rows = [
        world.row({"torch": "2.8", "channel": "pypi"}, {"torch_build": "cu128"}),
        world.row({"torch": "2.8", "channel": "pytorch-index"}, {"torch_build": ("cu128", "cu126")}),
    ]
    lenient = world.rule(*rows, mode="table", mixed="lenient")
    assert verdicts(world, lenient, torch="2.8.0", torch_build="cu126") == [YES]
    assert verdicts(world, lenient, torch="2.8.0", torch_build="cu118") == [NO]
    assert verdicts(world, world.rule(*rows, mode="table"), torch="2.8.0", torch_build="cu126") == [OPEN]


def test_a_partial_entry_allows_no_more_of_a_range_than_it_names(world: SimpleNamespace) -> None:
    rows = [world.row({"torch": torch}, {"python": python}, partial=True) for torch, python in PARTIAL.items()]
    rule = world.rule(*rows, mode="table")
    assert verdicts(world, rule, torch="2.8.0", python="3.12") == [YES]
    assert verdicts(world, rule, torch=">=2.7", python="3.13") == [YES]
    assert verdicts(world, rule, torch=">=2.7", python="3.12") == []


def test_a_closer_entry_speaks_of_its_part_of_a_range(world: SimpleNamespace) -> None:
    rows = [
        world.row({"torch": ">=2.7"}, {"python": ">=3.9"}),
        world.row({"torch": "2.8.1"}, {"python": ">=3.10"}),
    ]
    rule = world.rule(*rows, mode="table")
    assert verdicts(world, rule, torch=">=2.7,<2.9", python="3.9") == [OPEN]
    assert verdicts(world, rule, torch=">=2.7,<2.9", python="3.10") == [YES]
    assert verdicts(world, rule, torch=">=2.7,<2.8", python="3.9") == [YES]


def test_a_need_that_was_not_told_leaves_the_entry_open(world: SimpleNamespace) -> None:
    rule = world.rule(world.row({"torch": "2.8"}, {"python": ">=3.9"}), mode="table")
    (finding,) = world.findings(rule, torch="2.8.0")
    assert (finding.row, finding.verdict, finding.missing) == (None, OPEN, ("python",))


def test_a_table_of_builds_says_nothing_of_a_machine_alone(world: SimpleNamespace) -> None:
    rule = world.rule(world.row({"torch_build": "cu128", "os": "linux"}, {"python": ">=3.9"}), mode="table")
    assert world.findings(rule, os="linux", host_arch="x86_64", python="3.8") == []
    assert verdicts(world, rule, torch_build="cu128", python="3.8") == [NO]


# between two entries


def between(world: SimpleNamespace, old: str, new: str, **more: Any) -> Any:
    rows = [
        world.row({"torch": "2.6"}, {"python": old}),
        world.row({"torch": "2.8"}, {"python": new}, **more),
    ]
    return world.rule(*rows, mode="table", between="torch")


def test_between_two_entries_that_agree_their_word_counts(world: SimpleNamespace) -> None:
    (finding,) = world.findings(between(world, ">=3.9", ">=3.9"), torch="2.7.0", python="3.12")
    assert finding.verdict is YES
    assert "2.7.0" in finding.aside
    assert verdicts(world, between(world, ">=3.9", ">=3.9"), torch="2.7.0", python="3.8") == [NO]


def test_between_two_entries_that_disagree_it_is_unknown(world: SimpleNamespace) -> None:
    assert verdicts(world, between(world, ">=3.9", ">=3.10"), torch="2.7.0", python="3.9") == [OPEN]
    assert verdicts(world, between(world, ">=3.9", ">=3.10"), torch="2.7.0", python="3.10") == [YES]


@pytest.mark.parametrize("torch", ["2.5.0", "2.9.0", "3.0"])
def test_beyond_the_first_and_the_last_entry_nothing_is_said(world: SimpleNamespace, torch: str) -> None:
    assert world.findings(between(world, ">=3.9", ">=3.9"), torch=torch, python="3.8") == []


def test_an_entry_of_its_own_needs_no_neighbours(world: SimpleNamespace) -> None:
    (finding,) = world.findings(between(world, ">=3.9", ">=3.10"), torch="2.8.0", python="3.9")
    assert (finding.verdict, finding.aside) == (NO, "")


# what a rule is not asked


def test_a_list_of_released_files_says_nothing_of_a_nightly(world: SimpleNamespace) -> None:
    rule = world.rule(world.row({"torch": "2.9"}, {"python": "<3.14"}), releases_only=True)
    assert verdicts(world, rule, torch="2.9.0.dev20250801", python="3.14") == []
    assert verdicts(world, rule, torch="2.9.0", python="3.14") == [NO]


def test_a_free_threaded_python_is_not_the_plain_one(world: SimpleNamespace) -> None:
    rule = world.rule(world.row({"torch": "2.8"}, {"python": ("3.12", "3.13", "3.13t")}))
    asked = [verdicts(world, rule, torch="2.8.0", python=python)[0] for python in ("3.12", "3.12t", "3.13", "3.13t")]
    assert asked == [YES, NO, YES, YES]


def test_ends_of_life_are_no_rules_of_fit(world: SimpleNamespace) -> None:
    assert world.findings(world.rule(world.row({"torch": "2.8"}, until="2025-01-01")), torch="2.8.0") == []


# code and architectures


def test_a_finding_names_the_axes_of_its_row(world: SimpleNamespace) -> None:
    row = world.row({"torch": "2.8"}, need_any=({"python": ">=3.9"}, {"torch": "2.8", "numpy": "2"}))
    (finding,) = world.findings(world.rule(row), torch="2.8.0", python="3.12")
    assert finding.axes == ("torch", "python", "numpy")
