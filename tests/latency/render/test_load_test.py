import io
import json
from pathlib import Path

from latency.record.load_test import PlacedCall
from latency.render.load_test import text, write
from latency.report.report import Report
from tests.latency.report.test_load_test import call, report_of


def written(report: Report) -> str:
    file = io.StringIO()
    assert report.load is not None
    write(report, report.load, file)
    return file.getvalue()


def calls() -> list[PlacedCall]:
    return [call(1, 0), call(2, 3), call(3, 3, refused="full"), call(3, 9, session="later", failed="lost")]


def test_the_tables_have_a_row_for_each_caller_and_each_number_of_calls(tmp_path: Path) -> None:
    shown = written(report_of(tmp_path, calls(), broken=(2,), checks=("gaps == 0",)))
    assert "caller  calls  refused  turns" in shown
    lines = [line.split() for line in shown.splitlines()]
    assert ["2", "1", "0", "1", "500", "500", "500", "0", "0", "1"] in lines
    assert ["all", "3", "1", "3", "500", "500", "500", "0", "0", "1"] in lines
    assert "sustained    not known of any number of calls that had 5 turns" in shown
    assert "refused      full 1" in shown
    assert "failed       lost 1" in shown
    assert "server       its processes cannot be seen from here" in shown
    assert "failed       gaps == 0 (is 1)" in shown


def test_programs_get_the_same_figures(tmp_path: Path) -> None:
    report = report_of(tmp_path, calls(), checks=("turn p95 < 800",))
    assert report.load is not None
    found = json.loads(text(report, report.load))
    assert found["callers"] == 3
    assert found["refused"] == {"full": 1}
    assert [one["tally"]["turn_ms"]["n"] for one in found["by_caller"]] == [1, 1, 1]
    assert found["thresholds"][0]["verdict"] == "no data"
    assert found["run"] == report.run


def test_an_unanswered_turn_is_never_fast_enough(tmp_path: Path) -> None:
    shown = written(report_of(tmp_path, calls(), silent=(1, 2), checks=("turn max < 800",)))
    assert "never" in shown
    report = report_of(tmp_path / "json", calls(), silent=(1, 2, 3), checks=("turn max < 800",))
    assert report.load is not None
    assert "Infinity" not in text(report, report.load)
