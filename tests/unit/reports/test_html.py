"""The page: all of the run is in it, and nothing in it can act."""

import re
from collections.abc import Callable
from html.parser import HTMLParser

import msgspec
import pytest

from orchestrator.formats import MetricRow
from orchestrator.model import Run
from orchestrator.reports import html, overview
from orchestrator.vocabulary import Status

Metric = Callable[[str, str], MetricRow]
VOID = {"meta", "br", "hr", "img", "link", "input"}
TAGS = {
    "html", "head", "meta", "title", "style", "body", "header", "main", "footer", "section", "article", "div",
    "span", "p", "h1", "h2", "h3", "small", "b", "a", "br", "code", "pre", "ul", "li", "dl", "dt", "dd", "table",
    "thead", "tbody", "tr", "th", "td", "details", "summary",
}  # fmt: skip


class Page(HTMLParser):
    """The elements of a page as a browser would make them; an element that is not closed is a mistake."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text += data

    def values(self, attribute: str) -> list[str]:
        return [value for _, name, value in self.attributes if name == attribute]


@pytest.fixture
def page(every_status: Run, metric: Metric) -> Page:
    rows = [metric(every_status.plan.cells[0].id, name) for name in ("latency", "bandwidth")]
    return Page(html.report(every_status, rows, "torchmatrix run --resume runs/r1"))


def test_the_page_reads_as_it_always_has(every_status: Run, metric: Metric, golden: Callable[[str, str], None]) -> None:
    golden("report.html", html.report(every_status, [metric(every_status.plan.cells[0].id, "latency")]))


def test_the_hostile_page_reads_as_it_always_has(hostile: Run, golden: Callable[[str, str], None]) -> None:
    golden("hostile.html", html.report(hostile))


def test_it_is_well_formed_and_whole(page: Page) -> None:
    assert page.open == []
    assert page.tags <= TAGS
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {value[1:] for value in page.values("href") if value.startswith("#")} <= set(ids)


def test_every_cell_status_and_reason_is_in_it(every_status: Run, page: Page) -> None:
    for result in every_status.results:
        assert result.id in page.text
        assert result.reason in page.text
    for status in Status:
        assert status.value in page.text
    assert overview.verdict(every_status) in page.text


def test_planned_is_the_sum_over_the_statuses(every_status: Run) -> None:
    source = html.report(every_status)
    totals = re.search(r'<ul class="totals">(.*?)</ul>', source, re.DOTALL)
    assert totals is not None
    planned, *counts = map(int, re.findall(r"<b>(\d+)", totals[1]))
    assert planned == sum(counts) == len(every_status.plan.cells)


def test_each_problem_has_its_line_to_paste(every_status: Run, page: Page) -> None:
    cells = overview.planned(every_status)
    for result in overview.problems(every_status):
        assert overview.rerun(cells[result.id], every_status.plan) in page.text
        assert result.id in page.values("id")


def test_what_a_reader_needs_is_told(page: Page) -> None:
    for told in (
        "ipc=host", "memlock=unlimited", "2.7.1+debian", "2.13.0+cpu", "device 1 reported an Xid 79 before",
        "E  assert 0.031 < 1e-5", "Fatal Python error: Segmentation fault", "latency", "123.5",
        "no machine here has gpu A100", "24 cells are the budget", "met in 1 of 1 cell", "until 2027-03-01",
        "one bundle belongs to no planned cell", "--resume", "attempt 2", "retry",
    ):  # fmt: skip
        assert told in page.text, told


def test_only_an_address_of_the_web_becomes_a_link(page: Page) -> None:
    assert [value for value in page.values("href") if not value.startswith("#")] == ["https://example.org/issues/1"] * 2
    assert "tracker TM-17" in page.text


# reliability row 70: one file, no network
def test_it_loads_nothing(every_status: Run, hostile: Run) -> None:
    for run in (every_status, hostile):
        source = html.report(run)
        page = Page(source)
        policy = "default-src 'none'; style-src 'unsafe-inline'"
        assert ("meta", "content", policy) in page.attributes
        assert source.index(policy) < source.index("<style>")
        assert page.tags <= TAGS
        assert not page.values("src")
        style = "".join(re.findall(r"<style>(.*?)</style>", source, re.DOTALL))
        assert "url(" not in style
        assert "@import" not in style


# reliability row 65, boundary B6
def test_nothing_from_outside_can_act(hostile: Run, metric: Metric) -> None:
    cells = [cell.id for cell in hostile.plan.cells]
    page = Page(html.report(hostile, [metric(cell, cell) for cell in cells]))
    assert page.open == []
    assert page.tags <= TAGS
    assert [name for _, name, _ in page.attributes if name.startswith("on")] == []
    assert {name for _, name, _ in page.attributes} <= {
        "lang", "charset", "http-equiv", "content", "name", "class", "style", "id", "href",
        "rel", "scope", "aria-hidden", "open",
    }  # fmt: skip
    assert {value for value in page.values("href") if not value.startswith("#")} == set()
    assert all(re.fullmatch(r"flex-grow:\d+", value) for value in page.values("style"))
    assert "<script>alert(1)</script>" in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert not set(page.text) & set("\x00\x07\x1b\x9b\u202e\u2066\u061c\u200b\ufeff\u00ad\ud800\uffff")
    page.text.encode()


@pytest.mark.parametrize(
    ("address", "link"),
    [
        ("https://example.org/issues/1", True),
        ("http://example.org", True),
        ("HTTPS://EXAMPLE.ORG", True),
        ("https://example.org/?q=%22><script>", True),  # escaped where it stands
        ("javascript:alert(1)", False),
        ("JaVaScRiPt:alert(1)", False),
        ("java\nscript:alert(1)", False),
        (" javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("vbscript:x", False),
        ("file:///etc/passwd", False),
        ("//example.org", False),
        ("example.org", False),
        ("https:example.org", False),
        ("https://", False),
        ("https://[", False),
        ("https://exa mple\n.org", False),
        ("https://example.org/\u202egpj.exe", False),
        ("", False),
    ],
)
def test_is_link(address: str, link: bool) -> None:
    assert html.is_link(address) is link


def test_a_link_that_breaks_out_of_its_attribute_does_not(every_status: Run) -> None:
    bad = 'https://example.org/"onmouseover="alert(1)'
    results = tuple(msgspec.structs.replace(result, known_issue=bad) for result in every_status.results)
    issue = msgspec.structs.replace(every_status.plan.cells[1].known_issues[0], issue=bad)
    plan = msgspec.structs.replace(
        every_status.plan,
        cells=tuple(msgspec.structs.replace(cell, known_issues=(issue,)) for cell in every_status.plan.cells),
    )
    page = Page(html.report(msgspec.structs.replace(every_status, results=results, plan=plan)))
    assert bad in page.values("href")
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]


def test_more_than_there_is_room_for_is_said(every_status: Run, metric: Metric) -> None:
    cell = every_status.plan.cells[0].id
    page = Page(html.report(every_status, [metric(cell, f"metric-{n}") for n in range(30)]))
    assert "and 6 more in metrics.parquet" in page.text
    results = tuple(
        msgspec.structs.replace(one, counts=msgspec.structs.replace(one.counts, failed=500))
        if one.cases and one.counts.failed
        else one
        for one in every_status.results
    )
    page = Page(html.report(msgspec.structs.replace(every_status, results=results)))
    assert "500 failing cases" in page.text
    assert "and 495 more: junit.xml has all of them" in page.text


def test_the_page_grows_in_step_with_the_cells(every_status: Run) -> None:
    def length(times: int) -> int:
        plan = msgspec.structs.replace(
            every_status.plan,
            cells=tuple(
                msgspec.structs.replace(cell, id=f"{cell.id}-{n}")
                for n in range(times)
                for cell in every_status.plan.cells
            ),
        )
        results = tuple(
            msgspec.structs.replace(one, id=f"{one.id}-{n}") for n in range(times) for one in every_status.results
        )
        return len(html.report(msgspec.structs.replace(every_status, plan=plan, results=results)))

    once, four, eight = length(10), length(40), length(80)
    assert eight - four == pytest.approx(4 / 3 * (four - once), rel=0.02)


def test_a_run_of_nothing_is_a_page_too(every_status: Run) -> None:
    plan = msgspec.structs.replace(every_status.plan, cells=(), left_out=())
    page = Page(html.report(msgspec.structs.replace(every_status, plan=plan, results=(), complete=True, notes=())))
    assert "No cell ran" in page.text
    assert page.open == []
