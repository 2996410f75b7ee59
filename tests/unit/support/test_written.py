import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.support import spans, written

PARTS = st.sampled_from(
    [
        "3.13",
        "12",
        "t",
        ">=",
        "<",
        " or ",
        "newer",
        ",",
        "-",
        "..",
        "cu",
        "R",
        "v",
        ".x",
        "+",
        "|",
        "free-threaded",
        "٣",
    ]
)
TEXTS = st.text(max_size=200) | st.lists(PARTS, max_size=40).map("".join)


@given(st.sampled_from(["torch", "python", "driver", "cuda_runtime", "cuda_compat"]), TEXTS)
def test_no_text_is_an_error(axis: str, text: str) -> None:
    value = written.version(axis, text)
    assert value is None or value.spans
    written.is_nightly(text)
    written.torch_build_in(text)


@given(st.lists(st.integers(0, 999), min_size=1, max_size=4), st.sampled_from(["", "v", "R", "release ", "CUDA "]))
def test_a_version_is_read_as_it_is_written(numbers: list[int], before: str) -> None:
    text = ".".join(map(str, numbers))
    value = written.version("glibc", before + text)
    assert value is not None
    assert (value.text, value.spans, value.exact) == (text, spans.read(text), True)


@pytest.mark.parametrize(
    ("axis", "text", "meant"),
    [
        ("driver", "R580", "580"),
        ("driver", "580.65.06", "580.65.06"),
        ("cuda_runtime", "12.x", "12"),
        ("cuda_runtime", "CUDA 12.4", "12.4"),
        ("cuda_runtime", "cu124", "12.4"),
        ("driver_cuda", "12040", "12.4"),
        ("cuda_compat", "cuda-compat-12-8", "12.8"),
        ("torch", "2.6.0+cu124", "2.6.0"),
        ("torch", "==2.8", "2.8"),
        ("python", "cp311", "3.11"),
        ("python", "CPython 3.12", "3.12"),
    ],
)
def test_one_version(axis: str, text: str, meant: str) -> None:
    value = written.version(axis, text)
    assert value is not None
    assert (value.text, value.spans, value.exact, value.tag) == (meant, spans.read(meant), True, "")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (">=570", ">=570"),
        ("≥ 570.26", ">=570.26"),
        ("570 or newer", ">=570"),
        ("570+", ">=570"),
        ("at least 570.26", ">=570.26"),
        ("up to 570", "<=570"),
        ("570 or older", "<=570"),
        ("older than 570", "<570"),
        ("below 570", "<570"),
        ("newer than 570", ">570"),
        (">=550,<570", ">=550,<570"),
        ("driver >= 550 and < 570", ">=550,<570"),
        ("550-570", ">=550,<=570"),
        ("550 to 570", ">=550,<=570"),
    ],
)
def test_a_range(text: str, meant: str) -> None:
    value = written.version("rocm_userspace", text)
    assert value is not None
    assert (value.spans, value.exact) == (spans.read(meant), False)


def test_a_range_of_a_package_is_what_an_installer_takes_of_it() -> None:
    below = written.version("numpy", "<2")
    assert below is not None
    assert below.spans == (((1,), (2,)),)
    within = written.version("numpy", "<2.6.0")
    assert within is not None
    assert within.spans == (((2,), (2, 6, 0)),)


def test_a_branch_that_a_range_of_drivers_begins_with_is_its_newest() -> None:
    from_branch, from_release = written.version("driver", ">=570"), written.version("driver", ">=570.26")
    assert from_branch is not None
    assert from_release is not None
    assert (570, 999) < from_branch.spans[0][0] < (571,)
    assert from_release.spans == (((570, 26), None),)


@pytest.mark.parametrize("text", ["535|550", "535 or 550", "535, 550", "535/550"])
def test_one_of_several(text: str) -> None:
    value = written.version("driver", text)
    assert value is not None
    assert (value.spans, value.exact) == (spans.union([*spans.read("535"), *spans.read("550")]), False)


@pytest.mark.parametrize("text", ["3.13t", "cp313t", "3.13 free-threaded", "3.13 (nogil)"])
def test_a_free_threaded_python_is_another_than_the_plain_one(text: str) -> None:
    value = written.version("python", text)
    assert value is not None
    assert (value.text, value.tag, value.spans) == ("3.13t", "t", spans.read("3.13"))


@pytest.mark.parametrize("text", [">=3.13t", "3.13t or newer", "free-threaded, >=3.13", "3.13t+"])
def test_a_range_of_free_threaded_pythons_holds_no_plain_one(text: str) -> None:
    value = written.version("python", text)
    assert value is not None
    assert (value.tag, value.spans, value.exact) == ("t", spans.read(">=3.13"), False)


def test_values_of_one_text_are_one_value() -> None:
    """Answers are remembered by the text of a value."""
    plain, threaded = written.version("python", ">=3.13"), written.version("python", ">=3.13t")
    assert plain is not None
    assert threaded is not None
    assert plain.text != threaded.text


def test_a_mix_of_plain_and_free_threaded_is_not_read_as_one_of_them() -> None:
    assert written.version("python", "3.12 or 3.13t") is None
    assert written.version("python", "3.13t or 3.14t") is not None


@pytest.mark.parametrize("text", ["", "newest", "?", "1.2.3.4.5.6.7", "12345678901", "2" * 121, "٣.٤", ">=3,<2"])
def test_what_says_nothing_is_none(text: str) -> None:
    assert written.version("torch", text) is None


@pytest.mark.parametrize(
    ("text", "build"), [("2.6.0+cu124", "cu124"), ("2.6.0+rocm6.2.4", "rocm6.2.4"), ("2.6.0+cpu", "cpu"), ("2.6.0", "")]
)
def test_the_build_in_a_torch_version(text: str, build: str) -> None:
    assert written.torch_build_in(text) == build


@pytest.mark.parametrize(
    ("text", "nightly"),
    [
        ("2.9.0.dev20250801", True),
        ("nightly", True),
        ("2.8.0a0+git1234567", True),
        ("main", True),
        ("2.8.0", False),
        ("2.8.0+cu128", False),
    ],
)
def test_a_nightly_is_told_from_a_release(text: str, nightly: bool) -> None:
    assert written.is_nightly(text) is nightly
