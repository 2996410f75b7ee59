"""From a combination to an answer: what outweighs what, and that no combination is an error."""

from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.axes import AXES
from orchestrator.model import Place, Rule
from orchestrator.support.check import Support
from orchestrator.support.facts import Facts
from orchestrator.vocabulary import RuleKind, Verdict

YES, PART, NO, OPEN = Verdict.SUPPORTED, Verdict.DEGRADED, Verdict.UNSUPPORTED, Verdict.UNKNOWN


@pytest.fixture
def support(world: SimpleNamespace) -> Support:
    builds = world.rule(
        world.row({"torch": "2.8"}, {"torch_build": ("cu128", "cu130")}, because="there is no {torch_build}"),
        name="builds",
        rank=20,
        yes="torch {torch} is published as {torch_build}",
    )
    pythons = world.rule(
        world.row({"torch": "2.8"}, {"python": ">=3.9"}),
        world.row({"torch": "2.8", "python": "3.14"}, otherwise=PART),
        name="pythons",
        rank=10,
        rank_yes=60,
        no="torch {torch} needs {allowed}, not {python}",
    )
    return Support(world.facts(builds, pythons))


BUILD = {"torch": "2.8.0", "torch_build": "cu128", "python": "3.12"}


def test_an_answer_tells_each_reason_with_its_source(support: Support) -> None:
    answer = support.answer(BUILD)
    assert (answer.verdict, answer.missing, answer.ignored, answer.supported_until) == (YES, (), (), None)
    first, second = answer.reasons
    assert (first.rule, first.because) == ("builds", "torch 2.8.0 is published as cu128")
    assert (first.axes, first.source, first.as_of) == (("torch", "torch_build"), "a vendor's page", "2026-08-21")
    assert second.rule == "pythons"


def test_the_reason_that_decides_comes_first(support: Support) -> None:
    answer = support.answer({**BUILD, "python": "3.8", "torch_build": "cu118"})
    assert answer.verdict is NO
    assert [(reason.rule, reason.because) for reason in answer.reasons] == [
        ("pythons", "torch 2.8.0 needs >=3.9, not 3.8"),
        ("builds", "there is no cu118"),
    ]


def test_a_restriction_is_told_before_what_holds(support: Support) -> None:
    answer = support.answer({**BUILD, "python": "3.14"})
    assert answer.verdict is PART
    assert [reason.verdict for reason in answer.reasons] == [PART, YES, YES]


def test_that_what_follows_from_torch_fits_torch_is_told_to_nobody(world: SimpleNamespace) -> None:
    """Who names no triton hears of triton where torch's own would not fit, or where the compiler is asked about."""
    rows = (
        world.row({"torch": "2.8", "triton": ">=3"}, {"triton": "3.4"}),
        world.row({"torch": "2.9", "triton": ">=3"}, {"triton": "3.5"}),
    )
    scoped = world.row({"torch": "2.8", "triton": ">=3"}, {"triton": "3.4"}, scope=("torch.compile",))
    ships = (world.derivation({"torch": ">=2.8"}, {"triton": "3.4"}),)
    published = world.rule(world.row({"torch": ">=2"}, {"torch_build": "cpu"}), name="published")
    rules = (published, world.rule(*rows, name="pins"), world.rule(scoped, name="compiler"))
    support = Support(world.facts(*rules, derivations=ships))

    def told(**asked: str) -> list[str]:
        return [reason.rule for reason in support.answer({"torch_build": "cpu", **asked}).reasons]

    assert told(torch="2.8.0") == ["published"]
    assert told(torch="2.8.0", triton="3.4.0") == ["published", "pins"]
    assert told(torch="2.8.0", backend="inductor") == ["published", "compiler"]
    assert told(torch="2.9.0") == ["pins", "published"]


def test_what_is_missing_is_named_and_for_a_refusal_does_not_matter(support: Support) -> None:
    assert support.answer({"torch": "2.8.0", "torch_build": "cu128"}).missing == ("python",)
    assert support.answer({"torch": "2.8.0", "torch_build": "cu118"}).missing == ()


def test_what_is_ignored_is_named(support: Support) -> None:
    assert support.answer({**BUILD, "colour": "red"}).ignored == ("colour",)


def test_the_verdict_alone_is_that_of_the_answer(support: Support) -> None:
    for asked in (BUILD, {**BUILD, "python": "3.8"}, {**BUILD, "python": "3.14"}, {"torch": "2.9.0"}):
        assert support.verdict(asked) is support.answer(asked).verdict


