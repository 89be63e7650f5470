"""What a live call shows besides its words: what each turn took, the figures so far, and the microphone's keys."""

import asyncio
import io
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from latency.record.marks import Mark, Marks
from latency.record.requests import AnswerRecord, RequestRecord
from latency.record.turn import ServerTurn
from pipelines.talking.keys import TalkKeys
from pipelines.talking.lines import CELLS, answered_by, spans, turn_line
from pipelines.talking.transcript import Transcript
from pipelines.talking.turns import Latencies, latency_of
from voice.client.sound.device_line import DeviceLine

MARKS = Marks(
    {
        Mark.SPEECH_END: 10.0,
        Mark.VAD_STOP: 10.2,
        Mark.TURN_COMMIT: 10.25,
        Mark.LLM_FIRST_CLAUSE: 10.3,
        Mark.TTS_FIRST_SAMPLE: 10.4,
    }
)


def turn(number: int = 0, **fields: Any) -> ServerTurn:
    return ServerTurn(turn=number, **{"marks": MARKS, **fields})


def test_the_stages_of_a_turn_add_up_to_its_latency() -> None:
    parts = spans(turn(), 0.5)
    assert [(part.name, round(part.end - part.start, 3)) for part in parts] == [
        ("turn end", 0.25),
        ("answer", 0.05),
        ("voice", 0.1),
        ("way", 0.1),
    ]


def test_what_was_prepared_before_the_end_of_the_turn_takes_no_time() -> None:
    early = Marks({**MARKS, Mark.LLM_FIRST_CLAUSE: 10.1, Mark.TTS_FIRST_SAMPLE: 10.2})
    assert [round(part.end - part.start, 3) for part in spans(turn(marks=early), 0.3)] == [0.25, 0.0, 0.0, 0.05]


@pytest.mark.parametrize(("latency", "ahead"), [(0.5, True), (1.2, False), (5.0, False)])
def test_the_bar_shows_800_ms_and_ends_where_its_axis_does(latency: float, ahead: bool) -> None:
    line = turn_line(turn(), latency, room=120).plain
    bar = line.split(" ms ")[1].split("  ")[0]
    assert len(bar) == CELLS + 1
    assert (bar.index("│") > bar.rindex("━")) == ahead


def test_a_latency_is_known_once_the_answer_is_heard_and_told_once() -> None:
    heard: dict[int, float] = {}
    latencies = Latencies(lambda one: heard.get(one.turn))
    assert latencies.summary() == ""
    latencies.reported(turn(0, attempts=(RequestRecord(usd=0.001),)))
    assert latencies.news() == []
    heard |= {0: 0.4, 1: 0.9}
    latencies.reported(turn(1))
    assert [(one.turn, latency) for one, latency in latencies.news()] == [(0, 0.4), (1, 0.9)]
    latencies.reported(turn(0))
    assert latencies.news() == []
    assert latencies.summary() == "2 turns · median 650 ms · slowest 900 ms · 1 above 800 ms"
    latencies.reported(turn(1, attempts=(RequestRecord(usd=0.002),)))
    assert latencies.summary().endswith("· $0.0020")


def test_without_an_answer_or_the_end_of_speech_there_is_no_latency() -> None:
    def heard_after(since: float, earliest: float) -> float:
        return earliest - since

    assert latency_of(turn(), heard_after) == pytest.approx(0.25)
    assert latency_of(turn(marks=Marks({Mark.SPEECH_END: 1.0, Mark.TURN_COMMIT: 2.0})), heard_after) is None
    assert latency_of(turn(marks=Marks({Mark.TURN_COMMIT: 2.0, Mark.TTS_FIRST_SAMPLE: 3.0})), heard_after) is None


async def test_a_muted_microphone_sends_silence_and_still_has_a_level() -> None:
    line = DeviceLine()
    frame = np.full(320, 16384, np.int16)
    for _ in range(2):
        line._captured.put_nowait((0.0, frame))
    frames = line.frames()
    assert (await anext(frames)).max() == 16384
    line.muted = True
    assert (await anext(frames)).max() == 0
    assert line.level == 0.5
    await frames.aclose()


