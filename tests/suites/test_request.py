"""The command line."""

from pathlib import Path

import pytest

from suites.request import DEFAULTS, PROFILES, parse


def test_nothing_given_leaves_all_to_the_cell_and_the_profile() -> None:
    request = parse([])
    assert {
        getattr(request, name) for name in ("device", "size", "steps", "backend", "profile", "cell", "out", "seed")
    } == {None}


def test_nothing_is_left_out_and_nothing_saved_unless_asked() -> None:
    request = parse([])
    assert (request.loads, request.listing, request.checkpoint, request.save_checkpoint) == ((), False, None, None)


def test_loads_can_be_named_several_times() -> None:
    request = parse(["--load", "matmul", "--load", "*.square", "--list"])
    assert (request.loads, request.listing) == (("matmul", "*.square"), True)


def test_checkpoints() -> None:
    request = parse(["--checkpoint", "theirs.pt", "--save-checkpoint", "ours.pt"])
    assert (request.checkpoint, request.save_checkpoint) == (Path("theirs.pt"), Path("ours.pt"))


def test_the_design_command_line() -> None:
    request = parse(
        [
            "--device",
            "cuda",
            "--size",
            "2048",
            "--steps",
            "50",
            "--compile",
            "--profile",
            "deep",
            "--cell",
            "c.json",
            "--out",
            "o",
        ]
    )
    assert (request.device, request.size, request.steps, request.profile) == ("cuda", 2048, 50, "deep")
    assert (request.backend, request.cell, request.out) == ("inductor", Path("c.json"), Path("o"))


@pytest.mark.parametrize(
    ("options", "backend"),
    [(["--compile"], "inductor"), (["--backend", "openvino"], "openvino"), (["--compile", "--backend", "x"], "x")],
)
def test_compile_without_a_backend_is_inductor(options: list[str], backend: str) -> None:
    assert parse(options).backend == backend


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--device", "tpu"], "--device"),
        (["--size", "0"], "below 16"),
        (["--steps", "0"], "below 1"),
        (["--steps", "many"], "not a whole number"),
        (["--seed", "-1"], "below 0"),
        (["--backend", "../x"], "not the name of a backend"),
        (["--compile", "--backend", "eager"], "contradict"),
        (["--nosuch"], "unrecognized"),
    ],
)
def test_usage_is_exit_2_and_says_what(options: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(options)
    assert ended.value.code == 2
    assert told in capsys.readouterr().err


def test_each_profile_has_its_defaults_and_grows() -> None:
    assert list(DEFAULTS) == list(PROFILES)
    assert sorted(DEFAULTS.values()) == list(DEFAULTS.values())