def test_a_rule_of_a_site_refuses_first(world: SimpleNamespace) -> None:
    place = Place(file="matrix.yaml", line=7, column=3)
    own = Rule(forbid={"python": "3.12*", "gpus": ">=4"}, because="we do not", source="", place=place)
    sourced = Rule(forbid={"python": "3.13*"}, because="nor this", source="INFRA-1", place=place)
    fits = world.rule(world.row({"torch": "2.8"}, {"python": ">=3.9"}))
    support = Support(world.facts(fits), rules=(own, sourced))
    answer = support.answer({"torch": "2.8.0", "python": "3.12.1", "gpus": "8"})
    assert answer.verdict is NO
    first = answer.reasons[0]
    assert (first.kind, first.because, first.source) == (RuleKind.SITE_RULE, "we do not", "matrix.yaml:7")
    assert first.axes == ("python", "gpus")
    assert support.answer({"torch": "2.8.0", "python": "3.12.1", "gpus": "2"}).verdict is YES
    assert support.answer({"torch": "2.8.0", "python": "3.13"}).reasons[0].source == "INFRA-1, matrix.yaml:7"


def test_a_refusal_of_a_part_leaves_defaults_open(world: SimpleNamespace) -> None:
    place = Place(file="matrix.yaml", line=7, column=3)
    own = Rule(forbid={"torch": "2.8*", "base": "debian12"}, because="we do not", source="", place=place)
    support = Support(world.facts(), rules=(own,))
    assert support.answer({"torch": "2.8.0"}).verdict is NO
    assert support.refusal({"torch": "2.8.0"}) is None
    assert support.refusal({"torch": "2.8.0", "base": "debian12"}) is not None


def test_a_refusal_is_the_first_reason_or_none_and_is_remembered(support: Support) -> None:
    axes = {"torch": "2.8.0", "torch_build": "cu118"}
    reason = support.refusal(axes)
    assert reason is not None
    assert reason.because == "there is no cu118"
    assert support.refusal(dict(reversed(axes.items()))) is reason
    assert support.refusal({"torch": "2.8.0"}) is None
    assert support.refusal({"torch": "9.9"}) is None  # unknown is no refusal


# with the facts as they are

TEXTS = st.text(max_size=40) | st.sampled_from(
    [
        *("2.8.0", "2.8", ">=2.6", "2.9.0.dev20250801+cu130", "12.4", "13.x", "cu128", "rocm6.4", "xpu", "cpu", "580"),
        *("535.104.05", ">=570", "H100", "8x A100 MIG 1g.10gb", "RX 7900 XTX", "Arc B580", "sm_90", "gfx942", "linux"),
        *(
            "ubuntu-22.04",
            "Alpine 3.20",
            "musl",
            "yes",
            "no",
            "none",
            "any",
            "active",
            "torch.compile",
            "3.13t",
            "1.26",
        ),
        *("aarch64", "windows", "geforce", "datacenter", "pypi", "conda", "nvidia-nccl-cu12==2.27.3", "true", "9.1"),
    ]
)
COMBINATIONS = st.dictionaries(st.sampled_from(list(AXES)), TEXTS, max_size=9)
MANY = settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow], deadline=None)


@pytest.fixture(scope="module")
def real_support(real: Facts) -> Support:
    return Support(real)


@MANY
@given(COMBINATIONS)
def test_no_combination_is_an_error(real_support: Support, combination: dict[str, Any]) -> None:
    answer = real_support.answer(combination)
    assert answer.reasons
    assert answer.reasons[0].verdict is answer.verdict
    assert all(reason.because for reason in answer.reasons)
    assert all(reason.source for reason in answer.reasons if reason.kind is not RuleKind.NO_DATA)


@settings(MANY, max_examples=25)
@given(COMBINATIONS)
def test_no_combination_near_one_is_an_error(real_support: Support, combination: dict[str, Any]) -> None:
    for each in real_support.answer(combination, nearest=True).nearest:
        assert real_support.verdict({**combination, **each.change}) is each.verdict


@MANY
@given(COMBINATIONS)
def test_the_order_of_what_is_said_does_not_matter(real_support: Support, combination: dict[str, Any]) -> None:
    backwards = dict(reversed(combination.items()))
    assert real_support.verdict(backwards) is real_support.verdict(combination)


CELL = {
    "torch": st.sampled_from(["2.4.1", "2.6.0", "2.7.1", "2.8.0", "2.9.1"]),
    "torch_build": st.sampled_from(["cu118", "cu124", "cu126", "cu128", "cu130", "rocm6.4", "xpu"]),
    "python": st.sampled_from(["3.9", "3.12", "3.13", "3.13t", "3.14"]),
    "gpu": st.sampled_from(["H100", "A100", "V100", "RTX 5090", "MI300X", "B580"]),
    "driver": st.sampled_from(["470.256.02", "535.104.05", "560.35.05", "580.65.06"]),
    "base": st.sampled_from(["debian12", "ubuntu20.04"]),
    "host_arch": st.sampled_from(["x86_64", "aarch64"]),
}