@pytest.mark.parametrize(
    ("push_to_talk", "keys", "muted"),
    [
        (False, "m", True),
        (False, "mM", False),
        (False, " ", False),
        (True, "", True),
        (True, " ", False),
        (True, "  ", True),
    ],
)
def test_the_microphone_has_its_keys_and_others_are_passed_on(push_to_talk: bool, keys: str, muted: bool) -> None:
    said: list[str] = []
    others: list[str] = []
    line = DeviceLine()
    handler = TalkKeys(
        line,
        say=said.append,
        interrupt=lambda: None,
        mark=lambda: None,
        others=others.append,
        push_to_talk=push_to_talk,
    )
    for key in keys + "f":
        handler.press(key)
    assert line.muted == muted
    assert others == [*([" "] if keys == " " and not push_to_talk else []), "f"]
    if said:
        assert said[-1] == f"the microphone is {'off' if muted else 'on'}"


async def test_the_line_of_a_turn_is_printed_also_where_the_output_is_no_terminal() -> None:
    printed = io.StringIO()
    transcript = Transcript(Console(file=printed, width=120), DeviceLine(), cancels=True)
    transcript.latencies = Latencies(lambda _turn: 0.5)
    transcript.on_turn(turn(final=True, interrupted=True, played="1, 2,"))
    following = asyncio.create_task(transcript.follow())
    async with asyncio.timeout(10):
        while "500 ms" not in printed.getvalue():
            await asyncio.sleep(0.01)
    following.cancel()
    assert "interrupted: you heard “1, 2,” of it" in printed.getvalue()
    assert "turn end 250 · answer 50 · voice 100 · way 100" in printed.getvalue()


ANSWER = AnswerRecord(response=0, policy="adaptive", reason="large first", tier="large")


@pytest.mark.parametrize(
    ("several", "attempt", "line"),
    [
        (False, {}, None),
        (True, {}, "large answered (adaptive: large first)"),
        (False, {"served": "priority", "usd": 0.0021}, "large ↯ answered (adaptive: large first) · $0.0021"),
        (True, {"speed": "fast", "served": "default"}, "large answered (adaptive: large first)"),
        (True, {"slowed": "it was full"}, "large answered (adaptive: large first; it was full)"),
    ],
)
def test_it_is_told_which_model_answered_at_which_speed_why_and_for_how_much(
    several: bool, attempt: dict[str, Any], line: str | None
) -> None:
    spoken = RequestRecord(tier="large", outcome="spoken", **attempt)
    assert answered_by(turn(responses=(ANSWER,), attempts=(spoken,)), several=several) == line


def test_the_bar_is_shorter_where_the_terminal_is_narrow() -> None:
    line = turn_line(turn(), 0.5, room=73).plain
    assert len(line) == 73
    assert line.endswith("turn end 250 · answer 50 · voice 100 · way 100")
    assert "│" in line


def test_what_was_heard_of_an_interrupted_answer_is_told_once_it_is_known() -> None:
    printed = io.StringIO()
    transcript = Transcript(Console(file=printed, width=120), DeviceLine(), cancels=True)
    sent = Marks({**MARKS, Mark.FIRST_SENT: 10.41})
    transcript.on_turn(turn(marks=sent, final=True, interrupted=True, played=""))
    assert printed.getvalue() == ""
    for _ in range(2):
        transcript.on_turn(turn(marks=sent, final=True, interrupted=True, played="1, 2,"))
    transcript.on_turn(turn(1, marks=Marks(), final=True, interrupted=True))
    assert printed.getvalue().count("you heard “1, 2,” of it") == 1
    assert printed.getvalue().count("you heard nothing of it") == 1


async def test_a_sound_card_far_from_real_time_is_named_once() -> None:
    printed = io.StringIO()
    line = DeviceLine()
    transcript = Transcript(Console(file=printed, width=200), line, cancels=True)
    for frame in range(round(11 / 0.016)):
        line.pacing.note(frame * 0.016 * 1.4, frame * 0.016 * 1.4)
        transcript._watch_card()
    assert printed.getvalue().count("the sound card runs at 71 % of real time: answers come late") == 1
