"""What is wrong with settings is told without anything in it that may be a password."""

import os
from pathlib import Path

import pytest

from orchestrator.errors import InputError
from orchestrator.settings import load_site

PASSWORD = "hunter22"
DIGEST = f"registry.example/ubuntu@sha256:{'ab' * 32}"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "PIP_CONFIG_FILE": os.devnull}


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("INDEXES", f"https://u:{PASSWORD}=x@h.example", "a name in `indexes` is letters, digits and `. _ + -`"),
        ("INDEXES", f"https://u:{PASSWORD}@h.example", "item 1 is not a name=value pair"),
        ("INDEXES", f"cpu=https://u:{PASSWORD}/x@h.example", "indexes `cpu`: this is no address"),
        ("EXTRA_INDEXES", f"https://u:{PASSWORD}#x@h.example", "`extra_indexes`: this is no address"),
        ("FIND_LINKS", f"https://u:[{PASSWORD}@h.example", "`find_links`: this is no address"),
        ("APT_MIRROR", f"https://u:{PASSWORD}?@h.example", "`apt_mirror`: this is no address"),
        ("PROXIES", f"https=http://u:{PASSWORD}/@h.example", "proxies `https`: this is no address"),
        ("PROXIES", f"https=u:p@ss/{PASSWORD}@h.example:1", "proxies `https`: this is no address"),
        ("INDEXES", f"default=https://u:p@ss/{PASSWORD}@h.example/x", "indexes `default`: this is no address"),
        ("STORE", f"s3://u:p@ss/{PASSWORD}@h.example/x", "`store`: this is no address"),
        ("PROXIES", f"http://u:{PASSWORD}=@h.example", "a name in `proxies` is `http`, `https` or `no`"),
        ("BASES", f"debian12=https://u:{PASSWORD}@h.example/x", "base `debian12`: `https://u:[MASKED]@h.example/x`"),
        ("BASES", f"debian12=u:{PASSWORD}@h.example/x@sha256:00", "base `debian12`: `u:[MASKED]@h.example/x@sha256"),
        ("BASES", f"u:{PASSWORD}@h.example={DIGEST}", "a name in `bases` is letters"),
        ("REGISTRIES", f"r.example=robot:{PASSWORD}", "registry `r.example`: a login is USER:env:NAME"),
        ("REGISTRIES", f"robot:{PASSWORD}=r.example", "a name in `registries` is HOST or HOST:PORT"),
        ("SITE", f"https://u:{PASSWORD}@h.example/site.yaml", "no such file"),
    ],
)
def test_what_is_wrong_in_a_variable_is_told_without_its_password(
    environ: dict[str, str], variable: str, value: str, told: str
) -> None:
    with pytest.raises(InputError) as caught:
        load_site({**environ, f"TORCHMATRIX_{variable}": value})
    assert told in str(caught.value)
    assert PASSWORD not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        f"indexes: {{default: https://u:{PASSWORD}@h.example",
        f"indexes:\n  default: 'https://u:{PASSWORD}@h.example\n",
        f"extra_indexes: [https://u:{PASSWORD}@h.example\nx: y",
        f"registries: {{r.example: *{PASSWORD}}}",
        f"registries: {{r.example: !{PASSWORD}!x y}}",
        f'ca_bundle: "\\{PASSWORD}"',
        f"https://u:{PASSWORD}@h.example: x",
        f"{PASSWORD}:\tx: {PASSWORD}: x",
        f"indexes: [https://u:{PASSWORD}@h.example]",
        f"registries: {{'robot:{PASSWORD}': r.example}}",
    ],
)
def test_what_is_wrong_in_the_file_is_told_without_its_lines(
    environ: dict[str, str], content: str, tmp_path: Path
) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(content)
    with pytest.raises(InputError) as caught:
        load_site({**environ, "TORCHMATRIX_SITE": str(file)})
    assert PASSWORD not in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_file_that_is_no_yaml_says_where(environ: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("store: x\ncache: [a\n")
    with pytest.raises(InputError, match=r"s\.yaml: is not YAML: line 3, column 1: "):
        load_site({**environ, "TORCHMATRIX_SITE": str(file)})


def test_a_file_that_is_no_text_is_told_without_its_bytes(environ: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_bytes(b"store: \xff\n")
    with pytest.raises(InputError, match="cannot be read: it is not UTF-8 at byte 7"):
        load_site({**environ, "TORCHMATRIX_SITE": str(file)})


def test_a_home_is_put_in_for_its_sign(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    given = {"FIND_LINKS": "~/wheels https://h.example/~me /a", "CA_BUNDLE": "~/ca.pem", "PACKAGES": "~/packages"}
    site = load_site({**environ, **{f"TORCHMATRIX_{name}": value for name, value in given.items()}})
    assert site.find_links == ("/home/me/wheels", "https://h.example/~me", "/a")
    assert (site.ca_bundle, site.packages) == ("/home/me/ca.pem", "/home/me/packages")


def test_a_password_is_known_wherever_somebody_put_an_address(environ: dict[str, str]) -> None:
    given = {
        "FIND_LINKS": "u:password-1@h.example/x https://u:password-2@h.example",
        "PROXIES": "no=localhost,u:password-3@h.example,u:password-4@i.example",
        "PACKAGES": "https://u:password-5@h.example",
        "INDEXES": "default=https://h.example/simple?token=password-6",
    }
    site = load_site({**environ, **{f"TORCHMATRIX_{name}": value for name, value in given.items()}})
    assert {f"password-{number}".encode() for number in range(1, 7)} <= set(site.passwords)
