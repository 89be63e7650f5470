"""The machine's clock is set again and again during a call, of which neither server nor client takes notice."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from tests.pipelines.conversations import write_conversation

LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)


@contextmanager
def stepping(shown: Path) -> Iterator[None]:
    """Change what the file says the clock shows, every second: hours before and after the time, ever more."""
    over = threading.Event()

    def step() -> None:
        for hours in count(1):
            if over.wait(1):
                return
            replacement = shown.with_suffix(".new")
            replacement.write_text(f"{'-' if hours % 2 else '+'}{hours}h")
            replacement.replace(shown)

    shown.write_text("+0")
    thread = threading.Thread(target=step)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.slow  # pytest -m slow tests/pipelines/replaying/test_stepped_clock.py
@pytest.mark.skipif(LIBRARY is None, reason="no faketime library (Debian's package faketime), which steps the clock")
def test_a_clock_that_is_set_during_a_call_ends_no_timer_and_changes_no_latency(tmp_path: Path) -> None:
    fixture = write_conversation(tmp_path / "timer", ("commands/02", "10 minutes"), ("commands/04", "left"))
    clock = {
        "LD_PRELOAD": str(LIBRARY),
        "FAKETIME_TIMESTAMP_FILE": str(tmp_path / "clock"),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    replay = [sys.executable, "-m", "pipelines.cli", "replay", str(fixture), "--pipeline", "embedded"]
    run = tmp_path / "run"
    with stepping(tmp_path / "clock"):
        done = subprocess.run(
            [*replay, "--out", str(run)], env=os.environ | clock, capture_output=True, text=True, timeout=120
        )
    # A busy machine's latencies are refused (3).
    assert done.returncode in (0, 3), done.stderr
    assert "Traceback" not in done.stderr
    turns = [json.loads(line) for line in (run / "turns.jsonl").read_text().splitlines()]
    said = " ".join(server_turn["said"] or "" for turn in turns for server_turn in turn["server_turns"])
    assert "Timer set for 10 minutes." in said
    assert "There are 9 minutes and" in said
    answered = [turn["marks"] for turn in turns if "first_audible" in turn["marks"]]
    assert answered
    assert all(0 < marks["first_audible"] - marks["speech_end"] < 20 for marks in answered)
