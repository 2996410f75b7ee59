"""Real upgrades on small matrices, against the real facts.

Each expected answer was worked out from the vendors' own words first; the source stands beside it. `driver: "580"` is
any 580.x. Every row stands on Ubuntu 24.04, which is maintained, so that only what the story is about can end.
"""

import datetime as dt
from collections.abc import Callable, Mapping

import pytest

from orchestrator import axes
from orchestrator.model import Axes, Matrix, Plan, RowImpact, Upgrade
from orchestrator.planning.asking import Asking
from orchestrator.planning.expand import Expansion
from orchestrator.studies.answers import Answers
from orchestrator.studies.horizon import day_after
from orchestrator.studies.impact import Production, of_change, of_time
from orchestrator.studies.trial import trial
from orchestrator.studies.upgrade import upgrade
from orchestrator.support.check import Support
from orchestrator.support.facts import Facts, load_facts
from orchestrator.vocabulary import WORKS, RuleKind, Verdict

TODAY = dt.date(2026, 11, 29)
Read = Callable[[str], Matrix]
HEAD = """\
version: 1
axes:
  torch: ["2.4.1", "2.5.1", "2.6.0", "2.8.0", "2.10.0", "2.13.0", "2.14.1", "2.15.0"]
  torch_build: [cpu, cu121, cu124, cu126, cu128, cu130, cu132, "rocm6.2", "rocm7.1"]
  python: ["3.9", "3.11", "3.12", "3.13"]
  base: ["ubuntu22.04", "ubuntu24.04"]
  backend: [eager, inductor]
  driver:
    - {when: {torch_build: "cu*"}, values: ["535", "570", "580", "595"]}
    - {when: {torch_build: "rocm*"}, values: ["30.20"]}
  gpu:
    - {when: {torch_build: "cu*"}, values: [A100, H100, V100, B200]}
    - {when: {torch_build: "rocm*"}, values: [MI300X]}
  partition: {when: {torch_build: "cu*"}, values: [whole, 1g.10gb]}
production:
"""


@pytest.fixture(scope="module")
def facts() -> Facts:
    return load_facts()


@pytest.fixture
def story(written: Callable[[str], Matrix], facts: Facts) -> "Callable[[str], Story]":
    def read(rows: str) -> Story:
        based = (row if "base:" in row else f"{row}, base: ubuntu24.04" for row in rows.split("\n") if row)
        return Story(written(HEAD + "".join(f"  - {{{row}}}\n" for row in based)), facts)

    return read


class Story:
    """A matrix of some rows, and what can be asked of it."""

    def __init__(self, matrix: Matrix, facts: Facts) -> None:
        self.matrix = matrix
        self.production = Production(matrix=matrix, facts=facts, seen=lambda _: ())
        self._facts = facts

    def answers(self, on: dt.date = TODAY) -> Answers:
        return Answers(Support(self._facts, on=on, rules=self.matrix.rules))

    def change(self, **change: str) -> Mapping[str, RowImpact]:
        return {each.name: each for each in of_change(self.production, change, self.answers())}

    def ahead(self, span: str) -> tuple[RowImpact, ...]:
        later = day_after(TODAY, span)
        return of_time(self.production, self.answers(), self.answers(later), later)

    def plan(self, impacts: Mapping[str, RowImpact]) -> Plan:
        """The plan of an impact, after what must hold of every such plan was seen to hold."""
        support = Support(self._facts, on=TODAY, rules=self.matrix.rules)
        plan = trial(
            tuple(impacts.values()),
            Expansion(matrix=self.matrix, host=None, asking=Asking(support, self.matrix.rules)),
        )
        assert len(plan.cells) + len(plan.left_out) == len(self.matrix.production)
        for cell in plan.cells:
            assert self.answers().verdict(cell.axes) in WORKS
            assert cell.id == axes.cell_id(cell.axes)
        return plan

    def upgrade(self, row: str, allow_degraded: bool = False, **change: str) -> Upgrade:
        start = next(axes.complete(each.axes) for each in self.matrix.production if each.name == row)
        return upgraded(self.answers, self._facts, start, change, allow_degraded=allow_degraded)


