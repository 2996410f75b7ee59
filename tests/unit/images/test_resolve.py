import pytest
from msgspec.structs import replace

from orchestrator.images.command import Commands, Finished
from orchestrator.images.failure import StageFailed
from orchestrator.images.resolve import (
    Question,
    _trouble,
    asked_anew,
    platform_tag,
    read_pylock,
    resolve,
    uv_environment,
)

QUESTION = Question(
    requirements=("torch==2.13.0+cpu",), constraints=(), python="3.11", platform="x86_64-manylinux_2_36", build="cpu"
)


@pytest.mark.parametrize(
    ("glibc", "tag"),
    [("2.36", "manylinux_2_36"), ("2.41", "manylinux_2_40"), ("2.29", "manylinux_2_28"), ("2.17", "manylinux_2_28")],
)
def test_the_platform_is_the_newest_that_the_c_library_takes(glibc, tag):
    assert platform_tag("aarch64", glibc) == f"aarch64-{tag}"


def test_an_answer_is_kept_and_needs_no_source_the_second_time(site, wheels, commands):
    first = resolve(QUESTION, site, commands)
    for wheel in wheels.iterdir():
        wheel.unlink()

    assert resolve(QUESTION, site, commands) == first
    assert [wheel.file for wheel in first if wheel.name == "torch"] == ["torch-2.13.0+cpu-py3-none-any.whl"]


def test_a_damaged_answer_is_asked_again(site, commands):
    first = resolve(QUESTION, site, commands)
    (kept,) = (site.cache / "locks").glob("*.json")
    kept.write_text("[{")

    assert resolve(QUESTION, site, commands) == first


def test_another_source_is_another_question(with_site, site, tmp_path, commands):
    resolve(QUESTION, site, commands)
    empty = tmp_path / "empty"
    empty.mkdir()

    with pytest.raises(StageFailed):
        resolve(QUESTION, with_site(find_links=(str(empty),)), commands)


def test_a_later_index_never_outbids_an_earlier_one(with_site, wheels, wheel_maker, tmp_path, commands):
    def index(name: str, version: str) -> str:
        page = tmp_path / name / "sympy" / "index.html"
        wheel = wheel_maker(tmp_path / name / "files", "sympy", version)
        page.parent.mkdir(parents=True)
        page.write_text(f'<a href="{wheel.as_uri()}">{wheel.name}</a>')
        return (tmp_path / name).as_uri()

    for wheel in wheels.glob("sympy-*"):
        wheel.unlink()
    ours, theirs = index("ours", "1.12.0"), index("theirs", "99.0")
    found = resolve(QUESTION, with_site(extra_indexes=(ours,), indexes={"": theirs}), commands)

    assert [wheel.version for wheel in found if wheel.name == "sympy"] == ["1.12.0"]


def test_uv_sees_the_sites_settings_and_none_of_its_own(with_site):
    site = with_site(ca_bundle="/ca.pem", proxies={"https": "http://proxy.example"})
    environ = {"PATH": "/bin", "UV_INDEX_URL": "http://evil.example", "UV_CACHE_DIR": "/uv"}

    assert uv_environment(site, environ) == {
        "PATH": "/bin",
        "UV_CACHE_DIR": "/uv",
        "HTTPS_PROXY": "http://proxy.example",
        "SSL_CERT_FILE": "/ca.pem",
    }


def test_a_lock_file_is_read_by_name_with_urls_decoded():
    wheels = read_pylock(
        """
        [[packages]]
        name = "torch"
        version = "2.13.0+cpu"
        wheels = [{ url = "https://index.example/torch-2.13.0%2Bcpu-py3-none-any.whl", hashes = { sha256 = "ab" } }]
        [[packages]]
        name = "numpy"
        version = "2.4.6"
        wheels = [{ path = "/wheels/numpy-2.4.6-py3-none-any.whl", hashes = { sha256 = "cd" } }]
        """
    )

    assert [(wheel.name, wheel.file, wheel.sha256) for wheel in wheels] == [
        ("numpy", "numpy-2.4.6-py3-none-any.whl", "cd"),
        ("torch", "torch-2.13.0+cpu-py3-none-any.whl", "ab"),
    ]


def test_what_is_preferred_is_taken_and_given_up_where_it_cannot_be(site, commands):
    def numpy(*preferences: str, more: str = "numpy") -> str:
        question = replace(QUESTION, requirements=("numpy", more), preferences=preferences)
        return next(wheel.version for wheel in resolve(question, site, commands) if wheel.name == "numpy")

    assert numpy() == "2.4.6"
    assert numpy("numpy==2.2.4") == "2.2.4"
    assert numpy("numpy==9.9", "unknown==1") == "2.4.6"
    assert numpy("numpy==2.2.4", more="numpy>2.3") == "2.4.6"


