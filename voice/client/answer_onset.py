"""When an answer itself was heard, where a phrase that bridged the wait for it came first. Pure.

The audio of both may follow without a pause, so what was heard does not tell them apart: the server says how long its
phrases are, and the answer is the first sound after them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from latency.marks import Mark
from voice.client.pcm import RATE, Pcm
from voice.client.utterances import Utterance, UtteranceTracker

SLACK = 0.03
"""Seconds by which a phrase may be over sooner than its first sound and its length say: the silence in front of that
sound. A phrase's last moments are silent."""

CLOCKS = 0.02
"""Seconds by which the server's clock may be read wrong."""

_BLOCK = RATE // 100


def first_answer_audible(report: Mapping[str, Any], heard: Sequence[Utterance], bot: Pcm | None) -> float | None:
    """When the answer's first audible sample was played, seconds on the recording's clock; None when unknown.

    Args:
        report: the server's of the turn, its instants on the recording's clock.
        heard: the bot's utterances of the turn, in order, at least one.
        bot: what was played, 16 kHz, from the recording's sample 0; None when nobody kept it: then an answer that
            followed a phrase without a pause is unknown.
    """
    attempts = report.get("attempts") or ()
    if "opening" not in report or (attempts and all(attempt.get("outcome") != "spoken" for attempt in attempts)):
        return None
    if report["opening"] is None:
        return heard[0].start
    after = _phrases_end(report, heard)
    if after is None:
        return None
    text = (report.get("marks") or {}).get(Mark.LLM_FIRST_CLAUSE)
    if text is not None:
        after = max(after, text - CLOCKS)
    for utterance in heard:
        if utterance.start >= after:
            return utterance.start
        if utterance.end > after + SLACK:
            onset = None if bot is None else _onset(bot, after, utterance.end)
            if onset is not None or bot is None:
                return onset
    return None


def _phrases_end(report: Mapping[str, Any], heard: Sequence[Utterance]) -> float | None:
    """When the last phrase was over at the earliest; `heard` begins with the first one."""
    seconds = report.get("opening_seconds")
    if seconds is None:
        return None
    instants = [said.get("at") for response in report.get("responses") or () for said in response.get("said") or ()]
    start = heard[0].start
    if len(instants) > 1:
        if instants[-1] is None:
            return None
        last = next((one for one in heard if one.start >= instants[-1] - CLOCKS), None)
        if last is None:
            return None
        start = last.start
        seconds -= sum(one.end - one.start for one in heard if one.start < start)
    return float(start + max(0.0, seconds) - SLACK)


def _onset(bot: Pcm, start: float, end: float) -> float | None:
    """The first audible sample of speech in a part of the recording."""
    tracker = UtteranceTracker()
    for first in range(round(start * RATE), round(end * RATE), _BLOCK):
        tracker.block(first / RATE, bot[first : first + _BLOCK], RATE, first / RATE)
        if tracker.utterances:
            return tracker.utterances[0].start
    return None