@MANY
@given(st.fixed_dictionaries(CELL), st.sets(st.sampled_from(list(CELL))))
def test_what_a_part_is_refused_for_the_whole_is_refused_for(
    real_support: Support, cell: dict[str, str], left_out: set[str]
) -> None:
    """A planner leaves off where a part is refused: nothing that is allowed may be lost so."""
    part = {axis: value for axis, value in cell.items() if axis not in left_out}
    undecided = frozenset({*left_out, "cuda_compat"})
    if real_support.refusal(part, undecided) is not None:
        # of an entry that is in no list the answer is unknown, and of all entries that are it was no
        assert real_support.verdict(cell) in {NO, OPEN}


PACKAGES = ["torch", "numpy", "torchvision", "torchaudio", "torch_tensorrt", "triton", "openvino", "ipex", "nccl"]


@MANY
@given(st.fixed_dictionaries({}, optional=CELL), st.sampled_from(PACKAGES), st.sampled_from(["0.0.1", "9999.9"]))
def test_a_release_that_nobody_ever_saw_is_never_supported(
    real_support: Support, cell: dict[str, str], package: str, release: str
) -> None:
    assert real_support.verdict({**cell, package: release}) is not YES


@MANY
@given(st.fixed_dictionaries(CELL), st.sampled_from(["gpu", "torch", "python", "distro", "os", "host_arch"]))
def test_what_cannot_be_read_is_never_called_supported(real_support: Support, cell: dict[str, str], axis: str) -> None:
    answer = real_support.answer({**cell, axis: "~~ nobody can read this ~~"})
    assert answer.verdict is not YES
    assert axis in answer.ignored


def test_a_key_that_looks_like_a_slip_of_the_pen_is_not_passed_over(real_support: Support) -> None:
    asked = {"torch": "2.13.0", "torch_build": "cu130", "gpu": "H100"}
    assert real_support.verdict(asked | {"drvier": "535"}) is Verdict.UNKNOWN
    answer = real_support.answer(asked | {"fabric_manager": "575"})
    assert (answer.verdict, answer.ignored) == (YES, ("fabric_manager",))


def test_an_axis_is_read_by_the_name_that_people_give_it(real_support: Support) -> None:
    asked = {"torch": "2.6.0", "driver": "550", "gpu": "H100"}
    assert real_support.verdict(asked | {"cuda": "13.0"}) is Verdict.UNSUPPORTED
    assert real_support.answer({"pytorch": "2.6.0", "python": "3.11"}).ignored == ()


def test_a_package_newer_than_the_driver_comes_first_whatever_the_driver_could_do(real_support: Support) -> None:
    asked = {"torch": "2.7.1", "torch_build": "cu118", "driver": "535"}
    assert real_support.verdict(asked | {"gpu": "RTX 4090"}) is YES
    assert real_support.verdict(asked | {"gpu": "RTX 4090", "cuda_compat": "13.0"}) is Verdict.UNSUPPORTED
    assert real_support.verdict(asked | {"gpu": "A100", "cuda_compat": "13.0"}) is YES


WHOLE = {"torch": "2.13.0", "torch_build": "cu130", "python": "3.12", "driver": "580.65.06", "gpu": "H100"}


@pytest.mark.parametrize(
    "change",
    [
        {"torch": "2.13.0,2.6.0"},
        {"torch": "2.13.0 and 2.6.0"},
        {"torch": ["2.13.0", "1.0"]},
        {"torch": "2.13.0+cpu"},
        {"torch_build": "cu130,cpu"},
        {"torch_build": ["cu130", "cu118"]},
        {"host_arch": "x86_64,armv7l"},
        {"gpu": "H100 + V100"},
        {"gpu": "H100/K80"},
        {"gpu": "not H100"},
        {"python": "not 3.12"},
        {"driver": "535 -> 580"},
        {"driver": "none"},
        {"driver": "580", "driver_cuda": "12.2"},
        {"gpu_class": "geforce"},
        {"distro": "centos-7", "glibc": "2.28"},
        {"kernel_modules": "non-open"},
        {"gpus": "0"},
        {"torch_from": "somewhere"},
        {"gppu": "V100"},
    ],
    ids=str,
)
def test_what_says_two_things_or_the_contrary_is_never_supported(real_support: Support, change: dict[str, Any]) -> None:
    assert real_support.verdict(WHOLE) is YES
    assert real_support.verdict({**WHOLE, **change}) in {OPEN, NO}


@pytest.mark.parametrize("alone", ["python", "distro", "glibc", "host_arch", "channel"])
def test_surroundings_alone_are_no_question(real_support: Support, alone: str) -> None:
    asked = {"python": "3.12", "distro": "debian-12", "glibc": "2.36", "host_arch": "x86_64", "channel": "pypi"}
    assert real_support.verdict({alone: asked[alone]}) is OPEN


def test_a_later_day_turns_no_doubt_into_a_restriction(real: Facts) -> None:
    asked = {"torch": "2.15.0", "torch_build": "cu130", "python": "3.12", "gpu": "H100", "driver": "580"}
    days = (date(2026, 1, 1), date(2040, 1, 1))
    assert [Support(real, on=day).verdict(asked) for day in days] == [OPEN, OPEN]
