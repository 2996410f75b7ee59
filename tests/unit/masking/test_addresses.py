"""Addresses: what of them is shown, and what in them is secret."""

import pytest

from orchestrator.masking import MASK, Masker, passwords, without_passwords


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://user:hunter22@pypi.example/simple", f"https://user:{MASK}@pypi.example/simple"),
        ("https://user:a@b:c@pypi.example/simple", f"https://user:{MASK}@pypi.example/simple"),
        ("https://pypi.example/simple", "https://pypi.example/simple"),
        ("https://a-token@pypi.example/simple", f"https://{MASK}@pypi.example/simple"),
        ("https://a-token:@pypi.example/simple", f"https://{MASK}@pypi.example/simple"),
        ("registry.example/ubuntu@sha256:0", "registry.example/ubuntu@sha256:0"),
        ("/mnt/wheels", "/mnt/wheels"),
        ("http://[bad", "http://[bad"),
        ("https://user:a/b@pypi.example/simple", f"https://user:{MASK}@pypi.example/simple"),
        ("https://user:a#b@pypi.example/simple", f"https://user:{MASK}@pypi.example/simple"),
        ("https://user:a?b@pypi.example/simple", f"https://user:{MASK}@pypi.example/simple"),
        ("https://user:[a@pypi.example/simple", f"https://user:{MASK}@pypi.example/simple"),
        ("https://user:a@b/c@pypi.example/simple", f"https://user:{MASK}@pypi.example/simple"),
        ("https://to/ken@pypi.example/simple", f"https://{MASK}@pypi.example/simple"),
        ("https://pypi.example/simple?token=abc&x#y", f"https://pypi.example/simple?token={MASK}&{MASK}#y"),
        ("https://pypi.example/simple?token=a=b;sig=c", f"https://pypi.example/simple?token={MASK};sig={MASK}"),
        ("user:hunter22@wheels.example/all", f"user:{MASK}@wheels.example/all"),
        ("//user:hunter22@wheels.example/all", f"//user:{MASK}@wheels.example/all"),
        ("user:hunter22@cafe:80", f"user:{MASK}@cafe:80"),
        ("localhost,user:hunter22@proxy.example", f"localhost,user:{MASK}@proxy.example"),
        ("user:hunter22@r.example/a@sha256:00", f"user:{MASK}@r.example/a@sha256:00"),
        ("r.example:5000/a@sha256:00", "r.example:5000/a@sha256:00"),
        ("/mnt/wheels@2", "/mnt/wheels@2"),
        ("~/wheels@2", "~/wheels@2"),
    ],
)
def test_an_address_is_shown_without_its_password(address: str, shown: str) -> None:
    assert without_passwords(address) == shown


def test_a_password_is_what_it_means_and_what_stands_there() -> None:
    addresses = ["https://u:p%40ssw0rd-x@a.example", "https://a.example", "http://[bad", "https://a-token-1@a.example"]
    found = list(passwords(addresses))
    assert found == [b"p@ssw0rd-x", b"a-token-1"]
    masker = Masker(found)
    assert masker.text("p@ssw0rd-x https://u:p%40ssw0rd-x@a") == f"{MASK} https://u:{MASK}@a"


def test_a_password_may_be_written_as_no_program_would() -> None:
    assert list(passwords(["https://u:%68unter22@a.example"])) == [b"hunter22", b"%68unter22"]
    assert list(passwords(["https://u:hunter%FF22@a.example"])) == [b"hunter\xff22"]


def test_a_short_password_is_masked_where_its_address_is_written() -> None:
    masker = Masker(passwords(["https://u:p%40ss@a.example/simple", "https://b.example/?key=k"]))
    assert masker.text("GET https://u:p%40ss@a.example/simple/x") == f"GET {MASK}/simple/x"
    assert masker.text("u:p%40ss@a.example u:p@ss@a.example") == f"{MASK} {MASK}"
    assert masker.text("p@ss as a word") == "p@ss as a word"
    assert Masker(passwords(["http://u:p@h"])).text("at http://u:p@h/x") == f"at {MASK}/x"
    assert Masker(passwords(["https://b.example/?api_key=k"])).text("https://b.example/?api_key=k") == (
        f"https://b.example/{MASK}"
    )


def test_the_values_of_a_query_are_secret_too() -> None:
    assert list(passwords(["https://a.example/simple?token=abc%2Bdefgh&signature&n=12345678"])) == [
        b"abc+defgh",
        b"signature",
        b"12345678",
    ]


def test_a_path_has_no_password() -> None:
    assert list(passwords(["/mnt/wheels?x=12345678", "relative@2", "registry.example/ubuntu@sha256:00"])) == [
        b"relative",
    ]
