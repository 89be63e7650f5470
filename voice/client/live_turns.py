"""Finding the user's turns in a live call, where no labels tell them: the server says which, the recording where."""

from dataclasses import replace
from pathlib import Path

from latency.marks import Mark
from voice.client.call_result import CallResult
from voice.client.fixture import Fixture, FixtureTurn, Stretch
from voice.client.pcm import RATE, Pcm
from voice.client.scripted_caller import PlacedTurn
from voice.client.speech_span import speech_stretches


def with_live_turns(result: CallResult, name: str) -> tuple[CallResult, Fixture]:
    """A recorded live call as if it had been a replay, for `turn_records` and `session_entry`.

    Each committed server turn becomes a turn of the user; its speech is measured in the recording between the turn
    before and the moment the server heard it end, so its truth is `estimated`. Turns in which the recording holds no
    speech (something else was taken for some) are left out.

    Args:
        result: a call that was recorded.
        name: what the conversation is to be called.

    Raises:
        ValueError: the call was not recorded.
    """
    user = result.recorder.user()
    stretches = speech_stretches(user)
    placed: list[PlacedTurn] = []
    start = 0.0
    for reported in result.turns:
        if reported.instant(Mark.TURN_COMMIT) is None:
            continue
        end = min(result.stopped(reported), result.seconds)
        speech = [(max(begin, start), min(stop, end)) for begin, stop in stretches if stop > start and begin < end]
        if speech:
            placed.append(_placed(len(placed), user, start, end, speech))
            start = end
    fixture = Fixture(name=name, source=Path(name), group="", turns=tuple(one.turn for one in placed), notices=())
    return replace(result, placed=tuple(placed)), fixture


def _placed(index: int, user: Pcm, start: float, end: float, speech: list[Stretch]) -> PlacedTurn:
    position = round(start * RATE)
    at = position / RATE
    turn = FixtureTurn(
        name=f"turn {index}",
        wav=Path(f"turn {index}"),
        text="",
        samples=user[position : round(end * RATE)],
        speech=tuple((begin - at, stop - at) for begin, stop in speech),
        labels=(),
        send_after=None,
        wants_answer=True,
        contains=(),
        truth="estimated",
        sha256="",
    )
    return PlacedTurn(index=index, turn=turn, position=position)
