"""How a watch goes is in tests/faults and tests/integration; here is what it believes of a state."""

import msgspec
import pytest

from orchestrator.engines.docker.watch import State

TOLD = {"Status": "exited", "Running": False, "Paused": False, "ExitCode": 137, "OOMKilled": True, "Pid": 0}


def test_a_state_as_the_engine_tells_it() -> None:
    state = msgspec.convert(TOLD, State)
    assert (state.running, state.paused, state.exit_code, state.oom_killed) == (False, False, 137, True)


@pytest.mark.parametrize("missing", ["Running", "Paused", "ExitCode", "OOMKilled"])
def test_what_is_not_told_is_not_made_up(missing: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=missing):
        msgspec.convert({name: value for name, value in TOLD.items() if name != missing}, State)
