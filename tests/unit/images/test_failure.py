import pytest
from ci_servers import acts
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.images.failure import Stage, StageFailed, at, cause_in, tail
from orchestrator.vocabulary import Cause


@pytest.mark.parametrize(
    ("log", "cause"),
    [
        ("write /var/lib/docker/tmp/x: no space left on device", Cause.OUT_OF_DISK),
        ("OSError: [Errno 122] Disk quota exceeded", Cause.OUT_OF_DISK),
        ("Cannot connect to the Docker daemon at unix:///x. Is it running?", Cause.ENGINE),
        ("Because there is no version of torch==9.9 and you require torch==9.9", Cause.MISSING_PACKAGE),
        ("torch==2.13.0+cpu has no wheels with a matching Python ABI tag", Cause.MISSING_PACKAGE),
        ("Because numpy was not found in the package registry", Cause.MISSING_PACKAGE),
        ("E: Unable to locate package python3-torch", Cause.MISSING_PACKAGE),
        ("dns error: failed to lookup address information", Cause.BUILD),
        ("", Cause.BUILD),
    ],
)
def test_a_tools_own_words_name_the_cause(log, cause):
    assert cause_in(log) is cause


def test_a_failure_says_stage_fact_and_hint_in_one_line_and_keeps_the_end_of_the_log():
    log = "\n".join(f"line {number}" for number in range(100)) + "\n::error::\x1b[2J"
    made = StageFailed(Stage.BUILD, "it broke\nhere", log=log, hint="mend it").of("image-1")

    assert (made.id, made.stage, made.reason) == ("image-1", "build", "build: it broke here; mend it")
    assert made.log_tail.startswith("  | line 71")
    assert made.log_tail.endswith("  | ::error::")


@given(st.text(max_size=400))
def test_a_logs_tail_is_always_safe_to_print(log):
    made = StageFailed(Stage.WHEELS, log, log=log).of("image-1")

    assert "\x1b" not in made.log_tail + made.reason
    assert "\n" not in made.reason
    assert not any(acts(line) for line in made.log_tail.splitlines())


def test_a_tail_is_bounded():
    assert len(tail("x" * 100_000)) == 6000


def test_a_hosts_own_trouble_is_told_with_its_stage(tmp_path):
    with pytest.raises(StageFailed, match=r"No such file or directory at .*/gone") as caught, at(Stage.BASE):
        (tmp_path / "gone").read_bytes()

    assert caught.value.stage is Stage.BASE
