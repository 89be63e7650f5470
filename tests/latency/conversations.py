"""Synthetic conversations: stereo recordings and run folders whose every figure is known beforehand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from latency.record.marks import Mark, Marks
from latency.record.run import RunHeader
from latency.record.session import ClockAlignment, ServerLoad
from latency.record.turn import CheckRecord, ServerTurn, TurnRecord

RATE = 16000
HEADER = RunHeader(
    created="2026-11-20T17:03:12+01:00",
    command=["voice", "replay"],
    pipeline={"name": "embedded", "llm": {"provider": "responder"}},
    components={"asr": "pocketsphinx 5.1.1", "llm": "responder"},
    host={"cpus": 2},
)


class Conversation:
    """A recording under construction: speech-like sound on either channel, silence elsewhere."""

    def __init__(self, seconds: float) -> None:
        self.stereo = np.zeros((round(seconds * RATE), 2), np.float64)
        self._random = np.random.default_rng(7)

    def user(self, start: float, end: float) -> "Conversation":
        return self._put(0, start, end, fade=0.0)

    def bot(self, start: float, end: float, *, level: float = 0.25, fade: float = 0.0) -> "Conversation":
        return self._put(1, start, end, level=level, fade=fade)

    def silence_bot(self, start: float, end: float) -> "Conversation":
        self.stereo[round(start * RATE) : round(end * RATE), 1] = 0
        return self

    def noise(self, channel: int, level: float) -> "Conversation":
        self.stereo[:, channel] += self._random.normal(0, level, len(self.stereo))
        return self

    @property
    def samples(self) -> npt.NDArray[np.int16]:
        return np.round(self.stereo * 32767).clip(-32768, 32767).astype(np.int16)

    def _put(self, channel: int, start: float, end: float, *, level: float = 0.25, fade: float) -> "Conversation":
        first, last = round(start * RATE), round(end * RATE)
        time = np.arange(last - first) / RATE
        sound = sum(np.cos(2 * np.pi * 120 * k * time) / k for k in range(1, 10))
        sound *= level / 2 * (0.7 + 0.3 * np.cos(2 * np.pi * 4 * time))
        if fade:
            edge = round(fade * RATE)
            sound[:edge] *= np.linspace(0, 1, edge)
            sound[-edge:] *= np.linspace(1, 0, edge)
        self.stereo[first:last, channel] += sound
        return self


class MakeRun(Protocol):
    """Writes a run folder of one session with the product's own writer and returns it; the fixture `make_run`."""

    def __call__(
        self,
        turns: Sequence[TurnRecord],
        stereo: npt.NDArray[np.int16] | None,
        *,
        header: RunHeader = HEADER,
        status: str = "complete",
        **session: Any,
    ) -> Path: ...


SESSION: dict[str, Any] = {
    "scenario": "commands/short",
    "seconds": 24.0,
    "cold": True,
    "clock": ClockAlignment(offset=12.5, rtt=0.0004, pings=8),
    "server": ServerLoad(cpu_cores=0.21, rss_mb=410),
}


def first_turn() -> TurnRecord:
    marks = {
        "vad_stop": 2.2, "transcript_final": 2.22, "turn_commit": 2.25, "llm_request": 2.25, "llm_first_token": 2.30,
        "llm_first_clause": 2.33, "clause_to_tts": 2.33, "tts_first_sample": 2.5, "first_sent": 2.51,
        "first_received": 2.515, "first_audible": 2.6, "first_answer_audible": 2.6,
    }  # fmt: skip
    attempt = {"tier": "responder", "request": 2.25, "first_token": 2.3, "first_clause": 2.33, "end": 2.4}
    attempts = [{**attempt, "outcome": "spoken"}]
    return TurnRecord.from_json(
        {
            "session": "commands",
            "turn": 0,
            "text": "what is seven times eight",
            "speech": [[1, 2]],
            "wants_answer": True,
            "contains": ["56"],
            "heard": "what is seven times eight",
            "said": "7 times 8 is 56.",
            "ended_by": "smart_turn",
            "marks": marks,
            "attempts": attempts,
            "server_turns": [{"turn": 0, "marks": marks, "attempts": attempts}],
        }  # fmt: skip
    )


def cut_off_turn() -> TurnRecord:
    return TurnRecord(
        session="commands", turn=1, text="tell me a story", speech=((5.0, 5.6), (6.4, 7.0)), wants_answer=True,
        contains=("once upon a time",), heard="tell me a lorry", said="I can't answer that.", ended_by="fallback",
        server_turns=(ServerTurn(turn=1, marks=Marks({Mark.TURN_COMMIT: 5.9})),),
    )  # fmt: skip


def barge_in_turn() -> TurnRecord:
    return TurnRecord(
        session="commands", turn=2, text="never mind", speech=((9.5, 11.0),), wants_answer=True, contains=("okay",),
        heard="never mind", said="Okay.", barge_in=True, ended_by="smart_turn",
    )  # fmt: skip


def unanswered_turn() -> TurnRecord:
    return TurnRecord(
        session="commands", turn=3, text="goodbye", speech=((15.0, 16.0),), wants_answer=True, contains=("goodbye",),
        heard="", said="",
    )  # fmt: skip


def checked_turn() -> TurnRecord:
    """A turn whose words were checked twice: the first check was withdrawn, the second one changed a number."""
    checks = (
        CheckRecord(outcome="withdrawn", began=1.5, ended=1.6),
        CheckRecord(
            outcome="changed", began=2.2, ended=2.4, seconds=0.19, before="fifteen", after="fifty", held_ms=40.0
        ),
    )
    own = ServerTurn(turn=0, final=True, checks=checks)
    return TurnRecord(session="commands", turn=0, speech=((1.0, 2.0),), wants_answer=True, server_turns=(own,))
