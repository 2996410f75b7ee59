"""Where the site's things are: what pip and apt use, then the user's file, then variables; each with its origin."""

import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from orchestrator.engines.process import tree
from orchestrator.errors import InputError, InputErrors
from orchestrator.running import fault
from orchestrator.settings import PYPI, host, load_site, site_file, unknown_variables
from orchestrator.settings.kinds import KINDS

DIGEST = f"registry.example/ubuntu@sha256:{'ab' * 32}"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home on a host where neither pip nor apt is configured."""
    monkeypatch.setattr(host.sys, "prefix", str(tmp_path / "venv"))
    monkeypatch.setattr(host, "_APT", tmp_path / "apt")
    monkeypatch.setattr(host, "_PIP", tmp_path / "etc/pip.conf")
    return tmp_path


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "XDG_CONFIG_DIRS": str(home / "xdg")}


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


# --- a bare host ------------------------------------------------------------------------------------------------------


def test_an_unconfigured_host_uses_the_public_indexes(environ):
    site = load_site(environ)

    assert site.default_index == PYPI
    assert site.torch_index("cu130") == "https://download.pytorch.org/whl/cu130"
    assert site.apt_mirror == ""
    assert (site.extra_indexes, site.find_links, site.bases, site.proxies) == ((), (), {}, {})
    assert site.origins["cache"] == "default"


def test_cache_store_and_packages_follow_the_home_of_the_user(environ, home):
    site = load_site({**environ, "XDG_CACHE_HOME": str(home / "c"), "XDG_DATA_HOME": str(home / "d")})

    assert (site.cache, site.store) == (home / "c/torchmatrix", home / "d/torchmatrix/history")
    assert site.packages == str(home / "d/torchmatrix/packages")


def test_the_home_of_a_user_who_is_not_there_is_a_name_like_any_other(environ, home):
    write(home / ".config/torchmatrix/site.yaml", "store: ~nobody-here/x\ncache: ~/c\n")

    assert load_site(environ).store == Path("~nobody-here/x")


def test_certificates_and_proxies_come_from_the_environment(environ):
    site = load_site({**environ, "SSL_CERT_FILE": "/ca.pem", "https_proxy": "http://proxy", "NO_PROXY": "localhost"})

    assert site.ca_bundle == "/ca.pem"
    assert site.proxies == {"https": "http://proxy", "no": "localhost"}
    assert site.origins["ca_bundle"] == "environment SSL_CERT_FILE"
    assert site.origins["proxies.https"] == "environment https_proxy"


# --- pip --------------------------------------------------------------------------------------------------------------


def test_what_pip_uses_is_used_the_nearer_file_first(environ, home):
    write(home / "xdg/pip/pip.conf", "[global]\nindex-url = https://far.example/simple\ncert = /far.pem\n")
    user = write(
        home / ".config/pip/pip.conf",
        "[global]\nindex-url = https://near.example/simple\nextra-index-url =\n    https://one.example\n    https://two.example\n",
    )
    site = load_site(environ)

    assert site.default_index == "https://near.example/simple"
    assert site.extra_indexes == ("https://one.example", "https://two.example")
    assert site.ca_bundle == "/far.pem"
    assert site.origins["indexes.default"] == f"{user} [global] index-url"


@pytest.mark.parametrize(
    "place", ["xdg/pip/pip.conf", "etc/pip.conf", ".pip/pip.conf", ".config/pip/pip.conf", "venv/pip.conf"]
)
def test_every_place_that_pip_looks_in_is_looked_in(environ, home, place):
    write(home / place, "[install]\nfind-links = /wheels /more\n")

    assert load_site(environ).find_links == ("/wheels", "/more")


def test_the_file_that_pip_is_told_of_comes_last_and_its_variables_after(environ, home):
    named = write(home / "named.conf", "[global]\nindex-url = https://named.example\nfind-links = /named\n")
    site = load_site({**environ, "PIP_CONFIG_FILE": str(named), "PIP_FIND_LINKS": "/variable"})

    assert (site.default_index, site.find_links) == ("https://named.example", ("/variable",))
    assert site.origins["find_links"] == "environment PIP_FIND_LINKS"


def test_the_install_section_wins_over_the_global_one(environ, home):
    named = write(
        home / "named.conf", "[install]\nindex-url = https://i.example\n[global]\nindex-url = https://g.example\n"
    )

    assert load_site({**environ, "PIP_CONFIG_FILE": str(named)}).default_index == "https://i.example"


@pytest.mark.parametrize("content", ["no section\n", "[global\n", "[global]\nindex-url = %(x)s\n", "\x00"])
def test_a_pip_file_that_pip_itself_would_refuse_does_not_stop_us(environ, home, content):
    site = load_site({**environ, "PIP_CONFIG_FILE": str(write(home / "bad.conf", content))})

    assert site.default_index in {PYPI, "%(x)s"}


@pytest.mark.parametrize(
    "variable", [{"PIP_INDEX_URL": "https://i.example"}, {"PIP_FIND_LINKS": "/w"}, {"PIP_EXTRA_INDEX_URL": "https://e"}]
)
def test_a_configured_pip_is_where_torch_is_too(environ, variable):
    assert load_site({**environ, **variable}).torch_index("cu130") == ""


# --- apt --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("sources.list", "# deb http://old.example/debian x main\ndeb http://mirror.example/debian bookworm main\n"),
        ("sources.list.d/debian.sources", "Types: deb\nURIs: http://mirror.example/debian/\nSuites: bookworm\n"),
        ("sources.list.d/x.list", "deb [signed-by=/k.gpg arch=amd64] http://mirror.example/debian bookworm main\n"),
    ],
)
def test_the_mirror_is_the_one_that_apt_uses(environ, home, name, content):
    file = write(home / "apt" / name, content)
    site = load_site(environ)

    assert site.apt_mirror == "http://mirror.example/debian"
    assert site.origins["apt_mirror"] == str(file)


def test_other_archives_are_no_mirror_of_debian(environ, home):
    write(home / "apt/sources.list", "deb http://archive.ubuntu.example/ubuntu noble main\n")
    write(home / "apt/sources.list.d/s.sources", "URIs: http://mirror.example/debian-security\n")

    assert load_site(environ).apt_mirror == ""


# --- the user's file and variables ------------------------------------------------------------------------------------

SITE = f"""\
indexes: {{default: https://pypi.example/simple, cu130: https://pypi.example/cu130}}
extra_indexes: [https://more.example]
find_links: [/mnt/wheels]
ca_bundle: /etc/ca.pem
apt_mirror: http://mirror.example/debian
bases: {{ubuntu24.04: "{DIGEST}"}}
packages: /mnt/packages
proxies: {{https: http://proxy.example}}
store: ~/history
cache: /var/cache/torchmatrix
"""


def test_the_users_file_wins_over_pip_and_apt(environ, home, monkeypatch):
    monkeypatch.setenv("HOME", str(home))
    write(home / ".config/torchmatrix/site.yaml", SITE)
    site = load_site({**environ, "PIP_INDEX_URL": "https://pip.example", "PIP_FIND_LINKS": "/pip"})

    assert site.indexes == {"": "https://pypi.example/simple", "cu130": "https://pypi.example/cu130"}
    assert (site.torch_index("cu130"), site.torch_index("cpu")) == ("https://pypi.example/cu130", "")
    assert (site.extra_indexes, site.find_links) == (("https://more.example",), ("/mnt/wheels",))
    assert (site.ca_bundle, site.apt_mirror) == ("/etc/ca.pem", "http://mirror.example/debian")
    assert (site.bases, site.packages) == ({"ubuntu24.04": DIGEST}, "/mnt/packages")
    assert (site.store, site.cache) == (home / "history", Path("/var/cache/torchmatrix"))
    assert site.origins["find_links"] == f"{home}/.config/torchmatrix/site.yaml:3:1"


def test_variables_win_over_the_users_file(environ, home):
    file = write(home / "elsewhere.yaml", SITE)
    site = load_site(
        {
            **environ,
            "TORCHMATRIX_SITE": str(file),
            "TORCHMATRIX_CACHE": "/tmp/c",
            "TORCHMATRIX_FIND_LINKS": "/a /b",
            "TORCHMATRIX_INDEXES": "rocm7.1=https://r.example cu130=https://c.example/?a=b",
        }
    )

    assert (site.cache, site.find_links) == (Path("/tmp/c"), ("/a", "/b"))
    assert site.indexes["rocm7.1"] == "https://r.example"
    assert site.indexes["cu130"] == "https://c.example/?a=b"
    assert site.indexes[""] == "https://pypi.example/simple"
    assert site.origins["indexes.cu130"] == "environment TORCHMATRIX_INDEXES"
    assert site.origins["indexes.default"] == f"{file}:1:1"


def test_the_users_file_is_found_where_configuration_is(environ, home):
    assert site_file(environ) == home / ".config/torchmatrix/site.yaml"
    assert site_file({**environ, "XDG_CONFIG_HOME": "/c"}) == Path("/c/torchmatrix/site.yaml")


def test_all_problems_of_the_users_file_are_told_at_once_with_their_places(environ, home):
    file = write(home / "s.yaml", "cahce: /x\nfind_links: /one\nbases: [a]\nstore: [a]\nindexes: {cu130: [x]}\n")

    with pytest.raises(InputErrors) as caught:
        load_site({**environ, "TORCHMATRIX_SITE": str(file)})

    assert str(caught.value).splitlines() == [
        f"{file}:1:1: `cahce` is no setting",
        "hint: did you mean `cache`?",
        f"{file}:2:1: `find_links` takes a list of texts",
        f"{file}:3:1: `bases` takes a mapping of names to texts",
        f"{file}:4:1: `store` takes one text",
        f"{file}:5:1: `indexes` takes a mapping of names to texts",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[a]", "holds no settings"),
        ("{", "is not YAML"),
        ("[" * 5000, "is not YAML"),
        ("bases: {ubuntu24.04: ubuntu:24.04}", "base `ubuntu24.04`: `ubuntu:24.04` is not a value of `image`"),
    ],
)
def test_a_file_that_cannot_be_used_is_bad_input(environ, home, content, message):
    with pytest.raises(InputError, match=message):
        load_site({**environ, "TORCHMATRIX_SITE": str(write(home / "s.yaml", content))})


def test_a_file_that_is_named_must_be_there(environ, home):
    with pytest.raises(InputError, match=r"gone\.yaml: no such file \(named by TORCHMATRIX_SITE\)"):
        load_site({**environ, "TORCHMATRIX_SITE": str(home / "gone.yaml")})
    with pytest.raises(InputError, match="cannot be read"):
        load_site({**environ, "TORCHMATRIX_SITE": str(home)})


def test_an_empty_file_sets_nothing(environ, home):
    assert load_site({**environ, "TORCHMATRIX_SITE": str(write(home / "s.yaml", ""))}) == load_site(environ)


@pytest.mark.parametrize("value", ["cu130", "=x", "cu130=", "https://u:hunter22@pypi.example/simple"])
def test_pairs_in_a_variable_are_pairs(environ, value):
    with pytest.raises(InputError, match="item 2 is not a name=value pair") as caught:
        load_site({**environ, "TORCHMATRIX_INDEXES": f"a=b {value}"})

    assert caught.value.place == "environment TORCHMATRIX_INDEXES"
    assert "hunter22" not in str(caught.value)


def test_scalars_are_text_however_yaml_would_read_them(environ, home):
    file = write(home / "s.yaml", "ca_bundle: NO\nfind_links: [2.10, 017, ~]\n")
    site = load_site({**environ, "TORCHMATRIX_SITE": str(file)})

    assert (site.ca_bundle, site.find_links) == ("NO", ("2.10", "017", "~"))


def test_pip_told_to_read_no_file_reads_none(environ, home):
    write(home / ".config/pip/pip.conf", "[global]\nfind-links = /wheels\n")

    assert load_site({**environ, "PIP_CONFIG_FILE": os.devnull}).find_links == ()


@examples(max_examples=40, deadline=None)
@given(st.text(max_size=200))
def test_a_users_file_is_read_or_is_bad_input(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("site")
    file = folder / "s.yaml"
    file.write_bytes(content.encode("utf-8", "surrogatepass"))
    environ = {"HOME": str(folder), "PIP_CONFIG_FILE": os.devnull, "TORCHMATRIX_SITE": str(file)}
    with contextlib.suppress(InputError):
        assert load_site(environ).origins


def test_the_password_of_a_proxy_without_a_scheme_is_one(environ):
    site = load_site({**environ, "TORCHMATRIX_PROXIES": "https=ci:hunter22@proxy.example:3128 no=localhost,a.example"})

    assert site.proxies == {
        **site.proxies,
        "https": "http://ci:hunter22@proxy.example:3128",
        "no": "localhost,a.example",
    }
    assert b"hunter22" in site.passwords


@pytest.mark.parametrize(
    ("variable", "told"),
    [
        ("TORCHMATRIX_INDEX", "environment TORCHMATRIX_INDEX is no setting; did you mean `TORCHMATRIX_INDEXES`?"),
        (
            "TORCHMATRIX_CA_BUNDEL",
            "environment TORCHMATRIX_CA_BUNDEL is no setting; did you mean `TORCHMATRIX_CA_BUNDLE`?",
        ),
        ("TORCHMATRIX_SIET", "environment TORCHMATRIX_SIET is no setting; did you mean `TORCHMATRIX_SITE`?"),
        ("TORCHMATRIX_42", "environment TORCHMATRIX_42 is no setting; `torchmatrix site` lists them"),
        ("TORCHMATRIX_\x1b[2J", "environment TORCHMATRIX_\\x1b[2J is no setting; `torchmatrix site` lists them"),
    ],
)
def test_a_variable_that_sets_nothing_is_told_without_its_value(variable: str, told: str) -> None:
    assert list(unknown_variables({variable: "hunter22", "PATH": "x", "TORCHMATRIX": "x"}, ())) == [told]


def test_a_variable_that_has_its_use_is_not_told() -> None:
    used = [f"TORCHMATRIX_{name.upper()}" for name in (*KINDS, "site")]
    used += [fault.VARIABLE, tree.RUN, tree.OWNER, tree.CELL, "TORCHMATRIX_PASSWORD"]
    assert list(unknown_variables(dict.fromkeys(used, "x"), ["robot:env:TORCHMATRIX_PASSWORD"])) == []


def test_the_null_device_sets_nothing(environ):
    assert load_site({**environ, "TORCHMATRIX_SITE": os.devnull}).default_index == PYPI


def test_a_file_that_may_never_end_is_not_waited_for(environ, home):
    for place in (home / "pip/pip.conf", home / "apt/sources.list"):
        place.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(place)
    assert load_site({**environ, "PIP_CONFIG_FILE": str(home / "pip/pip.conf")}).default_index == PYPI
    for named, why in ((home / "pip/pip.conf", "it is not a regular file"), (Path("/dev/zero"), "it is not a regular")):
        with pytest.raises(InputError, match=f"cannot be read: {why}"):
            load_site({**environ, "TORCHMATRIX_SITE": str(named)})
    (home / "long.yaml").write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(InputError, match="cannot be read: File too large"):
        load_site({**environ, "TORCHMATRIX_SITE": str(home / "long.yaml")})
