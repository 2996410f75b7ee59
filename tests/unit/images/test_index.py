"""Where a locked wheel is found: by its hash, in whichever source has it; else the lock is stale, and says of what."""

import hashlib
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from orchestrator.images.failure import StageFailed
from orchestrator.images.index import located, seek
from orchestrator.images.resolve import Wheel
from orchestrator.vocabulary import Cause


def wheel_of(path: Path) -> Wheel:
    name, version = path.name.split("-")[:2]
    return Wheel(
        name=name, version=version, file=path.name, sha256=hashlib.sha256(path.read_bytes()).hexdigest(), url=""
    )


@pytest.fixture
def numpy(wheels: Path) -> Wheel:
    return wheel_of(wheels / "numpy-2.4.6-py3-none-any.whl")


class Index:
    """An index over HTTP: the pages that it answers with, by path, and the requests that it saw."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[int, bytes]] = {}
        self.seen: list[tuple[str, str]] = []
        self.address = ""

    def json(self, project: str, *files: Wheel, sha256: str | None = None) -> None:
        entries = [
            {
                "filename": one.file,
                "url": f"../../files/{one.file}",
                "hashes": {"sha256": one.sha256 if sha256 is None else sha256} if sha256 != "" else {},
            }
            for one in files
        ]
        self.pages[f"/simple/{project}/"] = (200, json.dumps({"files": entries}).encode())


@pytest.fixture
def index() -> Iterator[Index]:
    made = Index()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            made.seen.append((self.path, self.headers.get("Authorization", "")))
            code, content = made.pages.get(self.path, (404, b"no such project"))
            self.send_response(code)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        made.address = f"127.0.0.1:{server.server_port}"
        yield made
        server.shutdown()


@pytest.fixture
def indexed(index, with_site):
    return with_site(indexes={"": f"http://me:secret@{index.address}/simple"}, find_links=())


def test_a_file_is_found_in_a_folder(numpy, wheels, site):
    (found,) = located([numpy], "cpu", site)

    assert found == replace(numpy, url=(wheels / numpy.file).as_uri())


def test_a_file_is_found_by_its_hash_on_a_json_page_with_the_login_and_without_keeping_it(numpy, index, indexed):
    index.json("numpy", numpy)
    (found,) = located([numpy], "cpu", indexed)

    assert found.url == f"http://{index.address}/files/{numpy.file}"
    assert index.seen == [("/simple/numpy/", "Basic bWU6c2VjcmV0")]


def test_names_are_asked_for_as_indexes_write_them(numpy, index, indexed):
    strange = replace(numpy, name="Typing_Extensions.x")
    index.json("typing-extensions-x", strange)

    assert located([strange], "cpu", indexed)[0].url


def test_a_file_is_found_on_an_html_page_of_a_folder_index(numpy, tmp_path, with_site):
    page = tmp_path / "simple/numpy/index.html"
    page.parent.mkdir(parents=True)
    page.write_text(
        f'<a href="../../files/{numpy.file}#sha256={"0" * 64}">x</a><a>no link</a>'
        f'<base href="../../other/"><a href="{numpy.file.replace("+", "%2B")}#sha256={numpy.sha256}">y</a>'
    )
    site = with_site(extra_indexes=((tmp_path / "simple").as_uri(),), find_links=())

    assert located([numpy], "cpu", site)[0].url == (tmp_path / "other" / numpy.file).as_uri()


def test_a_later_source_with_the_locked_file_comes_before_an_earlier_one_with_another(numpy, index, indexed, wheels):
    index.json("numpy", numpy, sha256="0" * 64)
    site = replace(indexed, find_links=(str(wheels),))

    assert located([numpy], "cpu", site)[0].url == (wheels / numpy.file).as_uri()


def test_a_place_that_tells_no_hash_is_taken_and_checked_later(numpy, index, indexed):
    index.json("numpy", numpy, sha256="")

    assert located([numpy], "cpu", indexed)[0].url.endswith(numpy.file)


def test_a_file_that_is_gone_is_a_stale_lock_that_names_it(numpy, index, indexed):
    gone = [replace(numpy, name=f"p{number}", file=f"p{number}-1.whl") for number in range(5)]
    with pytest.raises(StageFailed) as caught:
        located([numpy, *gone], "cpu", indexed)

    failure = caught.value.of("image")
    assert failure.cause is Cause.LOCK_STALE
    assert f"numpy 2.4.6 is locked, and this site has no {numpy.file} any more" in failure.reason
    assert "and 3 more" in failure.reason
    assert failure.reason.endswith("`torchmatrix lock --upgrade` renews the lock")
    assert "p4-1.whl" in failure.log_tail


def test_a_file_with_another_hash_is_a_stale_lock_that_names_both(numpy, index, indexed):
    index.json("numpy", numpy, sha256="f" * 64)
    with pytest.raises(
        StageFailed, match=f"is not the file that was locked: SHA-256 {'f' * 64}, not {numpy.sha256}"
    ) as caught:
        located([numpy], "cpu", indexed)

    assert caught.value.why is Cause.LOCK_STALE


@pytest.mark.parametrize(
    "answer",
    [
        (503, b""),
        (200, b'{"meta": 1}'),
        (200, b'{"files": [1]}'),
        (401, b""),
        (403, b""),
        (500, b""),
        (200, b'{"files":' + b"[" * 100_000),
        (200, b'<a href="http://[">'),
    ],
)
def test_an_index_in_trouble_is_not_a_stale_lock_and_its_login_is_not_told(numpy, index, indexed, answer):
    index.pages["/simple/numpy/"] = answer
    with pytest.raises(StageFailed, match=r"cannot look for numpy 2\.4\.6") as caught:
        located([numpy], "cpu", indexed)

    assert caught.value.why is Cause.BUILD
    assert caught.value.log.startswith(f"http://{index.address}/simple/ did not answer: ")
    assert "did not answer" in caught.value.fact
    assert "secret" not in caught.value.log + str(caught.value)


def test_an_index_that_is_not_there_is_trouble(numpy, with_site):
    (sought,) = seek([numpy], "cpu", with_site(indexes={"": "http://127.0.0.1:9/simple"}, find_links=()))

    assert not sought.found
    assert sought.trouble.startswith("http://127.0.0.1:9/simple/ did not answer: ")


@pytest.mark.parametrize(
    "page",
    [
        b'{"files": [{"filename": "x", "url": "http://[hunt/x"}]}',
        b'{"files": [{"filename": "x", "url": "http://\xe2\x84\x80hunt/x"}]}',
        b'{"hunt": []}',
        b'<a href="http://[hunt/x">x</a>',
        b"<![hunt",
    ],
)
def test_no_word_of_a_page_that_cannot_be_read_is_told(numpy, index, indexed, page):
    index.pages["/simple/numpy/"] = (200, page)
    (sought,) = seek([numpy], "", indexed)
    assert not sought.found
    assert "hunt" not in f"{sought.trouble} {sought.why}"


def test_a_hash_that_is_none_is_of_another_file_and_is_not_told(numpy, index, indexed):
    index.json("numpy", numpy, sha256="hunt")
    with pytest.raises(StageFailed) as caught:
        located([numpy], "", indexed)
    assert caught.value.why is Cause.LOCK_STALE
    assert f"SHA-256 (not 64 hex digits), not {numpy.sha256}" in str(caught.value)
    assert "hunt" not in f"{caught.value} {caught.value.log}"


@pytest.mark.parametrize("code", [404, 410])
def test_an_index_that_answers_that_it_has_no_such_project_makes_a_lock_stale(numpy, index, indexed, code):
    index.pages["/simple/numpy/"] = (code, b"")
    (sought,) = seek([numpy], "cpu", indexed)

    assert (sought.found, sought.trouble) == (False, "")


def test_another_file_of_the_name_is_no_answer_while_an_index_is_silent(numpy, index, indexed):
    index.json("numpy", numpy, sha256="f" * 64)
    (sought,) = seek([numpy], "cpu", replace(indexed, extra_indexes=("http://127.0.0.1:9/simple",)))

    assert sought.trouble.startswith("http://127.0.0.1:9/simple/ did not answer: ")


@pytest.mark.parametrize("kind", ["find_links", "extra_indexes"])
def test_a_folder_that_is_not_there_has_not_answered(numpy, tmp_path, with_site, kind):
    nowhere = (tmp_path / "not-mounted").as_uri()
    (sought,) = seek([numpy], "cpu", with_site(**{"find_links": (), kind: (nowhere,)}))

    assert "not-mounted" in sought.trouble
    assert sought.trouble.endswith("did not answer: there is no such folder")


def test_a_place_of_an_unknown_kind_hides_no_other_and_is_told(numpy, with_site):
    (sought,) = seek([numpy], "cpu", with_site(find_links=("ftp://files.example/wheels",)))

    assert "`ftp:` is no place to fetch wheels from" in sought.trouble


def test_nothing_sought_asks_nothing(site):
    assert located([], "cpu", site) == ()
