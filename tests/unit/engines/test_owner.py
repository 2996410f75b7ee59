import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from orchestrator.engines.owner import Owner, is_gone, parse, this_process


def test_a_written_owner_reads_the_same() -> None:
    owner = this_process()
    assert owner.pid == os.getpid()
    assert parse(str(owner)) == owner


@pytest.mark.parametrize("text", ["", "a", "a/b/c", "a/b/1/x", "a/b/-1/2", "a/b/1/2/3", "a/b/1/\n"])
def test_what_is_no_owner(text: str) -> None:
    assert parse(text) is None


@given(st.text())
def test_parse_never_raises(text: str) -> None:
    assert parse(text) is None or str(parse(text)).count("/") == 3


def test_we_are_not_gone() -> None:
    assert not is_gone(this_process())


def test_a_number_that_is_used_again_is_another_process() -> None:
    assert is_gone(replace(this_process(), started=this_process().started + 1))


def test_a_process_of_an_earlier_boot_is_gone() -> None:
    assert is_gone(replace(this_process(), boot="another"))


def test_a_process_that_cannot_be_looked_up_counts_as_alive() -> None:
    assert not is_gone(replace(this_process(), namespace="another", started=0))


def test_a_process_that_ended_is_gone_also_before_its_parent_knows() -> None:
    tell = "from orchestrator.engines.owner import this_process; print(this_process())"
    with subprocess.Popen([sys.executable, "-c", tell], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        owner = parse(process.stdout.read().strip())
        assert isinstance(owner, Owner)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert is_gone(owner)
    assert is_gone(owner)
