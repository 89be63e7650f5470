import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from latency.benchmark.benchmark import (
    CALLS,
    INDEX,
    SCHEMA,
    AblationEffect,
    Benchmark,
    Callers,
    difference,
    usually_finished,
    worth,
)
from latency.benchmark.row import BenchmarkRow, ComparedTurns, CutOffs, Interruptions, sounds_finished
from latency.benchmark.tables import write
from latency.record.json_form import from_json
from latency.record.run import RunError, RunHeader
from latency.record.run_writer import RunWriter
from latency.record.session import Session
from latency.record.turn import EndedBy, SmartTurnOpinion, TurnRecord
from latency.report.stats import Distribution, compare
from tests.latency.conversations import Conversation

HEADER = RunHeader(created="2026-11-20T17:03:12+01:00", simulated=["sim:steady at http://x", "scripted:whisper (int8)"])
TURNS = 9
"""With the first one, which is cold."""


def request(outcome: str = "completed", **more: Any) -> dict[str, Any]:
    return {"outcome": outcome, "warm_up": False, **more}


def write_run(
    folder: Path,
    waits: Sequence[float | None],
    *,
    calls: dict[str, Any],
    pacing: dict[str, Any] | None = None,
) -> None:
    """A run of one session: a turn each ten seconds, answered after a wait in seconds or not at all."""
    talk = Conversation(10.0 * len(waits))
    turns = []
    for number, wait in enumerate(waits):
        start = 10.0 * number + 1
        talk.user(start, start + 1)
        if wait is not None:
            talk.bot(start + 1 + wait, start + 3 + wait)
        turns.append(
            TurnRecord(session="a-1", scenario="a", turn=number, speech=((start, start + 1),), wants_answer=True,
                       cold=number == 0)
        )  # fmt: skip
    writer = RunWriter(folder, header=HEADER)
    writer.add_turns(turns)
    wav = writer.write_session_wav("a-1", talk.samples)
    server = {"cpu_cores": 0.25, "rss_mb": 300.0, "rss_peak_mb": 410.0}
    entry = {"name": "a-1", "wav": wav, "seconds": 90.0, "server": server, "pacing": pacing}
    writer.add_session(from_json(Session, entry))
    writer.finish("complete")
    (folder / CALLS).write_text(json.dumps({"session": "a-1", "turn_ends": [], "requests": [], **calls}) + "\n")


