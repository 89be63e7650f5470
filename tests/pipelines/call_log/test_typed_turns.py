"""Turns that are typed, not spoken: they count, have no latency, and are no part of a spoken turn."""

import asyncio
import json
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from latency.record.marks import Mark, Marks
from latency.record.turn import ServerTurn
from pipelines.call_log.call_statistics import CallStatistics
from pipelines.call_log.prometheus import PrometheusMetrics
from pipelines.call_log.turn_log import TurnLog
from tests.pipelines.call_log.test_call_statistics import asked, turn
from tests.pipelines.call_log.test_prometheus import fetch, figures, read
from tests.pipelines.call_log.test_turn_log import answered
from tests.pipelines.server_process import ServerProcess
from tests.pipelines.serving.test_strangers import ready, rtvi
from voice.frames import TurnEndFrame
from voice.wire import framing
from voice.wire.messages import TurnMessage


def typed(number: int) -> ServerTurn:
    """A turn that was typed at 20 s and answered."""
    return ServerTurn(turn=number, typed=True, marks=Marks({Mark.TURN_COMMIT: 20.0, Mark.FIRST_SENT: 20.4}))


def answer(log: TurnLog, at: float, context: str = "b") -> None:
    """The answer to the latest turn."""
    log.asked(at + 0.01)
    log.mark_first(Mark.LLM_FIRST_TOKEN, at + 0.02)
    log.speech_begun(at + 0.03, "It is noon.", context)
    log.speech_made(at + 0.04, 1.0, context)
    log.agent_started(at + 0.05)


def test_a_typed_turn_is_one_of_its_own_and_leaves_the_spoken_one_before_it_alone() -> None:
    log = TurnLog(tier="responder")
    answered(log)
    spoken = log.agent_stopped(13.0)
    assert spoken is not None
    log.typed("what time is it", 20.0)
    answer(log, 20.0)
    found = log.agent_stopped(22.0)
    assert found is not None
    report = found.report().turn
    assert (report.turn, report.typed, report.heard, report.said) == (1, True, "what time is it", "It is noon.")
    assert report.marks == {
        Mark.TURN_COMMIT: 20.0, Mark.LLM_REQUEST: 20.01, Mark.LLM_FIRST_TOKEN: 20.02, Mark.LLM_FIRST_CLAUSE: 20.03,
        Mark.CLAUSE_TO_TTS: 20.03, Mark.TTS_FIRST_SAMPLE: 20.04, Mark.FIRST_SENT: 20.05,
    }  # fmt: skip
    assert report.ended_by is None
    before = spoken.report().turn
    assert (before.turn, before.typed, before.said) == (0, False, "It is ten, past four.")
    assert len(before.attempts) == 1


def test_speech_under_way_becomes_the_turn_after_the_typed_one() -> None:
    log = TurnLog(tier="responder")
    log.turn_opened(18.0)
    first = log.typed("what time is it", 20.0)
    answer(log, 20.0)
    log.speech_stopped(21.0, 0.2)
    log.heard(21.1, "stop")
    log.turn_closed(21.2)
    spoken = log.turn_ended(12.5, TurnEndFrame(ended_by="smart_turn"))
    assert spoken is not None
    answer(log, 21.2, context="c")
    one, other = first.report().turn, spoken.report().turn
    assert (one.turn, one.typed, one.heard, one.final, one.interrupted) == (0, True, "what time is it", True, True)
    assert one.ended_by is None
    assert (other.turn, other.typed, other.heard, other.ended_by) == (1, False, "stop", "smart_turn")
    assert (other.marks[Mark.VAD_STOP], other.marks[Mark.TURN_COMMIT]) == (21.0, 21.2)
    assert one.marks.keys().isdisjoint({Mark.VAD_STOP, Mark.SPEECH_END, Mark.TRANSCRIPT_FINAL})


def test_speech_goes_on_to_be_the_last_turn_however_much_is_typed_meanwhile() -> None:
    log = TurnLog(tier="responder")
    log.turn_opened(18.0)
    typed_ones = [log.typed(text, at) for text, at in (("one", 19.0), ("two", 20.0))]
    log.turn_closed(21.2)
    assert [one.number for one in (*typed_ones, log.turn) if one] == [0, 1, 2]
    assert log.turn not in typed_ones