def test_what_is_asked_anew_is_asked_once_and_a_refusal_is_an_answer(site, wheels, wheel_maker, commands):
    resolve(QUESTION, site, commands)
    wheel_maker(wheels, "sympy", "9.0")
    ask = asked_anew(site, commands)
    first = ask(QUESTION)
    for wheel in wheels.iterdir():
        wheel.unlink()

    assert "9.0" in {wheel.version for wheel in first}
    assert ask(QUESTION) == first
    gone = replace(QUESTION, python="3.12")
    failures = []
    for _ in range(2):
        with pytest.raises(StageFailed) as caught:
            ask(gone)
        failures.append(caught.value)
    assert failures[0] is failures[1]


def test_no_login_of_an_index_stands_on_a_command_line(with_site, commands, monkeypatch):
    """Every user of a machine can read the command lines of all others."""
    started = []
    run = Commands.run
    monkeypatch.setattr(
        Commands, "run", lambda self, argv, **more: started.append(list(argv)) or run(self, argv, **more)
    )
    site = with_site(
        indexes={"": "http://ci:hunter22@127.0.0.1:1/simple", "cpu": "http://ci:hunter33@127.0.0.1:1/cpu"},
        extra_indexes=("http://ci:hunter44@127.0.0.1:1/more",),
    )

    with pytest.raises(StageFailed):
        resolve(QUESTION, site, commands)

    assert started
    assert "hunter" not in str(started)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[[packages", "uv answered in a form that is not known: "),
        ("x = " + "[" * 5000, "uv answered in a form that is not known: "),
        ("packages = 1", "Expected `array`, got `int` - at `$.packages`"),
        ("[[packages]]\nversion = '1'", "missing required field `name`"),
        ("[[packages]]\nname = 'a'\nwheels = [{}]", "a wheel of `a` has no place"),
        ("[[packages]]\nname = 'a'\nwheels = [1]", "at `$.packages[0].wheels[0]`"),
        ("[[packages]]\nname = 'a'\nwheels = [{url = 'http://[x/a'}]", "Invalid IPv6 URL"),
        ("[[packages]]\nname = 'a'\nwheels = [{path = '/a', hashes = 1}]", "at `$.packages[0].wheels[0].hashes`"),
    ],
)
def test_a_lock_file_of_another_form_is_an_answer_that_cannot_be_read(content, told):
    with pytest.raises(StageFailed) as caught:
        read_pylock(content)
    assert told in str(caught.value)


@pytest.mark.parametrize("kept", ['{"x": ' * 5000, "[" * 5000 + "]" * 5000, '[{"name": "\x00'])
def test_an_answer_that_was_kept_and_cannot_be_read_is_asked_again(site, commands, kept):
    first = resolve(QUESTION, site, commands)
    (file,) = (site.cache / "locks").glob("*.json")
    file.write_text(kept)
    assert resolve(QUESTION, site, commands) == first


def test_an_index_that_is_down_is_told_as_that_and_not_as_wheels_that_there_are_not(with_site, commands):
    site = with_site(indexes={"": "http://me:hunter22@127.0.0.1:9/simple"}, find_links=())
    with pytest.raises(
        StageFailed, match=r"127\.0\.0\.1:9/simple/torch/: .*no answer for torch==2\.13\.0\+cpu on Python"
    ) as caught:
        resolve(QUESTION, site, commands)
    assert "no wheels" not in caught.value.fact
    assert "hunter22" not in caught.value.fact


def test_wheels_that_there_are_not_are_told_as_that(site, commands):
    with pytest.raises(StageFailed, match="no wheels for torch==99 on Python"):
        resolve(replace(QUESTION, requirements=("torch==99",)), site, commands)


@pytest.mark.parametrize(
    ("done", "told"),
    [
        (Finished(code=2, out="", err="warning: w\nerror: a\n  cause: b\n  Caused by: c\nhint: d\n"), "a: c"),
        (
            Finished(code=2, out="", err="error: 3 retries\n  Caused by: Failed to fetch: u\n  Caused by: c\n"),
            "Failed to fetch: u: c",
        ),
        (Finished(code=2, out="", err="error: a\n"), "a"),
        (Finished(code=-9, out="", err=""), "uv ended with -9"),
    ],
)
def test_what_kept_uv_from_an_answer_is_told_in_its_words(done, told):
    assert _trouble(done) == told
