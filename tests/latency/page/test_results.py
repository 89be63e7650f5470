"""Pages of results: a load test and a benchmark, in a real Chromium."""

from pathlib import Path

import pytest
from axe_playwright_python.async_playwright import Axe

from latency.page.document import document
from latency.page.file import write_page
from latency.page.results import Results, of_benchmark, of_load
from tests.latency.benchmark.test_tables import a_row, made_up
from tests.latency.render.test_load_test import calls
from tests.latency.report.test_load_test import report_of
from tests.pipelines.serving.browser import browsing, needs_chromium

HOSTILE = "<img src=x onerror=alert(1)></script><b>"


def load_test(folder: Path) -> Results:
    report = report_of(folder, calls())
    assert report.load is not None
    return of_load(report, report.load)


def benchmark() -> Results:
    return of_benchmark(made_up(a_row("ours", 0.5), a_row("stock-pipecat", 1.0), a_row(HOSTILE, 0.7, refused="late")))


def test_a_load_test_has_its_tables_and_latency_by_calls_at_once(tmp_path: Path) -> None:
    at_once, by_caller = load_test(tmp_path).sections
    assert at_once.plot
    assert [(one.name, one.points[0][1]) for one in at_once.plot.series] == [
        ("median", 500.0),
        ("95th percentile", 500.0),
    ]
    assert at_once.tables[0].headings[0] == "at once"
    assert by_caller.tables[0].rows[-1][0] == "all"


def test_a_benchmark_has_its_tables_and_the_distribution_of_each_agent() -> None:
    found = benchmark()
    assert ("SIMULATED, not real: sim:steady", "magenta") in found.head
    (section,) = found.sections
    assert section.title == "Language model: first token after 450 ms, then 65 tokens/s"
    assert section.plot
    ours = section.plot.series[0]
    assert (ours.name, ours.points[1]) == ("ours", (500.0, pytest.approx(9.09)))
    assert ours.points[-1][1] < 91, "a turn without an answer is never answered"
    assert section.tables[0].headings == ("agent", "n", "p50", "p95", "ratio of p50")


@needs_chromium
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("kind", ["load", "benchmark"])
async def test_results_are_shown_without_a_fault(tmp_path: Path, kind: str, width: int) -> None:
    found = load_test(tmp_path) if kind == "load" else benchmark()
    write_page(tmp_path / "page.html", document(found))
    async with browsing((tmp_path / "page.html").as_uri(), None, allowed=False, width=width) as browser:
        page = browser.page
        assert await page.text_content("h1") == found.title
        assert await page.locator("figure svg[role=img]").count() == 1
        assert await page.locator("table").count() == sum(len(section.tables) for section in found.sections)
        assert await page.evaluate("() => document.documentElement.scrollWidth") <= width
        if kind == "benchmark":
            assert f"{HOSTILE} (REFUSED)" in await page.locator("td").all_text_contents()
        violations = (await Axe().run(page)).response["violations"]
        assert [(one["id"], one["impact"]) for one in violations] == []
        assert browser.trouble == []
