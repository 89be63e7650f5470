from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from latency.record.run import Run
from latency.render.headline import headline, histogram
from latency.report.report import Report, build
from latency.report.stats import Distribution


@pytest.fixture
def report(short_run: Path, load: Callable[[Path], Run]) -> Report:
    return build(load(short_run))


def lines(report: Report) -> list[str]:
    return [text for text, _ in headline(report)]


def test_latencies_are_compared_with_400_and_800_ms(report: Report) -> None:
    assert lines(report) == [
        f"Turnaround: {report.run}",
        "",
        "Turn latency  p50 never  p95 never  max never ms; 1 of 2 turns within 800 ms, 0 within 400 ms; "
        "3 of 4 answered",
        "Unanswered    1 turn: each counts as later than any limit",
        "Cut off       1 turn: the bot answered too soon, so no latency counts",
    ]


def test_answers_sooner_than_people_give_them_are_counted(report: Report) -> None:
    early = lines(replace(report, quality=replace(report.quality, early=2)))
    assert early[-1] == "Early         2 answers within 200 ms, sooner than people answer"


def test_a_run_without_complaint_has_one_line_of_latencies(report: Report) -> None:
    fine = replace(
        report,
        turn_ms=Distribution.of([0.6, 0.9]),
        turns=replace(report.turns, unanswered={}, answered=4),
        quality=replace(report.quality, cut_offs=0),
    )
    assert lines(fine)[2:] == [
        "Turn latency  p50 750  p95 885  max 900 ms; 1 of 2 turns within 800 ms, 0 within 400 ms; 4 of 4 answered"
    ]


def test_a_refused_run_says_so_before_and_next_to_its_figures(report: Report) -> None:
    why = "the user's audio was not fed in real time (session 'a': 5.0 % of the audio frames left more than 20 ms late)"
    _, second, third, _, figures, *_ = lines(replace(report, refused=why, notes=("this run is not complete",)))
    assert second == f"LATENCIES REFUSED: {why}"
    assert third == "note: this run is not complete"
    assert figures.startswith("Turn latency (refused)  p50 never")


def test_what_is_simulated_is_named_first(report: Report) -> None:
    assert lines(replace(report, simulated=("sim:tier", "scripted:asr")))[1] == (
        "SIMULATED, not real: sim:tier, scripted:asr"
    )


def test_what_the_figures_rest_on_is_said_before_them(report: Report) -> None:
    spoken = [replace(one, turn=replace(one.turn, speaker="sim:flite rms")) for one in report.outcomes]
    (session,) = report.sessions
    tour = replace(report, sessions=(replace(session, outcomes=tuple(spoken)),))
    header = replace(tour.header, components={"llm": "responder (no language model)"})
    embedded, model = replace(tour, header=header), replace(tour.header, components={"llm": "gpt-4.1"})
    assert lines(embedded)[1] == "Rests on      1 synthetic caller, a closed set of requests, no language model"
    assert lines(replace(tour, header=model))[1] == "Rests on      1 synthetic caller"
    mixed = [replace(spoken[0], turn=replace(spoken[0].turn, speaker="ann")), *spoken[1:]]
    some = replace(tour, sessions=(replace(session, outcomes=tuple(mixed)),))
    assert lines(some)[1] == "Rests on      1 synthetic of 2 callers"


def test_a_phrase_that_bridges_sets_the_answer_apart(report: Report) -> None:
    (last,) = [
        line for line in lines(replace(report, llm=replace(report.llm, phrases={"hold": 1}))) if "phrases" in line
    ]
    assert last.startswith("First answer  p50 never")
    assert last.endswith("1 of 2 within 800 ms, 0 within 400 ms (without phrases)")


def test_bars_are_split_at_800_ms_and_the_edge_belongs_to_the_left() -> None:
    bars, scale = histogram([0.8, 0.8, 0.801, 5.0])
    left, right = bars[2:].split("│")
    assert len(left) == 16
    assert left == " " * 15 + "█"
    assert right[0] == "▄"
    assert right[-1] == "▄"
    assert scale.index("800") == bars.index("│") + 1


def test_latencies_at_and_around_zero_fall_into_the_first_bar() -> None:
    assert histogram([0.0, 0.001, 0.05])[0][2] == "█"


def test_nothing_is_drawn_without_samples() -> None:
    assert histogram([]) == []
