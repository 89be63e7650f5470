"""The figures of a load test, from calls whose answers and drop-outs are known."""

from pathlib import Path

import pytest

from latency.record.load_test import ObservedLoad, PlacedCall, ServerSample
from latency.record.run import Run, RunError
from latency.record.run_writer import RunWriter
from latency.record.session import Session
from latency.record.turn import TurnRecord
from latency.report.checks import Check
from latency.report.load_test import LoadFigures, load_figures
from latency.report.report import Report, build
from tests.latency.conversations import HEADER, Conversation

SECONDS = 8.0
"""Of each call: a question from 1 to 2 s and an answer."""


def call(caller: int, began: float, *, session: str = "", **more: str) -> PlacedCall:
    return PlacedCall(caller=caller, session=session or f"call-{caller}", began=began, ended=began + SECONDS, **more)


def report_of(
    folder: Path,
    calls: list[PlacedCall],
    *,
    slow: tuple[int, ...] = (),
    broken: tuple[int, ...] = (),
    silent: tuple[int, ...] = (),
    samples: tuple[ServerSample, ...] = (),
    checks: tuple[str, ...] = (),
) -> Report:
    """A load test whose callers are answered after 0.5 s; the slow ones after 1.5 s, the broken ones with a hole."""
    writer = RunWriter(folder / "run", header=HEADER)
    for one in calls:
        if one.refused:
            continue
        heard = 3.5 if one.caller in slow else 2.5
        talk = Conversation(SECONDS).user(1, 2)
        if one.caller not in silent:
            talk.bot(heard, heard + 1.5)
        if one.caller in broken:
            talk.silence_bot(heard + 0.5, heard + 0.6)
        turn = TurnRecord(session=one.session, turn=0, speech=((1.0, 2.0),), wants_answer=True)
        writer.add_turns([turn])
        wav = writer.write_session_wav(one.session, talk.samples)
        writer.add_session(Session(name=one.session, wav=wav, seconds=SECONDS))
    observed = ObservedLoad(
        callers=max(one.caller for one in calls),
        ramp=4.0,
        seconds=20.0,
        generator_cpu_seconds=2.0,
        calls=tuple(calls),
        server=samples,
    )
    observed.save(writer.folder)
    writer.finish("complete")
    return build(Run.load(writer.folder), [Check.parse(check) for check in checks])


def figures_of(report: Report) -> LoadFigures:
    assert report.load is not None
    return report.load


def test_each_caller_has_its_own_figures(tmp_path: Path) -> None:
    figures = figures_of(report_of(tmp_path, [call(1, 0), call(2, 1)], slow=(2,), broken=(2,)))
    one, two = figures.by_caller
    assert one.tally.turn_ms.p50 == pytest.approx(500, abs=12)
    assert two.tally.turn_ms.p50 == pytest.approx(1500, abs=12)
    assert (one.tally.drop_outs, two.tally.drop_outs, figures.tally.drop_outs) == (0, 1, 1)
    assert figures.calls == 2
    assert figures.generator_cores == 0.1


def test_a_turn_counts_with_the_calls_that_were_under_way_at_its_end(tmp_path: Path) -> None:
    # The first caller is alone when its turn ends, 2 s after its call began; the second one is not.
    figures = figures_of(report_of(tmp_path, [call(1, 0), call(2, 3)], slow=(2,)))
    alone, together = figures.by_calls_at_once
    assert (alone.calls, together.calls) == (1, 2)
    assert alone.tally.turn_ms.p50 == pytest.approx(500, abs=12)
    assert together.tally.turn_ms.p50 == pytest.approx(1500, abs=12)
    assert (alone.seconds, together.seconds) == (6.0, 5.0)
    assert figures.most_at_once == 2


@pytest.mark.parametrize("what", ["broken", "silent"])
def test_calls_are_sustained_until_an_answer_is_broken_or_missing(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = [call(1, 0), call(2, 3.2)]
    assert figures_of(report_of(tmp_path / "few", calls)).sustained is None
    monkeypatch.setattr("latency.report.load_test.ENOUGH", 1)
    assert figures_of(report_of(tmp_path / "well", calls)).sustained == 2
    kinds = {"broken": (2,)} if what == "broken" else {"silent": (2,)}
    assert figures_of(report_of(tmp_path / "ill", calls, **kinds)).sustained == 1  # type: ignore[arg-type]
    alone = {"broken": (1,)} if what == "broken" else {"silent": (1,)}
    assert figures_of(report_of(tmp_path / "worse", calls, **alone)).sustained is None  # type: ignore[arg-type]


def test_turns_are_compared_with_the_same_recordings(tmp_path: Path) -> None:
    calls = [call(1, 0), call(2, 20), call(3, 40), call(4, 40)]
    rows = figures_of(report_of(tmp_path, calls, slow=(3, 4))).by_calls_at_once
    assert [row.calls for row in rows] == [1, 2]
    assert rows[0].slowdown == pytest.approx(1.0, abs=0.03)
    assert rows[1].slowdown == pytest.approx(3.0, abs=0.1)


def test_a_refused_call_is_counted_and_leaves_no_turn(tmp_path: Path) -> None:
    calls = [call(1, 0), call(2, 0, refused="2 calls are under way")]
    checks = ("calls refused == 0", "calls taken == 1", "calls at_once >= 1")
    report = report_of(tmp_path, calls, checks=checks)
    figures = figures_of(report)
    assert figures.refused == {"2 calls are under way": 1}
    assert (figures.calls, figures.most_at_once) == (1, 1)
    assert [one.verdict for one in report.thresholds] == ["failed", "passed", "passed"]


def test_the_server_is_charged_for_what_it_used(tmp_path: Path) -> None:
    samples = (
        ServerSample(at=0, calls=0, cpu_seconds=10, rss_mb=300),
        ServerSample(at=2, calls=2, cpu_seconds=11, rss_mb=320),
        ServerSample(at=4, calls=2, cpu_seconds=14, rss_mb=340),
        ServerSample(at=8, calls=0, cpu_seconds=14, rss_mb=330),
    )
    figures = figures_of(report_of(tmp_path, [call(1, 0), call(2, 0)], samples=samples))
    assert figures.server is not None
    assert figures.server.cores == 0.5
    assert figures.server.cpu_seconds_per_call_minute == 15.0
    assert (figures.server.idle_mb, figures.server.peak_mb, figures.server.mb_per_call) == (300, 340, 20.0)
    assert [row.server_cores for row in figures.by_calls_at_once] == [1.5]


def test_a_run_without_callers_has_no_such_figures(short_run: Path) -> None:
    report = build(Run.load(short_run), [Check.parse("calls refused == 0")])
    assert report.load is None
    assert report.thresholds[0].verdict == "no data"


def test_a_damaged_file_is_refused_with_one_sentence(short_run: Path) -> None:
    (short_run / "load.json").write_text('{"callers": -1}')
    with pytest.raises(RunError, match=r"load\.json cannot be read \(.*; delete it, or repeat the calls"):
        build(Run.load(short_run))


def test_without_calls_there_is_nothing_sustained() -> None:
    observed = ObservedLoad(callers=1, ramp=0, seconds=0, generator_cpu_seconds=0)
    assert load_figures(observed, []).sustained is None
