from orchestrator.images.failure import BuildFailure, Stage
from orchestrator.images.given import NO_MORE, Given
from orchestrator.masking import Masker
from orchestrator.vocabulary import Cause

FAILURE = BuildFailure(id="i", stage=Stage.BUILD, reason="no hunter22", log_tail="hunter22\n", cause=Cause.BUILD)


def test_what_builds_say_is_masked():
    said: list[str] = []
    given = Given(masker=Masker([b"hunter22"]))
    given.masked(said.append)("fetching with hunter22")

    assert said == ["fetching with [MASKED]"]
    assert (given.unspoken(FAILURE).reason, given.unspoken(FAILURE).log_tail) == ("no [MASKED]", "[MASKED]\n")


def test_without_secrets_nothing_changes():
    assert NO_MORE.unspoken(FAILURE) == FAILURE