def upgraded(
    answers: Callable[[], Answers], facts: Facts, start: Axes, change: Axes, *, allow_degraded: bool = False
) -> Upgrade:
    """An upgrade, after what must hold of every one was seen to hold: it is checked step by step with fresh eyes."""

    def ask() -> Upgrade:
        return upgrade(answers(), facts.values, start, change, on=TODAY.isoformat(), allow_degraded=allow_degraded)

    found = ask()
    assert ask() == found
    state = dict(start)
    for step in found.steps:
        state |= step.change
        assert dict(step.state.axes) == {name: value for name, value in state.items() if value}
        assert answers().verdict(state) in (WORKS if allow_degraded else {Verdict.SUPPORTED})
        assert len(step.change) == 1 or (step.where == "image" and step.coupled)
    assert not found.found or state == {**start, **change}
    return found


def steps(found: Upgrade) -> list[dict[str, str]]:
    return [dict(step.change) for step in found.steps]


def test_driver_535_to_580_under_mixed_torch_versions(story: Callable[[str], Story]) -> None:
    """The newer driver runs what the older one ran, and more.

    CUDA Compatibility: a newer driver runs applications of older toolkits of any major version; 12.x runs from
    525.60.13 on, 13.x from 580.65.06 on. Data Center Drivers, lifecycle table: R535 ended 2026-06, R580 (LTS) ends
    2028-06. So each row works outside vendor support today, but for the CUDA 13 build, which cannot run at all without
    a compatibility package; with 580 all are supported, and nothing else has to move.
    """
    told = story("""
name: old, torch: 2.6.0, torch_build: cu124, python: "3.12", driver: "535", gpu: A100
name: new, torch: 2.13.0, torch_build: cu126, python: "3.12", driver: "535", gpu: H100
name: early, torch: 2.13.0, torch_build: cu130, python: "3.12", driver: "535", gpu: H100
name: done, torch: 2.13.0, torch_build: cu130, python: "3.12", driver: "580", gpu: H100
name: amd, torch: 2.13.0, torch_build: rocm7.1, python: "3.12", driver: "30.20", gpu: MI300X
name: ci, torch: 2.13.0, torch_build: cpu, python: "3.12"
""")
    impacts = told.change(driver="580")
    assert {name: impacts[name].before.verdict for name in ("old", "new", "early")} == {
        "old": Verdict.DEGRADED,
        "new": Verdict.DEGRADED,
        "early": Verdict.UNSUPPORTED,
    }
    for name in ("old", "new", "early"):
        assert (impacts[name].after.verdict, impacts[name].moves, impacts[name].blocked) == (
            Verdict.SUPPORTED,
            None,
            None,
        )
    assert {name for name, impact in impacts.items() if impact.unchanged} == {"done", "amd", "ci"}
    plan = told.plan(impacts)
    assert [cell.name for cell in plan.cells] == ["old", "new", "early"]
    assert {cell.axes["driver"] for cell in plan.cells} == {"580"}


def test_leaving_cuda_12_6_for_13_0_with_a_volta_card_in_the_pool(story: Callable[[str], Story]) -> None:
    """The Volta card stays behind, the old driver must move along.

    CUDA Toolkit Release Notes: CUDA 13 cannot target compute capability under 7.5. RELEASE.md, CUDA support matrix: the
    cu130 builds start at 7.5, cu126 keeps 7.0 through 2.14. No torch, Python or driver changes that. CUDA
    Compatibility: 13.x needs 580.65.06, so the branch after 535 that serves is 580 (R570 and R575 are below, and past
    their end of life).
    """
    told = story("""
name: volta, torch: 2.13.0, torch_build: cu126, python: "3.12", driver: "580", gpu: V100
name: hopper, torch: 2.13.0, torch_build: cu126, python: "3.12", driver: "580", gpu: H100
name: behind, torch: 2.13.0, torch_build: cu126, python: "3.12", driver: "535", gpu: A100
""")
    impacts = told.change(torch_build="cu130")
    volta = impacts["volta"]
    assert (volta.before.verdict, volta.after.verdict) == (Verdict.SUPPORTED, Verdict.UNSUPPORTED)
    assert volta.moves is None
    assert volta.blocked is not None
    assert volta.blocked.kind in {
        RuleKind.BINARY_COMPATIBILITY,
        RuleKind.LIFETIME,
        RuleKind.LIBRARY_ARCHITECTURE,
    }
    assert "gpu" in volta.blocked.axes
    assert impacts["hopper"].after.verdict is Verdict.SUPPORTED
    behind = impacts["behind"]
    assert behind.after.verdict is Verdict.UNSUPPORTED
    assert behind.moves is not None
    assert dict(behind.moves.change) == {"driver": "580"}
    plan = told.plan(impacts)
    assert [cell.name for cell in plan.cells] == ["hopper", "behind"]
    assert [entry.name for entry in plan.left_out] == ["volta"]


