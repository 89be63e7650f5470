import base64
from pathlib import Path

import numpy as np
import pytest

from latency.page.record import GROUPS, Page, page_of
from latency.record.contributions import CONTRIBUTIONS
from latency.record.run import Run, RunHeader
from latency.record.session import Pacing
from latency.report.report import build
from tests.latency.conversations import SESSION, Conversation, MakeRun, first_turn, unanswered_turn


def page(folder: Path) -> Page:
    run = Run.load(folder)
    return page_of(build(run), run.recording)


def test_a_turn_has_its_verdict_its_words_and_its_reason(short_run: Path) -> None:
    first, cut_off, barge_in, unanswered = page(short_run).turns
    assert (first.id, first.ms, first.verdicts, first.cold) == ("turn-0", 600.0, ("within 800 ms",), False)
    assert ("heard", "what is seven times eight") in first.words
    assert first.why.startswith("600 ms: ")
    assert cut_off.verdicts == ("cut off", "wrong answer")
    assert barge_in.verdicts == ("within 800 ms", "barge-in")
    assert unanswered.verdicts == ("not answered", "wrong answer")
    assert unanswered.why == "no answer: nothing heard"
    assert unanswered.counts
    assert [turn.counts for turn in (first, cut_off, barge_in)] == [True, False, False]


def test_a_turn_is_rounded_as_the_headline_is(make_run: MakeRun) -> None:
    page = page_of(build(Run.load(make_run([first_turn()], None))), lambda _: None)
    assert [turn.shown for turn in page.turns] == ["" if turn.ms is None else f"{turn.ms:.0f}" for turn in page.turns]


def test_the_waterfall_is_that_of_latency_turn(short_run: Path) -> None:
    turn = page(short_run).turns[0]
    rows = {row.label: row for row in turn.rows}
    assert (rows["endpointing wait"].group, rows["endpointing wait"].waited) == ("turn end", 200)
    assert rows["speech synthesis"].bars[-1] == (330, 500, "path")
    assert (rows["user"].group, rows["bot"].group, rows["responder"].group) == ("user", "bot", "request")
    assert sum(row.waited or 0 for row in turn.rows) == 600
    assert turn.marks["turn commit"] == 250


def test_every_stage_belongs_to_a_part_of_the_agent() -> None:
    assert set(GROUPS) == set(CONTRIBUTIONS)


def test_the_waveform_is_loud_where_each_side_speaks(short_run: Path) -> None:
    sound = page(short_run).turns[0].sound
    assert sound
    assert (sound.start, sound.end) == (-1500, 2500)
    user, bot = (np.frombuffer(base64.b64decode(side), np.uint8) for side in (sound.user, sound.bot))
    at = np.linspace(sound.start, sound.end, len(user), endpoint=False)
    assert (user[(at > -950) & (at < -50)] > 10).all()
    assert (bot[(at > 650) & (at < 1950)] > 10).all()
    assert not user[at > 50].any()
    assert not bot[at < 550].any()


def test_a_run_without_a_recording_has_turns_without_sound(make_run: MakeRun) -> None:
    found = page(make_run([first_turn(), unanswered_turn()], None))
    assert [(turn.sound, turn.verdicts[0]) for turn in found.turns] == [(None, "unknown")] * 2
    assert ("note: ", "yellow") not in found.doubts
    assert found.figures[0].value == "-"


def test_the_headline_names_simulated_parts_and_a_turn_without_an_answer_is_later_than_any(make_run: MakeRun) -> None:
    header = RunHeader(created="2026-11-20T17:03:12+01:00", simulated=["sim:sonnet"])
    talk = Conversation(24).user(1, 2).bot(2.6, 4).user(15, 16)
    found = page(make_run([first_turn(), unanswered_turn()], talk.samples, header=header, **SESSION))
    assert found.doubts[0] == ("SIMULATED, not real: sim:sonnet", "bold magenta")
    slowest = next(figure for figure in found.figures if figure.name == "slowest")
    assert (slowest.value, slowest.note, slowest.state) == ("never", "a turn got no answer", "late")


@pytest.mark.parametrize("late", [0, 50])
def test_figures_that_are_refused_are_marked_so(make_run: MakeRun, late: int) -> None:
    pacing = Pacing(frames=1000, late_over_20ms=late, late_max_ms=30.0, clock_ratio=1.0)
    talk = Conversation(24).user(1, 2).bot(2.6, 4)
    found = page(make_run([first_turn()], talk.samples, **SESSION, pacing=pacing))
    assert (found.figures[0].name, found.figures[0].value) == ("median", "600")
    assert found.figures[0].state == ("refused" if late else "")
