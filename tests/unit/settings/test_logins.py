import pytest

from orchestrator.model import SecretSource
from orchestrator.settings.logins import login_for, registry_of


@pytest.mark.parametrize(
    ("ref", "host"),
    [
        ("nvcr.io/nvidia/pytorch@sha256:0", "nvcr.io"),
        ("localhost:5000/x@sha256:0", "localhost:5000"),
        ("localhost/x", "localhost"),
        ("library/debian@sha256:0", "docker.io"),
        ("debian@sha256:0", "docker.io"),
    ],
)
def test_the_registry_of_an_image(ref: str, host: str) -> None:
    assert registry_of(ref) == host


def test_a_login_is_for_its_registry_alone() -> None:
    registries = {"nvcr.io": "$oauthtoken:env:NGC_API_KEY", "r.example": "robot:file:/run/secrets/r"}
    user, where = login_for("nvcr.io/nvidia/pytorch@sha256:0", registries) or ("", None)
    assert (user, where) == ("$oauthtoken", SecretSource(name="password of nvcr.io", env="NGC_API_KEY"))
    user, where = login_for("r.example/x", registries) or ("", None)
    assert (user, where) == ("robot", SecretSource(name="password of r.example", file="/run/secrets/r"))
    assert login_for("other.example/x", registries) is None
