"""A coroutine of a tool that blocks the server's event loop for 150 ms is reported in the turn that called it."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import yaml

from latency.record.run import Run
from latency.report.report import Report, build
from voice.tts.piper.voice import Voice, embedded_voice

ROOT = Path(__file__).resolve().parents[3]

AGENT = """
import time
from pipelines import Agent, serve

async def order_status() -> str:
    "Where the order of the caller is."
    time.sleep(0.15)
    return "Your parcel has left the warehouse."

serve(Agent(tools=[order_status], pipeline="embedded"), port=0)
"""

TURNS = (
    ("What is seven times eight?", "56"),
    ("What is my order status?", "left the warehouse"),
)


@pytest.fixture(scope="module")
def fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A conversation of two turns in our own voice."""
    folder = tmp_path_factory.mktemp("fixture") / "orders"
    folder.mkdir()
    voice, turns = Voice(embedded_voice()), []
    for number, (text, contains) in enumerate(TURNS):
        speech = voice.synthesize(text) / 32768
        quiet = np.zeros(voice.sample_rate // 2)
        samples = np.concatenate([quiet, 0.7 * speech / abs(speech).max(), quiet])
        soundfile.write(folder / f"{number}.wav", samples, voice.sample_rate)
        expect = [{"event": "response", "text_contains": contains}]
        turns.append({"user": text, "audio": f"{number}.wav", "expect": expect})
    scenario: dict[str, Any] = {"name": "orders", "user": {"modality": "audio"}}
    scenario["scenarios"] = [{"name": "call", "turns": turns}]
    (folder / "scenario.yaml").write_text(yaml.safe_dump(scenario))
    return folder


@pytest.fixture(scope="module")
def report(fixture: Path, tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("stalls")
    script = folder / "agent.py"
    script.write_text(AGENT)
    command = [sys.executable, "-u", str(script)]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().removeprefix("Listening on ").strip()
        replay = ["replay", str(fixture), "--url", url, "--out", str(folder / "run")]
        done = subprocess.run(
            [sys.executable, "-m", "pipelines.cli", *replay], cwd=ROOT, capture_output=True, text=True, timeout=90
        )
        assert done.returncode == 0, done.stderr
    finally:
        server.kill()
        server.wait(5)
    return build(Run.load(folder / "run"))


def test_the_block_is_reported_in_its_turn(report: Report) -> None:
    assert report.watched
    found = [stall for stall in report.stalls if stall.kind == "event loop" and 120 <= stall.ms <= 300]
    called = [stall for stall in found if stall.turn == 1]
    assert called, report.stalls
    turn = report.outcomes[1].turn
    assert turn.said is not None
    assert "left the warehouse" in turn.said
    assert {stall.at for stall in called} <= {stall.at for stall in turn.stalls}


def test_the_block_lies_between_the_commit_and_the_answer(report: Report) -> None:
    outcome = report.outcomes[1]
    assert outcome.turn.end is not None
    assert outcome.latency is not None
    heard = outcome.turn.end + outcome.latency
    (block,) = [one for one in outcome.turn.stalls if 120 <= one.ms <= 300 and outcome.turn.end <= one.at < heard]
    assert block.at + block.ms / 1000 <= heard
    assert block.at >= outcome.turn.marks["turn_commit"] - 0.05  # type: ignore[index]


def test_the_run_notices_that_a_fixture_has_changed(report: Report, fixture: Path) -> None:
    assert not [note for note in report.notes if "has changed" in note]
    wav = fixture / "1.wav"
    wav.write_bytes(wav.read_bytes() + b"\0\0")
    notes = Run.load(Path(report.run)).notes
    assert f"{wav.resolve()} has changed since it was replayed in this run" in notes
