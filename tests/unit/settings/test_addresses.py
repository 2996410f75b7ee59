"""Whose a login is: of one server and, of several there, of the path that is most like."""

import base64

import pytest

from orchestrator.settings.addresses import as_proxy, login_header, problem_with, without_login


def login(user: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(user.encode()).decode()}


OTHERS = (
    "https://a:pw-a@index.example/projects/1/simple",
    "https://b:pw-b@index.example/projects/2/simple",
    "https://c:pw%2Fc@index.example:8443/simple",
    "http://d:pw-d@plain.example/simple",
    "https://index.example/none",
    "https://bad:pa/ss@index.example/projects/3",
)


@pytest.mark.parametrize(
    ("address", "header"),
    [
        ("https://index.example/projects/1/files/x.whl", login("a:pw-a")),
        ("https://index.example/projects/2/files/x.whl", login("b:pw-b")),
        ("https://index.example:443/projects/2/files/x.whl", login("b:pw-b")),
        ("https://index.example/elsewhere/x.whl", login("a:pw-a")),
        ("https://index.example:8443/files/x.whl", login("c:pw/c")),
        ("https://index.example:9443/files/x.whl", {}),
        ("http://index.example/projects/1/files/x.whl", {}),
        ("http://plain.example/x.whl", login("d:pw-d")),
        ("https://plain.example/x.whl", {}),
        ("https://other.example/projects/1/x.whl", {}),
        ("https://me:own@index.example/projects/1/x.whl", login("me:own")),
        ("https://token@index.example/projects/1/x.whl", login("token:")),
    ],
)
def test_a_login_goes_to_its_own_server_only(address: str, header: dict[str, str]) -> None:
    assert login_header(address, OTHERS) == header


def test_a_whole_path_is_liker_than_its_beginning() -> None:
    others = ("https://a:1@h.example/x", "https://b:2@h.example/x/y", "https://c:3@h.example/x/yy")
    assert login_header("https://h.example/x/y/z", others) == login("b:2")
    assert login_header("https://h.example/x/z", others) == login("a:1")


def test_an_address_that_cannot_be_read_as_it_is_meant_is_a_problem_that_shows_none_of_it() -> None:
    for password in ("pa/ss", "pa#ss", "pa?ss", "[pass"):
        problem = problem_with(f"https://user:{password}@h.example/x")
        assert problem
        assert "pa/ss" not in problem
        assert "ss@" not in problem
    assert problem_with("https://user:p%2Fss@h.example:8443/x") == ""
    assert problem_with("/mnt/wheels[1]") == ""


@pytest.mark.parametrize("sign", ["/", "?", "#", "\\", " ", "\t", "//", "://"])
def test_a_password_that_two_programs_would_read_in_two_ways_is_a_problem(sign: str) -> None:
    for login in (f"robot:p@ss{sign}w", f"robot:p@{sign}", f"p@ss{sign}w"):
        problem = problem_with(f"http://{login}@h.example/simple")
        assert "written as `%2F`" in problem
        assert "w@h" not in problem
        assert problem_with(as_proxy(f"{login}@h.example:3128")) == problem


@pytest.mark.parametrize(
    "address",
    [
        "http://robot:p@ss@h.example/simple",
        "http://robot:p%40ss%2Fw@h.example/simple",
        "https://h.example/%40scope/simple?a=b#c",
        "file:///opt/python@3.12/wheels",
        "/opt/python@3.12/wheels",
        "./wheels@2/x",
    ],
)
def test_an_address_that_all_programs_read_alike_is_none(address: str) -> None:
    assert problem_with(address) == ""


def test_a_proxy_without_a_scheme_is_one_of_http() -> None:
    proxies = {"h.example:1": "http://h.example:1", "//u@h:1": "http://u@h:1", "https://h": "https://h", "": ""}
    assert {value: as_proxy(value) for value in proxies} == proxies


def test_an_address_is_left_without_its_login() -> None:
    assert without_login("https://me:secret@h.example:8443/a?b#c") == "https://h.example:8443/a?b#c"
