"""The axis registry: grammars, defaults, names and what counts as the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator import axes, text
from orchestrator.axes import AXES, Axis, Grammar, Where
from orchestrator.errors import InputError

CPU = {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11"}
CUDA = {"torch": "2.13.0", "torch_build": "cu130", "python": "3.12", "driver": "580", "gpu": "H100", "gpus": "8"}
DIGEST = "sha256:" + "ab" * 32

EVIL = [
    "2.6.0\nRUN curl evil",
    "2.6.0\n",
    "\n2.6.0",
    "2.6.0 ",
    " 2.6.0",
    "{{ 7*7 }}",
    "{% raw %}",
    "${X}",
    "$(id)",
    "`id`",
    "; rm -rf /",
    "2.6.0 --extra-index-url http://evil",
    "--extra-index-url=http://evil",
    "-r",
    "../../x",
    "/abs",
    "..",
    "a..b",
    "",
    "x" * 300,
    "2.6.0\0",
    "2.6.0\u202e",
    "\uff12.6.0",
    "é",
    "'",
    '"',
    "#x",
    "&&",
    "|x",
    "\\",
]


@pytest.mark.parametrize("value", EVIL)
@pytest.mark.parametrize(
    "axis", [axis for axis in AXES.values() if axis.where is not Where.ASKED], ids=lambda axis: axis.name
)
def test_no_axis_of_a_cell_takes_what_could_act_elsewhere(axis: Axis, value: str) -> None:
    if axis.grammar is Grammar.ENV and not value:
        return  # no variable at all is an environment
    problem = axes.problem_with(axis, value)
    assert problem
    assert problem.isprintable()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("torch", "2.13.0"),
        ("torch", "1.13"),
        ("torch", "2.14.0.dev20260801"),
        ("torch", "2.13.0+cu130"),
        ("torch", "2.15.0rc1"),
        ("torch_build", "cpu"),
        ("torch_build", "cu126"),
        ("torch_build", "rocm7.1"),
        ("torch_build", "rocm6.2.4"),
        ("torch_build", "xpu"),
        ("torch_from", "distribution"),
        ("python", "3.9"),
        ("python", "3.13t"),
        ("python", "3.12.1"),
        ("base", "ubuntu24.04"),
        ("driver", "535.104.05"),
        ("gpu", "MI300X"),
        ("gpus", "1024"),
        ("image", DIGEST),
        ("image", f"nvcr.io/nvidia/pytorch@{DIGEST}"),
        ("image", f"localhost:5000/a/b_c@{DIGEST}"),
        ("env", ""),
        ("env", "OMP_NUM_THREADS=1"),
        ("env", "A=1 B_2=x,y:/z"),
        ("glibc", "any text: 2.28"),
    ],
)
def test_what_an_axis_takes(name: str, value: str) -> None:
    assert axes.problem_with(AXES[name], value) == ""


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("torch", "v2.6", "`v2.6` is not a version as PyPI has it, such as 2.13.0, did you mean `2.6`?"),
        ("torch", "2.6.0-rc1", "`2.6.0-rc1` is not a version as PyPI has it, such as 2.13.0, did you mean `2.6.0rc1`?"),
        ("torch", "NO", "`NO` is not a version as PyPI has it, such as 2.13.0"),
        ("torch", "2.6\n", "`2.6\\n` is not a version as PyPI has it, such as 2.13.0, did you mean `2.6`?"),
        ("python", "3", "`3` is not a value of `python`: it takes a Python version, such as 3.12"),
        ("python", "3.011", "`3.011` is not a value of `python`: it takes a Python version, such as 3.12"),
        ("python", "2.7", "`2.7` is not a value of `python`: it takes a Python version, such as 3.12"),
        ("torch_build", "cuda", "`cuda` is not a value of `torch_build`: it takes cpu, cuXYZ, rocmX.Y or xpu"),
        ("gpus", "0", "`0` is not a value of `gpus`: it takes a whole number from 1 to 1024"),
        ("gpus", "1025", "`1025` is not a value of `gpus`: it takes a whole number from 1 to 1024"),
        ("torch_from", "conda", "`conda` is not a value of `torch_from`: wheel, distribution"),
        ("image", "a:b", f"`a:b` is not a value of `image`: it takes {Grammar.DIGEST.value}"),
    ],
)
def test_what_an_axis_does_not_take(name: str, value: str, problem: str) -> None:
    assert axes.problem_with(AXES[name], value) == problem


def test_every_default_is_a_value_of_its_axis() -> None:
    for axis in AXES.values():
        assert axis.default is None or axes.problem_with(axis, axis.default) == "", axis.name


def test_every_condition_is_on_an_axis_that_comes_before() -> None:
    names = list(AXES)
    for axis in AXES.values():
        assert all(names.index(needed) < names.index(axis.name) for needed in axis.when), axis.name


def test_what_no_cell_sets_has_no_place_in_a_name() -> None:
    assert all(axis.label for axis in AXES.values() if axis.where is not Where.ASKED)
    assert all(axis.default is None for axis in AXES.values() if axis.where is Where.ASKED)


@pytest.mark.parametrize(
    ("build", "platform"),
    [("cpu", "cpu"), ("cu126", "cuda"), ("rocm7.1", "rocm"), ("xpu", "xpu"), ("", "ready")],
)
def test_platform(build: str, platform: str) -> None:
    assert axes.platform({"torch_build": build}) == platform


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ({}, True),
        ({"torch": "2.13.0"}, True),
        ({"torch": "2.1*"}, True),
        ({"torch": ">=2.6,<3"}, True),
        ({"torch": ">=2.14"}, False),
        ({"torch": "<2|>=2.13"}, True),
        ({"torch": "<2 | 9.*"}, False),
        ({"torch_build": "cu*|cpu"}, True),
        ({"torch_build": "CPU"}, False),
        ({"torch": "2.13.0", "python": "3.12"}, False),
        ({"driver": "*"}, False),
        ({"torch": ">=two"}, False),
        ({"torch_build": ">=1"}, False),
    ],
)
def test_selects(when: dict[str, str], holds: bool) -> None:
    assert axes.selects(when, CPU) is holds


def test_a_range_takes_pre_releases() -> None:
    assert axes.selects({"torch": ">=2.14"}, {"torch": "2.15.0.dev20260801"})


def test_complete_gives_the_defaults_that_apply_in_the_order_of_the_registry() -> None:
    full = axes.complete(dict(reversed(CPU.items())))
    assert full == {
        **CPU,
        "torch_from": "wheel",
        "base": "debian12",
        "host_arch": "x86_64",
        "backend": "eager",
        "matmul_precision": "highest",
        "env": "",
    }
    assert list(full) == [name for name in AXES if name in full]


def test_complete_gives_a_device_build_its_device_defaults() -> None:
    full = axes.complete({**CUDA, "gpus": "2"})
    assert (full["gpus"], full["partition"]) == ("2", "whole")
    assert "cuda_compat" not in full


def test_complete_leaves_the_image_axes_of_a_ready_image_unsaid() -> None:
    assert set(axes.complete({"image": DIGEST})) == {"image", "backend", "matmul_precision", "env"}
    assert axes.complete({"image": DIGEST, "gpu": "H100"})["gpus"] == "1"


@given(st.dictionaries(st.sampled_from(["torch", "backend", "base", "driver", "gpus"]), st.sampled_from(["1", "2"])))
def test_complete_is_complete_after_once(cell: dict[str, str]) -> None:
    full = axes.complete(cell)
    assert axes.complete(full) == full
    assert axes.cell_id(full) == axes.cell_id(cell)


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        (CPU, "torch2.13.0-cpu-py3.11-f5005687"),
        ({**CPU, "backend": "inductor"}, "torch2.13.0-cpu-py3.11-inductor-a8f0f94d"),
        ({**CUDA, "backend": "inductor"}, "torch2.13.0-cu130-py3.12-driver580-H100-x8-inductor-acbbc0e8"),
        ({"image": f"nvcr.io/x@{DIGEST}", "gpu": "H100"}, "image-abababababab-H100-3d570d9e"),
    ],
)
def test_cell_id_stays_what_it_was(cell: dict[str, str], name: str) -> None:
    assert axes.cell_id(cell) == name


@given(st.dictionaries(st.sampled_from([a for a in AXES if AXES[a].where is not Where.ASKED]), st.text(max_size=90)))
def test_any_cell_has_an_id_that_is_one_plain_name(cell: dict[str, str]) -> None:
    assert text.is_file_name(axes.cell_id(cell))
    assert len(axes.cell_id(cell)) <= 110


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"torch": "2.6.0+cu124"}, {"torch": "2.6.0-cu124"}),
        ({"gpu": "h100"}, {"gpu": "H100"}),
        ({"gpu": "\u00e9"}, {"gpu": "e\u0301"}),
        ({"base": "a_b"}, {"base": "a-b"}),
    ],
)
def test_what_reads_alike_is_told_apart_by_the_digest(one: dict[str, str], other: dict[str, str]) -> None:
    assert axes.cell_id(one) != axes.cell_id(other)


@given(
    st.fixed_dictionaries(
        {"torch": st.sampled_from(["2.6.0", "2.13.0"]), "torch_build": st.sampled_from(["cpu", "cu130"])},
        optional={"backend": st.sampled_from(["eager", "inductor"]), "gpus": st.sampled_from(["1", "8"])},
    ),
    st.sampled_from([Where.IMAGE, Where.HOST, Where.RUN]),
)
def test_an_axis_that_is_added_at_its_default_renames_nothing(cell: dict[str, str], where: Where) -> None:
    before = axes.cell_id(cell), axes.image_id(cell)
    added = Axis(name="aaa", where=where, grammar=Grammar.WORD, default="usual", label="a{}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(axes, "AXES", {"aaa": added, **AXES})
        assert (axes.cell_id(cell), axes.image_id(cell)) == before
        assert axes.complete(cell)["aaa"] == "usual"
        assert axes.cell_id({**cell, "aaa": "usual"}) == before[0]
        assert axes.cell_id({**cell, "aaa": "other"}) != before[0]


def test_cells_that_differ_outside_of_the_image_share_one() -> None:
    assert axes.image_id(CUDA) == axes.image_id({**CUDA, "driver": "535", "backend": "inductor", "gpus": "1"})
    assert axes.image_id(CUDA) != axes.image_id({**CUDA, "numpy": "2.4.6"})
    assert "driver" not in axes.image_axes(CUDA)
    assert axes.image_axes(CUDA)["base"] == "debian12"


@pytest.mark.parametrize(
    ("axis", "requested", "observed", "same"),
    [
        ("torch", "1.13", "1.13.0a0", True),
        ("torch", "1.13.1", "1.13.0a0", False),
        ("torch", "2.6.0", "2.6.0+debian", True),
        ("torch", "2.6.0+cpu", "2.6.0+cpu", True),
        ("torch", "2.6.0+cpu", "2.6.0+cu124", False),
        ("torch", "2.6.0+cpu", "2.6.0", False),
        ("torch", "2.1", "2.13.0", False),
        ("torch", "2.14.0.dev1", "2.14.0.dev1", True),
        ("torch", "2.14.0.dev1", "2.14.0.dev2", False),
        ("torch", "2.15.0rc1", "2.15.0", False),
        ("torch", "2.6.0", "garbage", False),
        ("torch", "1!2.6", "2.6", False),
        ("python", "3.13", "3.13.5", True),
        ("python", "3.1", "3.13.5", False),
        ("driver", "580", "580.65.06", True),
        ("driver", "58", "580.65.06", False),
        ("driver", "580.65.06", "580", False),
        ("torch_build", "rocm7.1", "rocm7.1.0", True),
        ("torch_build", "rocm7.1", "rocm7.10", False),
        ("torch_build", "cu13", "cu130", False),
        ("gpu", "h100", "H100", True),
        ("gpu", "H100", "H1000", False),
        ("env", "A=1", "A=1 B=2", False),
    ],
)
def test_matches(axis: str, requested: str, observed: str, same: bool) -> None:
    assert axes.matches(axis, requested, observed) is same


def test_differences_are_those_of_what_was_observed() -> None:
    observed = {"torch": "2.12.1+cpu", "python": "3.11.7", "glibc": "2.36", "invented": "x"}
    assert axes.differences({**CPU, "glibc": "2.36", "invented": "y"}, observed) == {"torch": ("2.13.0", "2.12.1+cpu")}


def test_an_axis_by_its_name() -> None:
    assert axes.axis_named("torch").package == "torch"
    with pytest.raises(InputError) as caught:
        axes.axis_named("tourch")
    assert str(caught.value) == "no axis is named `tourch`\nhint: did you mean `torch`?"
    with pytest.raises(InputError) as far:
        axes.axis_named("\x1b[31mqqqq")
    assert str(far.value) == "no axis is named `qqqq`"


@pytest.mark.parametrize(
    ("axis", "value", "expected"),
    [
        ("torch", "newest 2.x", True),
        ("torch", "newest 2.13.x", True),
        ("python", "latest", True),
        ("driver", "newest", True),
        ("torch", "newest 2", False),
        ("torch", "newest  2.x", False),
        ("torch", "newest 2.x\n", False),
        ("torch", "2.x", False),
        ("backend", "newest", False),
        ("torch_build", "newest", False),
    ],
)
def test_versions_have_aliases(axis: str, value: str, expected: bool) -> None:
    assert axes.is_alias(axes.AXES[axis], value) is expected


@pytest.mark.parametrize(
    ("alias", "expected"),
    [("newest", "3.0"), ("latest", "3.0"), ("newest 2.x", "2.13.1"), ("newest 2.9.x", "2.9"), ("newest 2.1.x", "")],
)
def test_an_alias_means_the_newest_known_value_of_its_series(alias: str, expected: str) -> None:
    assert axes.meant_by(alias, ("1.13", "2.9", "2.13.0", "2.13.1", "3.0")) == expected


def test_a_free_threaded_python_is_not_the_newest() -> None:
    assert axes.meant_by("latest", ("3.13", "3.14", "3.13t", "3.14t")) == "3.14"


def test_an_alias_of_what_nobody_knows_means_nothing() -> None:
    assert axes.meant_by("newest", ()) == ""


@pytest.mark.parametrize(
    ("name", "oldest_first"),
    [
        ("torch", ["2.6.0rc1", "2.6.0", "2.6.0.post1", "2.10.0"]),
        ("torch_build", ["cu126", "cu130", "rocm7.2", "rocm7.14"]),
        ("python", ["3.9", "3.13", "3.13t", "3.14"]),
        ("driver", ["535.104.05", "580"]),
    ],
)
def test_values_sort_by_their_age(name: str, oldest_first: list[str]) -> None:
    turned = oldest_first[::-1]
    assert sorted(turned, key=lambda value: axes.age(name, value)) == oldest_first
