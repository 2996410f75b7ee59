"""Lock files: read as they were written, refused when they are anything else, without any place in them."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from orchestrator.errors import InputError
from orchestrator.images.lock import Lock
from orchestrator.images.locks import (
    LockedBase,
    LockFile,
    held_in,
    lock_file,
    parse,
    place_of_lock,
    read_lock,
    render,
    write_lock,
)
from orchestrator.images.resolve import Wheel

AXES = {"torch": "2.13.0", "torch_build": "cpu", "python": "3.11", "base": "debian12"}
BASE = LockedBase(
    name="debian12",
    suite="bookworm",
    architecture="amd64",
    release="12.15",
    date="2026-07-11",
    include=("python3", "g++"),
    packages=("adduser=3.134", "libc6=2.36-9+deb12u13", "python3=3.11.2-1+b1", "bsdutils=1:2.38.1-5"),
)


def wheel(name: str, version: str = "1.0") -> Wheel:
    return Wheel(
        name=name,
        version=version,
        file=f"{name}-{version}-py3-none-any.whl",
        sha256=hashlib.sha256(name.encode()).hexdigest(),
        url=f"https://user:hunter2@index.example/{name}",
    )


def made(**changes) -> LockFile:
    held = Lock(torch=(wheel("torch", "2.13.0+cpu"), wheel("sympy")), companions=(wheel("numpy"),), tools=())
    return sealed(lock_file("torch2.13.0-cpu-py3.11-12345678", AXES, BASE, held), **changes)


def sealed(lock: LockFile, **changes) -> LockFile:
    new = replace(lock, **changes)
    return replace(new, digest=new.proper_digest)


def test_what_is_written_is_read():
    assert parse(render(made()).encode()) == made()


def test_a_lock_holds_no_place_and_no_login():
    content = render(made())

    assert "index.example" not in content
    assert "hunter2" not in content
    assert "://" not in content


def test_a_lock_is_sorted_by_name_and_ends_in_one_line_break():
    content = render(made())

    assert content.index('name = "sympy"') < content.index('name = "torch"')
    assert content.endswith('"\n')
    assert not content.endswith("\n\n")


def test_a_change_of_one_version_is_a_difference_of_its_own_lines():
    before = made()
    moved = replace(
        before, wheels=replace(before.wheels, companions=(replace(before.wheels.companions[0], version="2"),))
    )
    old, new = render(before).splitlines(), render(moved).splitlines()

    assert [line.split()[0] for line in new if line not in old] == ["digest", "version"]
    assert len(old) == len(new)


def test_the_recipes_wheels_have_no_place_yet():
    held = made().lock

    assert [one.name for one in held.wheels] == ["sympy", "torch", "numpy"]
    assert {one.url for one in held.wheels} == {""}


def test_a_lock_without_wheels_is_one_too():
    none = lock_file("x", AXES, LockedBase(name="debian12"), Lock(torch=(), companions=(), tools=()))

    assert parse(render(none).encode()) == none


_names = st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,2}", fullmatch=True)
_words = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._+~!:-]{0,20}", fullmatch=True)
_wheels = st.builds(
    Wheel,
    name=_names,
    version=st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){0,3}(rc[0-9])?(\+[a-z0-9]{1,8})?", fullmatch=True),
    file=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._+!-]{0,20}\.whl", fullmatch=True),
    sha256=st.from_regex(r"[0-9a-f]{64}", fullmatch=True),
    url=st.text(max_size=20),
)
_layers = st.lists(_wheels, max_size=3, unique_by=lambda one: one.name).map(tuple)
_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(
    image=_text,
    axes=st.sets(st.sampled_from(sorted(AXES))).map(lambda names: {name: AXES[name] for name in names}),
    base=st.builds(LockedBase, name=_words, release=_text, date=_text, include=st.lists(_words, max_size=3).map(tuple)),
    held=st.builds(Lock, torch=_layers, companions=_layers, tools=_layers),
)
def test_any_lock_is_read_as_it_was_written(image, axes, base, held):
    lock = lock_file(image, axes, base, held)

    assert parse(render(lock).encode()) == lock


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_bytes_that_are_no_lock_are_refused(data):
    with pytest.raises(ValueError):
        parse(data)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("schema = 1", "schema = 2", "its schema is 2"),
        ('version = "2.13.0+cpu"', 'version = "../x"', "matching regex"),
        ("torch-2.13.0+cpu-py3-none-any.whl", "/etc/passwd.whl", "matching regex"),
        ('name = "numpy"', 'name = "numpy"\nurl = "https://evil.example"', "url"),
        ('image = "', '<<<<<<< HEAD\nimage = "', "line 3"),
        ('version = "2.13.0+cpu"', 'version = "x"', "`x` is no version of torch"),
        ('name = "numpy"', 'name = "numpy-"', "`numpy-` is no name of a package"),
        ('name = "torch"', 'name = "tOrch"', "`tOrch` is written `torch`"),
        ('torch_build = "cpu"', 'torch_build = "gpu"', "`gpu` is not a value of `torch_build`"),
        ('torch_build = "cpu"', 'torch_built = "cpu"', "no axis is named `torch_built`"),
        ('name = "numpy"', 'name = "numpy\\n"', "matching regex"),
        (f'sha256 = "{hashlib.sha256(b"numpy").hexdigest()}"', "", "missing required field `sha256`"),
        ("adduser=3.134", "adduser", "matching regex"),
        (hashlib.sha256(b"numpy").hexdigest(), "0" * 63, "matching regex"),
    ],
)
def test_a_lock_that_was_edited_into_another_thing_is_refused_with_its_reason(tmp_path, old, new, why):
    content = render(made())
    assert old in content
    place_of_lock(tmp_path, "x").write_text(content.replace(old, new))

    with pytest.raises(InputError, match="is no lock") as caught:
        read_lock(tmp_path, "x")

    assert why in str(caught.value)
    assert str(place_of_lock(tmp_path, "x")) in str(caught.value)


def test_a_file_without_end_is_refused():
    with pytest.raises(ValueError, match="larger than 1 MiB"):
        parse(b"#" * (2 << 20))


def test_a_lock_is_written_once(tmp_path: Path):
    folder = tmp_path / "images/locks"

    assert read_lock(folder, made().image) is None
    assert write_lock(folder, made()) is True
    assert write_lock(folder, made()) is False
    assert read_lock(folder, made().image) == made()
    assert [path.name for path in folder.iterdir()] == ["torch2.13.0-cpu-py3.11-12345678.lock.toml"]
    assert place_of_lock(folder, made().image).stat().st_mode & 0o777 == 0o644


def test_a_folder_tells_what_it_holds_and_what_it_cannot_read(tmp_path: Path):
    write_lock(tmp_path, made())
    place_of_lock(tmp_path, "broken").write_text("<<<<<<<")
    (tmp_path / "README.md").write_text("no lock")
    held = held_in(tmp_path)

    assert list(held.locks) == [made().image]
    assert list(held.unreadable) == ["broken"]
    assert held_in(tmp_path / "nowhere").locks == {}
