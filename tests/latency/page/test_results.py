"""Pages of results: a load test and a benchmark, in a real Chromium."""

from pathlib import Path

import pytest
from axe_playwright_python.async_playwright import Axe

from latency.compare.comparison import compare
from latency.page.document import document
from latency.page.file import write_page
from latency.page.results import Results, of_benchmark, of_comparison, of_load
from latency.record.run import Run
from latency.report.report import build
from tests.latency.benchmark.test_tables import a_row, made_up
from tests.latency.compare.written_runs import write_run
from tests.latency.render.test_load_test import calls
from tests.latency.report.test_load_test import report_of
from tests.pipelines.serving.browser import browsing, needs_chromium

HOSTILE = "<img src=x onerror=alert(1)></script><b>"


def load_test(folder: Path) -> Results:
    report = report_of(folder, calls())
    assert report.load is not None
    return of_load(report, report.load)


def comparison(folder: Path) -> Results:
    calls = [[400, 450, 380, 520], [430, 410, 390, 500], [410, 460, 400, 540]]
    later: list[list[int | None]] = [[one + 100 for one in call] for call in calls]
    later[0][0] = None
    runs = (write_run(folder / "a", *calls), write_run(folder / "b", *later))
    return of_comparison(compare(*(build(Run.load(run)) for run in runs)))


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
    assert load_test(tmp_path / "again").head[-1][0].startswith("Made 2026-11-20T17:03:12+01:00")
    assert any(note.startswith("host: 2 CPUs") for note in load_test(tmp_path / "third").notes)
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


def test_a_comparison_has_its_verdict_its_tables_and_both_distributions(tmp_path: Path) -> None:
    found = comparison(tmp_path)
    assert any(
        "it is unknown how many more would be: a turn takes 100 ms longer in B" in line for line, _ in found.head
    )
    assert found.notes[-1].startswith("B: 2026-11-20T17:03:12+01:00")
    (section,) = found.sections
    assert section.plot
    a, b = section.plot.series
    assert (a.points[-1], b.points[-1]) == ((540.0, 100.0), (640.0, 91.67))


@needs_chromium
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("kind", ["load", "benchmark", "comparison"])
async def test_results_are_shown_without_a_fault(tmp_path: Path, kind: str, width: int) -> None:
    made = {"load": lambda: load_test(tmp_path), "benchmark": benchmark, "comparison": lambda: comparison(tmp_path)}
    found = made[kind]()
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
