import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from latency.record.requests import AnswerPart
from latency.record.run import Run
from latency.record.turn import HangRecord, ServerTurn, TurnRecord
from latency.render.report import write
from latency.report.checks import Check
from latency.report.llm.speculation import Speculation
from latency.report.report import Report, build
from tests.latency.conversations import Conversation, MakeRun, checked_turn


@pytest.fixture
def report(short_run: Path, load: Callable[[Path], Run]) -> Report:
    return build(load(short_run), [Check.parse("cut_offs == 0"), Check.parse("turn_cold p50 < 800")])


def drawn(report: Report) -> str:
    file = io.StringIO()
    write(report, file)
    return file.getvalue()


def test_a_pipe_gets_plain_lines_of_bounded_width(report: Report) -> None:
    text = drawn(report)
    assert "\x1b" not in text
    assert max(len(line) for line in text.splitlines() if "/runs/" not in line) <= 120


def test_no_plain_line_ends_with_a_blank(report: Report) -> None:
    assert [line for line in drawn(report).splitlines() if line != line.rstrip()] == []


def test_a_report_fits_80_columns(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    file = io.StringIO()
    write(replace(report, run="runs/short"), file)
    assert max(map(len, file.getvalue().splitlines())) <= 80
    for part in ("p90", "<= 800", "ok?", "the recogniser's last words"):
        assert part in file.getvalue(), part


def test_everything_a_reader_needs_is_there(report: Report) -> None:
    text = drawn(report)
    for part in (
        "20261120-170312-embedded", "Turn latency  p50 never", "1 of 2 turns within 800 ms", "3 of 4 answered",
        "what is seven times eight", "7 times 8 is 56.", "UNANSWERED: nothing heard", "CUT OFF",
        "bot stopped in 500 ms", "turn detected complete", "answers ok   2 of 4 with a known right answer",
        "0 within 400 ms", "the slowest 2, and why", "700 ms: ", "stalls       unknown",
        "host         2",
        "endpointing wait", "LLM budget   450 ms: within 1", "0.21 CPU cores", "410 MB", "labelled end", "total 4;",
        "failed       cut_offs == 0 (is 1)", "no data      turn_cold p50 < 800", "linear interpolation", "│",
    ):  # fmt: skip
        assert part in text, part


def test_a_single_cold_turn_is_a_sentence_instead_of_tables_of_dashes(
    make_run: MakeRun, load: Callable[[Path], Run]
) -> None:
    def turn(number: int, *, cold: bool) -> TurnRecord:
        start = 1.0 + 10 * number
        return TurnRecord(
            session="commands", turn=number, speech=((start, start + 1),), wants_answer=True, heard="hello", cold=cold
        )

    alone = drawn(build(load(make_run([turn(0, cold=True)], Conversation(8).bot(2.7, 4).samples))))
    assert (
        "Turn latency 700 ms, cold: the only turn that was answered (of 1) was the first of its process; for a warm "
        "figure, replay it with --repeat 2"
    ) in " ".join(alone.split())
    assert "why it took so long" in alone
    for heading in ("stage, ms", "turn cold", "p50 -  p95 -"):
        assert heading not in alone
    both = [turn(0, cold=True), turn(1, cold=False)]
    usual = drawn(build(load(make_run(both, Conversation(18).bot(2.7, 4).bot(12.5, 14).samples))))
    assert "Turn latency  p50 500" in usual
    assert "turn cold" in usual


def test_what_hung_is_named(make_run: MakeRun, load: Callable[[Path], Run]) -> None:
    reason = "the recogniser gave no text for 8 s"
    hang = HangRecord(part="recogniser", at=12.0, seconds=8.0)
    own = ServerTurn(turn=0, final=True, failed=reason, hung=hang)
    turn = TurnRecord(
        session="commands",
        turn=0,
        speech=((1.0, 2.0),),
        wants_answer=True,
        failed=reason,
        hung=hang,
        server_turns=(own,),
    )
    text = " ".join(drawn(build(load(make_run([turn], Conversation(16).bot(12.2, 14).samples)))).split())
    assert "hung recogniser 1 (did nothing for so long" in text
    assert "unanswered 1 (component failed 1)" in text
    assert reason in text


def test_parts_of_long_answers_are_counted(make_run: MakeRun, load: Callable[[Path], Run]) -> None:
    parts = (AnswerPart(asks=True), AnswerPart(number=2, asks=True), AnswerPart(number=3))
    own = tuple(ServerTurn(turn=number, final=True, part=part) for number, part in enumerate(parts))
    turn = TurnRecord(session="commands", turn=0, speech=((1.0, 2.0),), wants_answer=True, server_turns=own)
    text = " ".join(drawn(build(load(make_run([turn], Conversation(16).bot(2.5, 14).samples)))).split())
    assert "2 times the caller was asked whether a long answer should go on; it went on 2 times" in text


def test_checks_of_words_are_counted(make_run: MakeRun, load: Callable[[Path], Run], report: Report) -> None:
    text = " ".join(drawn(build(load(make_run([checked_turn()], Conversation(16).bot(2.5, 14).samples)))).split())
    assert (
        "words checked: 1 of 1 turn, 1 changed, 1 not needed any more; 0.2 s of processor time; an answer waited 40 ms "
        "at most" in text
    )
    assert not any(line.startswith("words ") for line in drawn(report).splitlines())


def test_a_run_without_answers_has_no_tables_of_dashes(make_run: MakeRun, load: Callable[[Path], Run]) -> None:
    turn = TurnRecord(session="commands", turn=0, speech=((1.0, 2.0),), wants_answer=True, heard="hello", cold=False)
    text = drawn(build(load(make_run([turn], Conversation(6).samples))))
    assert "Turn latency  none; 0 of 1 answered" in text
    assert "unanswered 1 (no speech from the bot 1)" in text
    for heading in ("stage, ms", "turn cold", "p50 -  p95 -", "0 of 0 turns"):
        assert heading not in text
    hum = replace(turn, wants_answer=False)
    assert "Turn latency  none; no turn wants an answer" in drawn(build(load(make_run([hum], Conversation(6).samples))))


def test_simulated_parts_and_a_refusal_stand_at_the_top(report: Report) -> None:
    _, second, third, *_ = drawn(
        replace(report, simulated=("sim:tier",), refused="audio was fed too slow")
    ).splitlines()
    assert second == "SIMULATED, not real: sim:tier"
    assert third == "LATENCIES REFUSED: audio was fed too slow"


def test_speculative_answers_are_a_line(report: Report) -> None:
    assert "\nspeculation" not in drawn(report)
    ahead = Speculation(
        started=12, discarded=3, saved_p50_ms=214.4, used=9, spoken_ahead=4, hints=14,
        early=5, discarded_tokens=1200,
    )  # fmt: skip
    assert (
        "speculation 12 speculative answers (5 by the words alone) at 14 hints of the turn's end: 9 used "
        "(4 already synthesised), 3 discarded (1,200 tokens); first clause 214 ms sooner (p50)"
    ) in " ".join(drawn(replace(report, speculation=ahead)).split())
    one = replace(
        ahead, started=1, hints=1, used=0, discarded=1, spoken_ahead=0, saved_p50_ms=None, early=0,
        discarded_tokens=None,
    )  # fmt: skip
    assert "\nspeculation  1 speculative answer at 1 hint of the turn's end: 0 used, 1 discarded\n" in drawn(
        replace(report, speculation=one)
    )


def test_a_check_without_data_says_why(report: Report) -> None:
    judged = Check.parse("turn p99 < 800").judge(report)
    assert "no data      turn p99 < 800: the 99th percentile needs 100 samples" in drawn(
        replace(report, thresholds=(judged,))
    )


def test_an_estimated_end_of_speech_is_marked(report: Report) -> None:
    session = report.sessions[0]
    outcomes = tuple(replace(o, turn=replace(o.turn, truth="estimated")) for o in session.outcomes)
    text = drawn(replace(report, truth="estimated", sessions=(replace(session, outcomes=outcomes),)))
    assert "end of speech estimated" in text
    assert "unlabelled end of speech is estimated: 4 turns." in " ".join(text.split())


def test_text_that_looks_like_markup_is_printed_as_it_is(report: Report) -> None:
    session = report.sessions[0]
    outcomes = tuple(replace(o, turn=replace(o.turn, heard="[red]one[/red] :smile:")) for o in session.outcomes)
    assert "[red]one[/red] :smile:" in drawn(replace(report, sessions=(replace(session, outcomes=outcomes),)))


def test_a_stream_without_unicode_gets_a_report_too(report: Report) -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    write(report, file)
    file.flush()
    assert b"Turn latency" in raw.getvalue()
    assert b"?" not in raw.getvalue().replace(b"ok?", b""), "every character that is drawn has one in ASCII"


def response(**told: Any) -> dict[str, Any]:
    usual = {"response": 0, "policy": "fallback", "reason": "large first", "commit": 2.0, "deadline": 2.45}
    return {**usual, "limit": "llm", "charged": None, "said": [], "gave_up": None, **told}


def budgeted(number: int, start: float, answer: float, attempts: list[dict[str, Any]], **told: Any) -> TurnRecord:
    """A turn of 1 s of speech; its answer is heard `answer` seconds after the first audio."""
    shift = start - 1
    first = {"first_audible": 2.6 + shift, "first_answer_audible": 2.6 + shift + answer, "turn_commit": 2.0 + shift}
    moved = {key: told[key] for key in told if key != "said"}
    said = [{**one, "at": one["at"] + shift} for one in told.get("said", [])]
    return TurnRecord.from_json(
        {
            "session": "commands",
            "turn": number,
            "speech": [[start, start + 1]],
            "wants_answer": True,
            "marks": first,
            "attempts": [{"response": 0, "request": 2.0 + shift, **one} for one in attempts],
            "responses": [response(said=said, commit=2.0 + shift, deadline=2.45 + shift, **moved)],
        }  # fmt: skip
    )


def test_a_run_under_a_budget_shows_the_tiers_and_three_latencies(
    make_run: MakeRun, load: Callable[[Path], Run]
) -> None:
    talk = Conversation(24).bot(2.6, 4.0).bot(7.6, 9.0).bot(12.6, 13.2).bot(13.8, 15.0)
    turns = [
        budgeted(0, 1, 0.0, [{"tier": "large", "first_clause": 2.3, "outcome": "spoken"}]),
        budgeted(1, 6, 0.0, [{"tier": "large", "outcome": "cancelled"},
                             {"tier": "fast", "first_clause": 7.4, "outcome": "spoken"}]),
        budgeted(2, 11, 1.2, [{"tier": "large", "first_clause": 13.27, "outcome": "spoken"}],
                 said=[{"at": 2.43, "kind": "hold", "text": "One moment."}]),
    ]  # fmt: skip
    text = drawn(build(load(make_run(turns, talk.samples))))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    for part in (
        "First answer p50 600 p95 1680 max 1800 ms; 2 of 3 within 800 ms, 0 within 400 ms (without phrases)",
        "turn 3 600 600 600 600 0 3",
        "answer 3 600 1560 1680 1800 0 2",
        "whole answer 3 2000 2800 2900 3000 0 0",
        "0 - - 600 - ",
        "1 - - 600 - rescued by fast",
        "2 - - 600 - bridged: One moment. (answer 820 ms late)",
    ):
        assert part.strip() in lines, part
    for part in (
        "LLM budget 450 ms: within 1, rescued by another tier 1, bridged by a phrase 1, missed 0; within or rescued "
        "66.7 % of 3 judged turns",
        "overshoot p50 0, max 820 ms after the deadline, of 3 turns with text; textless 0 (no answer text at all); "
        "bridged answers p50 820, max 820 ms",
        "large 3 requests, spoken 2, cancelled 1 (with nothing received in - ms, p50), "
        "first clause (n 2) p50 785, p95 1222, max 1270 ms",
    ):
        assert part in " ".join(lines), part
    assert max(len(line) for line in text.splitlines() if "/runs/" not in line) <= 120


def test_a_run_without_a_budget_shows_nothing_of_tiers_phrases_and_whole_answers(report: Report) -> None:
    lines = [" ".join(line.split()) for line in drawn(report).splitlines()]
    assert "LLM budget 450 ms: within 1, rescued 0, bridged 0, missed 0" in lines
    assert any(line.startswith("turn 1 1 never") for line in lines)
    for part in ("overshoot", "whole answer", "first clause", "First answer", "responder 1"):
        assert not any(part in line for line in lines), part