def write_index(folder: Path, *runs: dict[str, Any], **more: Any) -> None:
    told = {"schema": SCHEMA, "created": "now", "baseline": "stock", "rounds": 1, "fixtures": ["a"], "host": {},
            "callers": {"turns": 9, "speakers": ["ann"], "fitted": []}}  # fmt: skip
    entries = [
        {"llm": "450:65", "about": "", "set": [], "without": None, "of": None, "repeated": [], **run} for run in runs
    ]
    (folder / INDEX).write_text(json.dumps({**told, "skipped": {}, **more, "runs": entries}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Ours answers each turn in half the time of the stock bot, which leaves the last one unanswered."""
    write_run(
        tmp_path / "ours",
        [0.9, *([0.6, 0.8] * 4)],
        calls={"requests": [*[request()] * 10, request("cancelled"), request("cancelled"), request(warm_up=True)]},
    )
    write_run(tmp_path / "stock", [1.9, *([1.2, 1.6] * 3), 1.2, None], calls={"requests": [request()] * 8})
    write_index(tmp_path, {"variant": "ours", "folder": "ours"}, {"variant": "stock", "folder": "stock"})
    return tmp_path


def test_rows_are_derived_from_the_folder_alone(folder: Path) -> None:
    found = Benchmark.load(folder)
    ours, stock = found.rows
    assert (ours.turn_ms.n, ours.expected, ours.answered, ours.unanswered) == (TURNS - 1, TURNS, TURNS, {})
    assert ours.turn_ms.p50 == pytest.approx(700, abs=3), "the cold turn is not in it"
    assert (stock.turn_ms.n, stock.unanswered) == (TURNS - 2, {"no speech from the bot": 1})
    assert (stock.turn_ms.total, stock.tally.turns) == (TURNS - 1, TURNS - 1), "the unanswered turn counts as late"
    assert stock.turn_ms.p95 is None
    assert (ours.cpu_s_per_minute, ours.rss_peak_mb) == (15.0, 410.0)
    assert ours.cpu_s_per_answer == 2.5, "22.5 s of CPU in 90 s of conversation, nine answers"
    assert ours.refused is None
    assert ours.simulated == ["scripted:whisper", "sim:steady"]


def test_latencies_are_compared_on_the_turns_that_both_answered(folder: Path) -> None:
    found = Benchmark.load(folder)
    ours, stock = found.rows
    ratio = found.ratio(ours)
    assert ratio is not None
    assert (ratio.n, ratio.value) == (TURNS - 2, pytest.approx(0.5, abs=0.003))
    assert ratio.interval is None, "seven turns are too few for one"
    assert (itself := found.ratio(stock)) is not None
    assert itself.value == 1.0


def test_speakers_in_the_fit_are_shown_apart_from_others(folder: Path) -> None:
    assert Benchmark.load(folder).by_fit(Benchmark.load(folder).rows[0]) is None, "nobody is in it"
    callers = {
        "turns": 9,
        "speakers": ["ann", "bob"],
        "fitted": ["bob"],
        "fitted_turns": [["a", n] for n in (1, 3, 5, 7)],
    }
    write_index(folder, {"variant": "ours", "folder": "ours"}, {"variant": "stock", "folder": "stock"}, callers=callers)
    found = Benchmark.load(folder)
    halves = found.by_fit(found.rows[0])
    assert halves is not None
    assert [half.n for half in halves] == [4, 4]
    assert [half.p50 for half in halves] == [pytest.approx(800, abs=3), pytest.approx(600, abs=3)]
    late = found.by_fit(found.rows[1])
    assert late is not None
    assert [(half.total, half.unanswered) for half in late] == [(4, 1), (4, 0)]
    printed = StringIO()
    write(found, printed)
    assert "Speakers outside the fit" in printed.getvalue()
    assert "Speakers that endpointing was fitted to" in printed.getvalue()


def test_the_index_names_the_piece_that_an_agent_lacks(folder: Path) -> None:
    write_index(
        folder,
        {"variant": "ours", "folder": "ours"},
        {"variant": "slow", "folder": "stock", "without": "hint", "of": "ours"},
    )
    found = Benchmark.load(folder)
    assert [row.without for row in found.rows] == [None, "hint"]
    piece = worth(found, found.rows[1])
    assert piece is not None
    assert piece.p50_ms == pytest.approx(600, abs=5), "1200 against 600 ms"
    assert piece.cpu_s_per_minute == 0.0


def test_requests_beyond_one_for_each_answered_turn_are_wasted(folder: Path) -> None:
    ours, stock = Benchmark.load(folder).rows
    assert ours.requests is not None
    assert (ours.requests.n, ours.requests.cancelled, ours.requests.wasted_share) == (12, 2, 0.25)
    assert stock.requests is not None
    assert stock.requests.wasted_share == 0.0


def test_an_answer_to_a_turn_that_the_agent_took_for_finished_too_early_is_no_fast_one(folder: Path) -> None:
    ends = [11.5, 31.5, 32.2, 42.2]  # turns start at 1, 11, 21 ... and last a second
    write_run(folder / "hasty", [0.9, 0.1, 0.6, 0.4, *[0.5] * 5], calls={"turn_ends": ends})
    write_index(folder, {"variant": "ours", "folder": "hasty"})
    (row,) = Benchmark.load(folder).rows
    assert row.tally.cut_off == {("a", "a-1", 1)}, "turn 3 was taken for finished once more, after its true end"
    assert sorted(number for _, _, number in row.tally.latencies) == [2, 3, 4, 5, 6, 7, 8]
    assert row.cut_offs.elsewhere == 2


def test_intervals_draw_recordings(folder: Path) -> None:
    repeated = {("a", f"a-{round_}", turn): 1.0 + turn / 10 for turn in range(8) for round_ in range(20)}
    single = {("a", "a-1", turn): 1.0 + turn / 200 for turn in range(160)}
    few, many = (ComparedTurns(latencies=found).distribution() for found in (repeated, single))
    assert (few.n, many.n) == (160, 160)
    assert few.p50_ci is not None
    assert many.p50_ci is not None
    assert few.p50_ci[1] - few.p50_ci[0] > 2 * (many.p50_ci[1] - many.p50_ci[0]), "eight recordings say less"
    late = ComparedTurns(latencies=single, unanswered=frozenset({("a", "a-1", 200)})).distribution()
    assert (late.total, late.p95_ci is None) == (161, False)
    assert ComparedTurns(latencies=repeated).distribution(only={("a", 0)}).p50 == 1000.0


def test_words_are_finished_where_our_agent_said_so_in_most_rounds() -> None:
    turns = {("a", f"a-{round_}", turn): 1.0 for turn in range(2) for round_ in range(3)}
    finished = {("a", "a-0", 0), ("a", "a-1", 0), ("a", "a-2", 1)}
    assert usually_finished(ComparedTurns(latencies=turns, finished=frozenset(finished))) == {("a", 0)}


def test_without_the_baseline_there_is_no_ratio(folder: Path) -> None:
    write_index(folder, {"variant": "ours", "folder": "ours"})
    found = Benchmark.load(folder)
    assert found.ratio(found.rows[0]) is None


def test_a_run_not_sent_in_real_time_is_refused(folder: Path) -> None:
    late = {"frames": 100, "late_over_20ms": 50, "late_max_ms": 90.0, "clock_ratio": 1.0}
    write_run(folder / "late", [0.5, 0.5], calls={}, pacing=late)
    repeated = [{"session": "a-1", "why": "late"}]
    write_index(folder, {"variant": "ours", "folder": "late", "repeated": repeated})
    (row,) = Benchmark.load(folder).rows
    assert row.refused is not None
    assert "50.0 % of the audio frames" in row.refused
    assert row.repeated == 1


def test_repetitions_of_a_recording_are_drawn_together() -> None:
    few = {("a", f"a-{round_}", turn): 1.0 + turn / 10 for turn in range(3) for round_ in range(20)}
    many = {("a", "a-1", turn): 1.0 + turn / 100 for turn in range(60)}
    rare = compare(few, {key: 2.0 for key in few})
    common = compare(many, {key: 2.0 for key in many})
    assert rare is not None
    assert (rare.n, rare.interval) == (60, None), "60 latencies, but of three recordings"
    assert common is not None
    assert common.interval is not None
    assert common.interval[0] < common.value < common.interval[1]
    assert compare(few, {}) is None


def test_what_is_no_benchmark_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="is not a benchmark"):
        Benchmark.load(tmp_path)
    (tmp_path / INDEX).write_text(json.dumps({"schema": SCHEMA}))
    with pytest.raises(RunError, match="is not a benchmark's index"):
        Benchmark.load(tmp_path)
    (tmp_path / INDEX).write_text('{"schema": 1}')
    with pytest.raises(RunError, match="was written by another version of latency bench"):
        Benchmark.load(tmp_path)


@pytest.mark.parametrize(
    ("ended_by", "finished", "expected"),
    [("smart_turn", None, True), ("fallback", 0.5, True), ("fallback", 0.49, False), ("fallback", None, False)],
)
def test_words_are_finished_if_the_turn_was_more_likely_over_than_not(
    ended_by: EndedBy, finished: float | None, expected: bool
) -> None:
    opinion = SmartTurnOpinion(probability=0.5, ms=50.0, finished=finished)
    turn = TurnRecord(session="a", turn=0, scenario="a", wants_answer=False, ended_by=ended_by, smart_turn=opinion)
    assert sounds_finished(turn) is expected


OURS = [0.50, 0.60, 0.70, 0.80, 0.90, 1.00, 1.10, 1.20, 1.30]

CALLERS = Callers(turns=10, speakers=("ann",), fitted=())
NO_SOUNDS = {"went_on": 0, "resumed": 0, "stopped": 0, "silent": 0}
NO_BARGE_INS = Interruptions(stopped=0, ended=0, ignored=0, missed=0, unplayed=0, stop_ms=Distribution.of([]))


def a_row(
    seconds: list[float], *, variant: str = "ours", without: str | None = None, of: str | None = None,
    llm: str = "450:65", per_minute: float | None = 12.0, per_answer: float | None = 2.0,
) -> BenchmarkRow:  # fmt: skip
    latencies = {("a", "a-1", turn): value for turn, value in enumerate(seconds)}
    return BenchmarkRow(
        llm=llm, variant=variant, about="", settings=(), without=without, of=of, run=Path(variant), calls=1,
        tally=ComparedTurns(latencies=latencies), expected=len(seconds), answered=len(seconds), unanswered={},
        cut_offs=CutOffs(pauses=0, in_pauses=0, elsewhere=0, heard=0), broken_off=0, interruptions=NO_BARGE_INS,
        sounds=NO_SOUNDS,
        requests=None, cpu_s_per_minute=per_minute, cpu_s_per_answer=per_answer, rss_peak_mb=None, simulated=[],
        refused=None, repeated=0,
    )  # fmt: skip


def lacking(seconds: list[float], **more: Any) -> BenchmarkRow:
    return a_row(seconds, variant="ours-no-hint", without="hint", of="ours", **more)


def found(without: BenchmarkRow, ours: BenchmarkRow | None = None) -> AblationEffect:
    result = difference(without, ours or a_row(OURS))
    assert result is not None
    return result


def test_a_piece_that_saves_time_has_a_price_per_millisecond() -> None:
    one = found(lacking([value + 0.2 for value in OURS], per_minute=9.5, per_answer=1.5))
    assert (one.n, one.p50_ms, one.p95_ms) == (9, 200.0, 200.0)
    assert one.p50_ci == one.p95_ci == (200.0, 200.0), "each turn was later by the same"
    assert one.cpu_s_per_minute == -2.5
    assert one.cpu_ms_per_ms_saved == 2.5, "500 ms of CPU an answer, for 200 ms"


def test_percentiles_are_compared_each_with_its_own() -> None:
    one = found(lacking([*OURS[:-1], 2.3]))
    assert (one.p50_ms, one.p95_ms) == (0.0, 600.0), "the last turn alone is later, by 1000 ms"
    assert one.p95_ci is not None
    assert one.p95_ci[0] < one.p95_ms <= one.p95_ci[1]


@pytest.mark.parametrize(
    ("later", "per_answer"),
    [(-0.1, 1.5), (0.0, 1.5), (0.2, 2.0), (0.2, 2.5), (0.2, None)],
    ids=["it costs latency", "it saves none", "it costs no CPU", "it saves CPU, too", "CPU unknown"],
)
def test_what_saves_no_time_or_costs_no_cpu_has_no_price(later: float, per_answer: float | None) -> None:
    one = found(lacking([value + later for value in OURS], per_answer=per_answer))
    assert one.p50_ms == pytest.approx(later * 1000)
    assert one.cpu_ms_per_ms_saved is None


def test_only_turns_that_both_answered_are_compared() -> None:
    one = found(lacking([0.6, 0.7]))
    assert (one.n, one.p50_ms, one.p50_ci) == (2, pytest.approx(100), None)
    assert difference(lacking([]), a_row(OURS)) is None


def test_only_an_agent_without_a_piece_is_compared_with_ours_on_the_same_model() -> None:
    rows = [
        a_row(OURS),
        a_row(OURS, llm="100:1000"),
        lacking([value + 0.2 for value in OURS]),
        a_row([value / 2 for value in OURS], variant="ours-adaptive"),
    ]
    benchmark = Benchmark(
        folder=Path("bench"),
        created="",
        baseline="stock",
        rounds=1,
        fixtures=["a"],
        callers=CALLERS,
        host={},
        skipped={},
        rows=rows,
    )
    assert [worth(benchmark, row) is not None for row in rows] == [False, False, True, False]
    other = a_row(OURS, variant="ours-no-hint", without="hint", llm="7:7")
    assert worth(benchmark, other) is None