def test_the_volta_card_gets_no_further_than_the_last_cuda_12_build(story: Callable[[str], Story]) -> None:
    """pytorch/pytorch#190385: cu126 ends with 2.14, and with it 7.0 code: 2.15 has no build for Volta."""
    told = story("""
name: volta, torch: 2.13.0, torch_build: cu126, python: "3.12", driver: "580", gpu: V100
""")
    found = told.upgrade("volta", torch="2.15.0")
    assert not found.found
    assert found.blocked is not None
    assert found.nearest is not None
    assert dict(found.nearest.change) == {"torch": "2.14.1"}
    assert [dict(step.change) for step in found.nearest.steps] == [{"torch": "2.14.1"}]


def test_torch_2_6_to_2_15(story: Callable[[str], Story]) -> None:
    """Five single steps, the driver first.

    2.15.0 is on PyPI as cu132 (METADATA). generate_binary_build_matrix.py: cu124 ends with 2.6.0, which has cu126 too;
    cu126 goes on through 2.14, cu132 begins with 2.12. So the build changes once on 2.6.0, torch goes to a release that
    has both, the build changes again, torch goes on. 13.2 needs 580.65.06, and 580 runs CUDA 12.4 too: the host goes
    first, and leaves a branch that has ended. 2.15 needs Python 3.11: it is there.
    """
    told = story("""
name: train, torch: 2.6.0, torch_build: cu124, python: "3.12", driver: "535", gpu: H100
""")
    found = told.upgrade("train", torch="2.15.0", torch_build="cu132", driver="580")
    assert steps(found) == [
        {"driver": "580"},
        {"torch_build": "cu126"},
        {"torch": "2.14.1"},
        {"torch_build": "cu132"},
        {"torch": "2.15.0"},
    ]
    assert [step.where for step in found.steps] == ["host", "image", "image", "image", "image"]


def test_torch_and_torchvision_change_together(story: Callable[[str], Story], facts: Facts) -> None:
    """torchvision METADATA: each release up to 0.29.0 pins the torch that it was built for: 0.27 2.12, 0.28 2.13."""
    start = {"torch": "2.12.0", "torch_build": "cu130", "python": "3.12", "base": "ubuntu24.04", "driver": "580"}
    start |= {"gpu": "H100", "torchvision": "0.27.0"}
    change = {"torch": "2.13.0", "torchvision": "0.28.0"}
    found = upgraded(lambda: Answers(Support(facts, on=TODAY)), facts, start, change)
    assert steps(found) == [change]
    assert {reason.kind for reason in found.steps[0].coupled} == {RuleKind.PIN}


ROCM_OF_DRIVER = {"6.2": ("6.0", "7.0"), "6.3": ("6.1", "7.0"), "6.4": ("6.1", "7.0"), "30.10": ("6.2", "7.1")}
ROCM_OF_DRIVER |= {"30.20": ("6.4", "7.2"), "30.30": ("6.3", "7.2")}


def test_rocm_6_2_to_7_1(facts: Facts) -> None:
    """Torch and its build change together, and the driver in between.

    generate_binary_build_matrix.py: no torch release has both a rocm6.x and a rocm7.x build (2.9: 6.3, 6.4; 2.10: 7.0,
    7.1), so the two axes change in one step. User and kernel-space compatibility: driver 6.2 serves ROCm 6.0 to 7.0
    (not 7.1), 30.30 serves 6.3 to 7.2 (not 6.2): neither can the driver go first nor torch go all the way.
    """
    start = {"torch": "2.5.1", "torch_build": "rocm6.2", "python": "3.12", "base": "ubuntu22.04", "driver": "6.2"}
    start |= {"gpu": "MI300X"}
    change = {"torch": "2.10.0", "torch_build": "rocm7.1", "driver": "30.30"}
    found = upgraded(lambda: Answers(Support(facts, on=TODAY)), facts, start, change)
    assert found.found
    coupled = [step for step in found.steps if len(step.change) > 1]
    assert [set(step.change) for step in coupled] == [{"torch", "torch_build"}]
    assert {reason.kind for reason in coupled[0].coupled} == {RuleKind.MAPPING}
    assert len(found.steps) == 3
    for step in found.steps:
        driver = ".".join(step.state.axes["driver"].split(".")[:2])
        low, high = (number(text) for text in ROCM_OF_DRIVER[driver])
        assert low <= number(step.state.axes["torch_build"]) <= high


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.removeprefix("rocm").split("."))[:2]


