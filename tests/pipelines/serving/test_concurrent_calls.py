"""Concurrent calls share the models and nothing else."""

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.pipelines.server_process import ServerProcess

ROOT = Path(__file__).resolve().parents[3]


def replaying(fixture: Path, url: str, out: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "pipelines.cli", "replay", str(fixture), "--url", url, "--out", str(out)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def turns(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "turns.jsonl").read_text().splitlines()]


def calls(server: ServerProcess) -> int:
    """How many calls the server has right now."""
    with urllib.request.urlopen(server.health) as answer:
        return int(json.load(answer)["calls"])


def most_calls(server: ServerProcess, *running: "subprocess.Popen[str]") -> int:
    """The most calls that the server has at a time until all of `running` have ended."""
    most = 0
    while any(process.poll() is None for process in running):
        most = max(most, calls(server))
        time.sleep(0.2)
    return most


def test_two_concurrent_calls_get_their_own_answers_and_memories(
    server: ServerProcess, conversation: Callable[..., Path], tmp_path: Path
) -> None:
    timer = conversation("timer", ("commands/02", "10 minutes"), ("commands/04", "left"))
    sums = conversation("sums", ("arithmetic/02", "7 times 8 is 56"), ("commands/04", "no timer"))
    first = replaying(timer, server.url, tmp_path / "timer-run")
    while not calls(server) and first.poll() is None:
        time.sleep(0.1)
    second = replaying(sums, server.url, tmp_path / "sums-run")
    assert most_calls(server, first, second) == 2
    for process in (first, second):
        assert process.wait() == 0, process.communicate()[1]
    said = {name: [turn["said"] for turn in turns(tmp_path / f"{name}-run")] for name in ("timer", "sums")}
    assert said["timer"][0] == "Timer set for 10 minutes."
    assert said["timer"][1].endswith("left on the timer.")
    assert said["sums"] == ["7 times 8 is 56.", "There is no timer running."]
