"""Every thread of a serving process is known, a call brings one at most, and it goes with the call."""

import asyncio
import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipelines.threads import THREAD_LIMITS, limit_threads
from voice.client.call.line import PacedLine
from voice.client.call.session import CallSession
from voice.client.caller.scripted_caller import ScriptedCaller
from voice.client.fixtures.fixture import load_fixtures

ROOT = Path(__file__).resolve().parents[2]
SERVER = """
import json, signal, sys, threading
import psutil

def tell(*_):
    names = [thread.name for thread in threading.enumerate()]
    print(json.dumps(names + ["native"] * (psutil.Process().num_threads() - len(names))), file=sys.stderr, flush=True)

signal.signal(signal.SIGUSR1, tell)
from pipelines.cli import main
sys.exit(main(sys.argv[1:]))
"""
# From Python 3.12 on, asyncio asks Linux for the end of a process without a thread of its own.
WAIT = 0 if sys.platform == "linux" and sys.version_info >= (3, 12) else 1
PROCESS = {
    "MainThread": 1,
    "piper": 1,  # every sentence of every call
    "smart-turn": 1,  # every turn of every call
    "asyncio-waitpid": WAIT,  # the end of the spare recogniser
}
NATIVE = 1
"""onnxruntime's log, if it has one; its sessions compute on the thread that asks."""
LOADING = 6
"""The default executor's threads: as many as parts load side by side, idle from then on."""
CALL = {
    "asyncio-waitpid": WAIT,  # the recogniser's end
}


class Serving:
    """`voice serve` whose threads can be asked for."""

    def __init__(self, environment: dict[str, str]) -> None:
        command = [sys.executable, "-c", SERVER, "serve", "--pipeline", "embedded", "--port", "0"]
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().removeprefix("Listening on ").strip()

    def threads(self) -> Counter[str]:
        """How many of each kind, told by the first part of their names."""
        self.process.send_signal(signal.SIGUSR1)
        assert self.process.stderr is not None
        # Before it, people are told where the page is.
        names = json.loads(next(line for line in self.process.stderr if line.startswith("[")))
        return Counter(re.sub(r"[-_]\d+(_\d+)?$", "", name) for name in names)


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    """The limits are its own, not those of the tests' environment."""
    running = Serving({name: value for name, value in os.environ.items() if name not in THREAD_LIMITS})
    yield running
    running.process.terminate()
    running.process.wait(10)


def at(calls: int, found: Counter[str]) -> Counter[str]:
    """What must be there during so many calls, with however many threads loading took."""
    expected = Counter(PROCESS) + Counter({name: calls * count for name, count in CALL.items()})
    bounded = {"asyncio": LOADING, "native": NATIVE}
    return expected + Counter({name: min(found[name], most) for name, most in bounded.items()})


async def in_calls(serving: Serving, folder: Path, calls: int) -> tuple[Counter[str], Counter[str]]:
    """The most threads of each kind during calls at the same time, and those when their turn models had gone."""
    (fixture,) = load_fixtures([folder])
    sessions = [CallSession(serving.url, PacedLine(ScriptedCaller(fixture.turns))) for _ in range(calls)]
    talking = [asyncio.create_task(session.run()) for session in sessions]
    most: Counter[str] = Counter()
    while not all(task.done() for task in talking):
        most |= await asyncio.to_thread(serving.threads)
        await asyncio.sleep(0.2)
    assert [result.closed for result in await asyncio.gather(*talking)] == [None] * calls
    end = time.monotonic() + 20
    while (left := await asyncio.to_thread(serving.threads)) != at(0, left) and time.monotonic() < end:
        await asyncio.sleep(0.1)
    return most, left


async def test_threads_are_the_stated_ones_with_no_call_one_and_four(
    serving: Serving, conversation: Callable[..., Path]
) -> None:
    idle = serving.threads()
    assert idle == at(0, idle)
    folder = conversation("time", ("commands/01", "it is"))
    for calls in (1, 4):
        most, left = await in_calls(serving, folder, calls)
        # On a busy machine the spare recogniser may be loaded only when a call is over.
        assert at(calls, most) - Counter({"asyncio-waitpid": WAIT}) <= most <= at(calls, most)
        assert left == at(0, left)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in THREAD_LIMITS:
        monkeypatch.setenv(name, "of a test")
        monkeypatch.delenv(name)


@pytest.mark.usefixtures("environment")
def test_limits_that_come_too_late_are_told_once_in_a_sentence(caplog: pytest.LogCaptureFixture) -> None:
    assert "numpy" in sys.modules
    with caplog.at_level(logging.WARNING):
        limit_threads()
        limit_threads()
    (told,) = caplog.messages
    assert told.startswith("numpy was imported before pipelines")
    assert "set OPENBLAS_NUM_THREADS=1 and OMP_NUM_THREADS=1" in told
    assert {name: os.environ[name] for name in THREAD_LIMITS} == THREAD_LIMITS


@pytest.mark.usefixtures("environment")
def test_what_the_user_has_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    limit_threads()
    assert os.environ["OMP_NUM_THREADS"] == "2"


def started_from_python(first: str) -> Any:
    """What a program that makes an agent has set, and what it was told."""
    script = f"{first}\nimport os\nfrom pipelines import Agent\nAgent(pipeline='embedded')\n"
    script += "print(os.environ.get('OPENBLAS_NUM_THREADS'))"
    environment = {name: value for name, value in os.environ.items() if name not in THREAD_LIMITS}
    return subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60, env=environment
    )


def test_an_agent_started_from_python_has_the_limits_of_the_command_line() -> None:
    done = started_from_python("")
    assert done.stdout == "1\n"
    assert "numpy" not in done.stderr


@pytest.mark.parametrize("first", ["import numpy", "import pipelines.agent"])
def test_an_agent_made_after_numpy_says_that_its_threads_are_not_limited(first: str) -> None:
    assert "numpy was imported before pipelines" in started_from_python(first).stderr
