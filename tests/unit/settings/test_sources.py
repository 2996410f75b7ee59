import pytest

from orchestrator.errors import InputError
from orchestrator.model import SecretSource
from orchestrator.settings.sources import value_of


def test_a_value_is_what_the_variable_or_the_file_holds(tmp_path):
    (tmp_path / "key").write_bytes(b"hunter22\xff\n")
    assert value_of(SecretSource(name="A", file=str(tmp_path / "key")), {}) == b"hunter22\xff\n"
    assert value_of(SecretSource(name="A", env="X"), {"X": "hunter22"}) == b"hunter22"


def test_a_value_that_is_too_short_to_be_masked_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"environment X: secret `A` is shorter than 8 bytes"):
        value_of(SecretSource(name="A", env="X"), {"X": "hunter2\n"})