def test_python_3_9_to_3_13(story: Callable[[str], Story]) -> None:
    """Where a torch has no wheel for 3.13, it moves to the first that has one and compiles there.

    PyPI file lists and the build matrix: 2.6.0 and 2.8.0 have cp313, 2.4.1 has none, 2.5.1 only in its PyPI build.
    torch/_dynamo/eval_frame.py: torch.compile takes 3.13 from 2.6 on. 2.6.0 has no cu121 build any more: its nearest is
    cu124. Python 3.9 ended on 2025-10-31.
    """
    told = story("""
name: late, torch: 2.8.0, torch_build: cu128, python: "3.9", driver: "580", gpu: H100
name: middle, torch: 2.6.0, torch_build: cu124, python: "3.9", driver: "580", gpu: A100, backend: inductor
name: early, torch: 2.4.1, torch_build: cu121, python: "3.9", driver: "580", gpu: H100, backend: inductor
""")
    impacts = told.change(python="3.13")
    assert {impact.before.verdict for impact in impacts.values()} == {Verdict.DEGRADED}
    assert impacts["late"].after.verdict is Verdict.SUPPORTED
    assert impacts["middle"].after.verdict is Verdict.SUPPORTED
    early = impacts["early"]
    assert early.after.verdict is Verdict.UNSUPPORTED
    assert early.moves is not None
    assert dict(early.moves.change) == {"torch": "2.6.0", "torch_build": "cu124"}
    assert [cell.axes["python"] for cell in told.plan(impacts).cells] == ["3.13"] * 3


def test_python_moves_before_torch_leaves_the_last_release_that_has_it(story: Callable[[str], Story]) -> None:
    """PyPI file lists: 2.8.0 is the last with cp39 and has cp313 too; 2.15.0 begins with cp311, as cu132 alone."""
    told = story("""
name: late, torch: 2.8.0, torch_build: cu126, python: "3.9", driver: "580", gpu: H100
""")
    found = told.upgrade("late", torch="2.15.0", torch_build="cu132", python="3.13")
    assert steps(found) == [{"python": "3.13"}, {"torch": "2.14.1"}, {"torch_build": "cu132"}, {"torch": "2.15.0"}]
    stuck = told.upgrade("late", torch="2.15.0", torch_build="cu132")
    assert not stuck.found
    assert stuck.blocked is not None
    assert "python" in stuck.blocked.axes
    assert stuck.nearest is not None
    assert dict(stuck.nearest.change) == {"python": "3.11"}


def test_adding_a_blackwell_card(story: Callable[[str], Story]) -> None:
    """sm_100 needs a CUDA 12.8 build or later, and a driver from 570.26 on that is not past its end.

    RELEASE.md: sm_100 is in cu128 builds and later, never in cu126. Architecture matrix: Blackwell from 570.26 on.
    Lifecycle tables: R570 ended 2026-02 and R575 2025-08, so 580 is the nearest branch that is supported. Of the builds
    of 2.13.0 (cu126, cu129, cu130, cu132) cu129 and cu130 are the nearest that hold sm_100.
    """
    told = story("""
name: ready, torch: 2.13.0, torch_build: cu130, python: "3.12", driver: "580", gpu: H100
name: build, torch: 2.13.0, torch_build: cu126, python: "3.12", driver: "580", gpu: H100
name: both, torch: 2.13.0, torch_build: cu126, python: "3.12", driver: "535", gpu: A100
name: amd, torch: 2.13.0, torch_build: rocm7.1, python: "3.12", driver: "30.20", gpu: MI300X
name: ci, torch: 2.13.0, torch_build: cpu, python: "3.12"
""")
    impacts = told.change(gpu="B200")
    assert impacts["ready"].after.verdict is Verdict.SUPPORTED
    for name in ("build", "both"):
        assert impacts[name].after.verdict is Verdict.UNSUPPORTED
    build, both = impacts["build"].moves, impacts["both"].moves
    assert build is not None
    assert both is not None
    assert set(build.change) == {"torch_build"}
    assert build.change["torch_build"] in {"cu129", "cu130"}
    assert set(both.change) == {"torch_build", "driver"}
    assert both.change["torch_build"] in {"cu129", "cu130"}
    assert both.change["driver"] == "580"
    assert impacts["amd"].unchanged
    assert impacts["ci"].unchanged


