"""A thousand turns with their recordings, nearly two hours of audio, reported by the command."""

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from latency.record.run import RunHeader
from latency.record.run_writer import RunWriter
from latency.record.session import Pacing, Session
from latency.record.turn import TurnRecord
from tests.latency.conversations import Conversation

SESSIONS, TURNS, SECONDS = 50, 20, 6.0
HEADER = RunHeader(created="2026-11-20T17:03:12+01:00", pipeline={"name": "large"})


@pytest.fixture
def large_run(tmp_path: Path) -> Path:
    talk = Conversation(TURNS * SECONDS)
    turns = []
    for number in range(TURNS):
        start = number * SECONDS + 0.5
        talk.user(start, start + 1.5).bot(start + 2.0 + number * 0.02, start + 4.5, fade=0.05)
        turns.append(turn(number, start))
    samples = talk.noise(0, 0.003).samples
    writer = RunWriter(tmp_path / "large", header=HEADER)
    for session in (f"call-{number}" for number in range(SESSIONS)):
        wav = writer.write_session_wav(session, samples)
        writer.add_turns(replace(one, session=session) for one in turns)
        pacing = Pacing(frames=6000, late_over_20ms=0, late_max_ms=3.0, clock_ratio=1.0)
        writer.add_session(Session(name=session, wav=wav, seconds=TURNS * SECONDS, pacing=pacing))
    return writer.finish("complete")


def turn(number: int, start: float) -> TurnRecord:
    end = start + 1.5
    names = ("vad_stop", "transcript_final", "turn_commit", "llm_request", "llm_first_token", "llm_first_clause",
             "clause_to_tts", "tts_first_sample", "first_sent")  # fmt: skip
    marks = {name: end + 0.2 + 0.03 * position for position, name in enumerate(names)}
    heard = end + 0.5 + number * 0.02
    attempt = {"tier": "large", "request": marks["llm_request"], "first_clause": marks["llm_first_clause"]}
    attempts = [{**attempt, "first_token": marks["llm_first_token"], "outcome": "spoken"}]
    return TurnRecord.from_json(
        {
            "session": "call",
            "turn": number,
            "text": "what is seven times eight",
            "heard": "what is seven times eight",
            "said": "7 times 8 is 56.",
            "contains": ["56"],
            "speech": [[start, end]],
            "wants_answer": True,
            "marks": {**marks, "first_audible": heard, "first_answer_audible": heard},
            "attempts": attempts,
            "server_turns": [{"turn": number, "marks": marks, "attempts": attempts, "stalls": 0}],
        }
    )


def children_cpu() -> float:
    times = os.times()
    return times.children_user + times.children_system


@pytest.mark.slow
def test_a_thousand_turns_are_reported_in_two_seconds(large_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert least_time(["report", str(large_run), "--json", "--check", "turn n > 900"], capsys) < 2


@pytest.mark.slow
def test_a_thousand_turns_are_compared_in_seconds(large_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = shutil.copytree(large_run, large_run.with_name("other"), copy_function=os.link)
    header = json.loads((other / "run.json").read_text())
    (other / "run.json").unlink()
    (other / "run.json").write_text(json.dumps(header | {"created": "2026-11-21T00:00:00+00:00"}))
    assert least_time(["compare", str(large_run), str(other), "--json"], capsys) < 5


def least_time(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> float:
    """The seconds of the quickest of three calls of the command."""
    took, busy = [], []
    for _ in range(3):
        begun, before = time.monotonic(), children_cpu()
        done = subprocess.run([sys.executable, "-m", "latency", *arguments], capture_output=True, text=True)
        took.append(time.monotonic() - begun)
        busy.append(children_cpu() - before)
        assert done.returncode == 0, done.stderr
    with capsys.disabled():
        pairs = zip(took, busy, strict=True)
        print("\n1,000 turns, 6,000 s of audio: " + ", ".join(f"{t:.2f} s ({b:.2f} s of CPU)" for t, b in pairs))
    return min(took)
