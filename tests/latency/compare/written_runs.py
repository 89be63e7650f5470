"""Run folders with planned latencies, for comparisons."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from latency.record.run import RunHeader
from latency.record.run_writer import RunWriter
from latency.record.session import Session
from latency.record.turn import TurnRecord
from tests.latency.conversations import HEADER, Conversation

EVERY = 3.0
"""Seconds from one turn to the next."""


def write_run(
    folder: Path, *calls: Sequence[int | None], header: RunHeader = HEADER, sha: str = "x", **session: Any
) -> Path:
    """A run whose calls have turns with these latencies, ms; None is a turn without an answer."""
    writer = RunWriter(folder, header=header)
    for number, latencies in enumerate(calls):
        talk = Conversation(EVERY * len(latencies) + 4)
        turns = []
        for turn, latency in enumerate(latencies):
            start = 0.5 + EVERY * turn
            talk.user(start, start + 0.5)
            if latency is not None:
                talk.bot(start + 0.5 + latency / 1000, start + 1.2 + latency / 1000)
            turns.append(
                TurnRecord(
                    session=f"talk-{number}", turn=turn, scenario="talk/call", fixture=f"talk/{turn}.wav", text="hello",
                    speech=((start, start + 0.5),), wants_answer=True, contains=("hi",), heard="hello", said="hi",
                )
            )  # fmt: skip
        writer.add_turns(turns)
        name = f"talk-{number}"
        wav = writer.write_session_wav(name, talk.samples)
        files = {f"{turn}.wav": f"{sha}{turn}" for turn in range(len(latencies))}
        writer.add_session(Session(name=name, scenario="talk/call", wav=wav, fixtures=files, **session))
    return writer.finish("complete")