def test_the_end_of_a_sound_that_was_no_speech_is_not_that_of_a_typed_turn() -> None:
    log = TurnLog(tier="responder")
    log.typed("what time is it", 20.0)
    assert log.turn_ended(12.5, TurnEndFrame(ended_by="nothing_heard")) is None


def test_the_log_says_how_many_turns_were_typed_and_gives_them_no_latency() -> None:
    statistics = CallStatistics(stop=0.2, budget=0.45)
    for one in (turn(0), typed(1), asked(2, clause=0.3, usd=0.001), turn(3, latency=None)):
        statistics.note(one)
    statistics.close()
    assert [one.latency for one in statistics.closed] == [pytest.approx(0.7), None, pytest.approx(0.7), None]
    assert statistics.line("the caller hung up", 61.4) == (
        "ended after 61 s (the caller hung up): 4 turns (typed 1, unanswered 1), turn latency p50 700 p95 700 ms, "
        "LLM budget (within 1), cost $0.0010"
    )


def test_typed_turns_have_a_figure_of_their_own_and_are_in_no_latency() -> None:
    metrics = PrometheusMetrics(stop=0.2, budget=0.45, clock=lambda: 100.0)
    call = metrics.began()
    call.note(turn(0, latency=0.9))
    call.note(typed(1))
    (shown,) = metrics.under_way()
    assert (shown.turns, shown.typed, shown.late, shown.slowest) == (2, 1, 1, pytest.approx(0.9))
    metrics.ended(call, "the caller hung up")
    found = read(metrics)
    assert found["voice_turns_total{outcome=answered}"] == 2
    assert found["voice_typed_turns_total"] == 1
    assert found["voice_turn_latency_seconds_count"] == 1


async def turn_of(call: ClientConnection, text: str) -> ServerTurn:
    """Types a turn; its report, once the answer has been sent in full."""
    await call.send(rtvi("send-text", content=text))
    async with asyncio.timeout(20):
        while True:
            message = framing.decode(await call.recv())
            if isinstance(message, TurnMessage) and message.report.turn.heard == text and message.report.turn.final:
                return message.report.turn


async def test_a_real_server_counts_what_is_typed(server: ServerProcess) -> None:
    address = server.health.replace("healthz", "metrics")

    def counted() -> dict[str, Any]:
        return figures(fetch(address)[1])

    before = await asyncio.to_thread(counted)
    async with connect(server.url) as call:
        await ready(call)
        first = await turn_of(call, "what is two plus three")
        second = await turn_of(call, "what is two plus four")
        live = json.loads((await asyncio.to_thread(fetch, server.health.replace("healthz", "live/calls")))[1])
        shown = live["calls"][-1]
        assert (shown["turns"], shown["typed"], shown["p50"]) == (2, 2, None)
    assert [(one.turn, one.typed, one.said) for one in (first, second)] == [
        (0, True, "2 plus 3 is 5."),
        (1, True, "2 plus 4 is 6."),
    ]
    async with asyncio.timeout(20):
        while (after := await asyncio.to_thread(counted))["voice_calls_in_progress"]:
            await asyncio.sleep(0.1)

    def more(name: str) -> float:
        return float(after[name] - before.get(name, 0.0))

    assert more("voice_typed_turns_total") == more("voice_turns_total{outcome=answered}") == 2
    assert more("voice_turn_latency_seconds_count") == 0


async def test_what_is_typed_over_an_answer_interrupts_its_turn(server: ServerProcess) -> None:
    reports: dict[int, ServerTurn] = {}
    async with connect(server.url) as call, asyncio.timeout(20):
        await ready(call)
        await call.send(rtvi("send-text", content="count to twenty"))
        while 1 not in reports or not reports[1].final:
            message = framing.decode(await call.recv())
            if not isinstance(message, TurnMessage):
                continue
            found = message.report.turn
            if found.turn == 0 and Mark.FIRST_SENT in found.marks and not reports:
                await call.send(rtvi("send-text", content="what is two plus two"))
                reports[0] = found
            elif reports:
                reports[found.turn] = found
    assert (reports[0].interrupted, reports[0].heard, reports[0].typed) == (True, "count to twenty", True)
    assert (reports[1].interrupted, reports[1].said) == (False, "2 plus 2 is 4.")