def test_a_mig_slice(story: Callable[[str], Story]) -> None:
    """MIG User Guide: MIG needs compute capability 8.0, A100 and H100 have 1g.10gb, a B200 slice is 1g.23gb.

    A slice of A100 or H100 is served from R525 on, B200 from 570.133.20. Volta (7.0) has no MIG, whatever else moves.
    """
    told = story("""
name: hopper, torch: 2.13.0, torch_build: cu130, python: "3.12", driver: "580", gpu: H100
name: ampere, torch: 2.13.0, torch_build: cu126, python: "3.12", driver: "580", gpu: A100
name: volta, torch: 2.13.0, torch_build: cu126, python: "3.12", driver: "580", gpu: V100
name: blackwell, torch: 2.13.0, torch_build: cu130, python: "3.12", driver: "580", gpu: B200
name: amd, torch: 2.13.0, torch_build: rocm7.1, python: "3.12", driver: "30.20", gpu: MI300X
""")
    impacts = told.change(partition="1g.10gb")
    assert impacts["hopper"].after.verdict is Verdict.SUPPORTED
    assert impacts["ampere"].after.verdict is Verdict.SUPPORTED
    for name in ("volta", "blackwell"):
        assert impacts[name].after.verdict is Verdict.UNSUPPORTED
        assert impacts[name].moves is None
        assert impacts[name].blocked is not None
    assert impacts["amd"].unchanged
    plan = told.plan(impacts)
    assert [(cell.name, cell.axes["partition"]) for cell in plan.cells] == [
        ("hopper", "1g.10gb"),
        ("ampere", "1g.10gb"),
    ]


def test_the_year_ahead_of_ends_of_life(story: Callable[[str], Story]) -> None:
    """Between 2026-11-29 and 2027-11-29, in this order: R595, Ubuntu 22.04, Python 3.11.

    Lifecycle table: R595 ends 2027-03, R580 (LTS) 2028-06, R620 (LTS) 2029-09; for R590 and R615 no date is known, and
    for R610 two, both past by then. endoflife.date: Ubuntu 22.04 2027-04-01, 24.04 2029; Python 3.11 2027-10-31, 3.12
    2028-10-31. So 595 goes to a branch with long-term support, the others to what comes next.
    """
    told = story("""
name: fine, torch: 2.13.0, torch_build: cu130, python: "3.12", driver: "580", gpu: H100
name: python, torch: 2.13.0, torch_build: cu130, python: "3.11", driver: "580", gpu: H100
name: system, torch: 2.13.0, torch_build: cu130, python: "3.12", base: ubuntu22.04, driver: "580", gpu: H100
name: driver, torch: 2.13.0, torch_build: cu130, python: "3.12", driver: "595", gpu: H100
""")
    impacts = told.ahead("12m")
    assert [impact.name for impact in impacts] == ["driver", "system", "python", "fine"]
    assert [impact.before.supported_until[:7] for impact in impacts if impact.before.supported_until] == [
        "2027-03",
        "2027-04",
        "2027-10",
        "2028-06",
    ]
    *ending, fine = impacts
    assert fine.unchanged
    assert {impact.before.verdict for impact in ending} == {Verdict.SUPPORTED}
    assert {impact.after.verdict for impact in ending} == {Verdict.DEGRADED}
    moves = {impact.name: dict(impact.moves.change) for impact in ending if impact.moves}
    assert moves["driver"]["driver"] in {"580", "620"}
    assert moves["system"] == {"base": "ubuntu24.04"}
    assert moves["python"] == {"python": "3.12"}
    assert {impact.final.verdict for impact in ending} == {Verdict.SUPPORTED}
    assert all(impact.unchanged for impact in told.ahead("90d"))
