"""Single keys of a real pseudo-terminal, which is left as it was found however the call ends."""

import asyncio
import fcntl
import io
import os
import pty
import select
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipelines.talking.keys import NOT_KNOWN, SWAP_KEYS, UNANSWERED, SwapKeys, single_keys
from voice.wire.messages import ClientMessage
from voice.wire.requests import Custom, Reply, SwapRequest, read_reply

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """The user's end and ours."""
    master, slave = pty.openpty()
    yield master, slave
    for fd in (master, slave):
        try:
            os.close(fd)
        except OSError:  # the test has closed it
            continue


class Typed:
    """What was typed; `until` waits for it."""

    def __init__(self) -> None:
        self.keys = ""
        self._news = asyncio.Event()

    def __call__(self, key: str) -> None:
        self.keys += key
        self._news.set()

    async def until(self, keys: str) -> None:
        async with asyncio.timeout(10):
            while self.keys != keys:
                self._news.clear()
                await self._news.wait()


async def all_read(fd: int) -> None:
    """Wait until the event loop has read what was written to the other end of a pseudo-terminal."""
    select.select([fd], [], [], 10)
    async with asyncio.timeout(10):
        while select.select([fd], [], [], 0)[0]:
            await asyncio.sleep(0)


def is_line_wise(fd: int) -> bool:
    return bool(termios.tcgetattr(fd)[3] & termios.ICANON)


async def test_keys_come_one_by_one_without_enter_and_unechoed(terminal: tuple[int, int]) -> None:
    master, slave = terminal
    typed = Typed()
    with single_keys(typed, fd=slave) as active:
        assert active
        assert not termios.tcgetattr(slave)[3] & termios.ECHO
        assert termios.tcgetattr(slave)[3] & termios.ISIG, "Ctrl-C must stay a signal"
        os.write(master, b"f")
        await typed.until("f")
        os.write(master, b"r?")
        await typed.until("fr?")


async def test_the_terminal_is_left_as_it_was_found(terminal: tuple[int, int]) -> None:
    _master, slave = terminal
    found = termios.tcgetattr(slave)
    with single_keys(Typed(), fd=slave):
        assert termios.tcgetattr(slave) != found
    assert termios.tcgetattr(slave) == found


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, asyncio.CancelledError])
async def test_the_terminal_is_left_as_it_was_found_by_every_exception(
    terminal: tuple[int, int], error: type[BaseException]
) -> None:
    _master, slave = terminal
    found = termios.tcgetattr(slave)
    with pytest.raises(error), single_keys(Typed(), fd=slave):
        raise error
    assert termios.tcgetattr(slave) == found
    assert not asyncio.get_running_loop().remove_reader(slave)


async def test_arrows_and_broken_characters_are_ignored(terminal: tuple[int, int]) -> None:
    master, slave = terminal
    typed = Typed()
    with single_keys(typed, fd=slave):
        os.write(master, b"\x1b[A")
        await all_read(slave)
        os.write(master, b"\xff")
        await all_read(slave)
        os.write(master, b"a")
        await typed.until("a")


async def test_a_terminal_that_goes_away_is_not_read_again(terminal: tuple[int, int]) -> None:
    master, slave = terminal
    with single_keys(Typed(), fd=slave):
        os.close(master)
        select.select([slave], [], [], 10)
        for _ in range(3):  # iterations of the event loop, in the first of which it reads
            await asyncio.sleep(0)
        assert not asyncio.get_running_loop().remove_reader(slave)


async def test_no_keys_are_read_from_an_input_that_is_not_a_terminal() -> None:
    read_end, write_end = os.pipe()
    try:
        with single_keys(Typed(), fd=read_end) as active:
            assert not active
    finally:
        os.close(read_end)
        os.close(write_end)


@pytest.mark.parametrize("closed", [False, True])
async def test_no_keys_are_read_without_a_standard_input(monkeypatch: pytest.MonkeyPatch, closed: bool) -> None:
    stdin = io.StringIO() if closed else None
    if stdin:
        stdin.close()
    monkeypatch.setattr(sys, "stdin", stdin)
    with single_keys(Typed()) as active:
        assert not active


IN_THE_BACKGROUND = """
import asyncio, os, signal, subprocess, sys
job = '''
import asyncio
from pipelines.talking.keys import single_keys

async def main():
    with single_keys(print) as active:
        print("active" if active else "no keys", flush=True)

asyncio.run(main())
'''
job = subprocess.Popen([sys.executable, "-c", job], process_group=0)
_, status = os.waitpid(job.pid, os.WUNTRACED)
print("stopped" if os.WIFSTOPPED(status) else "ended", flush=True)
if os.WIFSTOPPED(status):
    os.kill(job.pid, signal.SIGKILL)
"""


def test_a_job_in_the_background_leaves_the_terminal_alone(terminal: tuple[int, int]) -> None:
    _master, slave = terminal
    done = subprocess.run(
        [sys.executable, "-c", IN_THE_BACKGROUND],
        cwd=ROOT,
        stdin=slave,
        stdout=subprocess.PIPE,
        text=True,
        timeout=30,
        preexec_fn=lambda: own_terminal(slave),
        check=True,
    )
    assert done.stdout.split("\n") == ["no keys", "ended", ""]
    assert is_line_wise(slave)


def own_terminal(slave: int) -> None:
    """Make a pseudo-terminal the one that controls this process's jobs."""
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)


SUSPENDED = """
import os, signal, subprocess, sys, termios, time
job = '''
import asyncio, os
from pipelines.talking.keys import single_keys

async def main():
    while os.tcgetpgrp(0) != os.getpgrp():
        await asyncio.sleep(0.01)
    pressed = asyncio.Event()
    with single_keys(lambda key: pressed.set()):
        await pressed.wait()

asyncio.run(main())
'''

def modes():
    flags = termios.tcgetattr(0)[3] & (termios.ICANON | termios.ECHO)
    return "keys" if flags == 0 else "lines" if flags == termios.ICANON | termios.ECHO else "torn"

# A shell that has no modes of its own.
signal.alarm(30)
job = subprocess.Popen([sys.executable, "-c", job], process_group=0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
os.tcsetpgrp(0, job.pid)
for _ in range(3):
    while modes() != "keys":
        time.sleep(0.01)
    print("keys", flush=True)
    _, status = os.waitpid(job.pid, os.WUNTRACED)
    print("stopped" if os.WIFSTOPPED(status) else "ended", modes(), flush=True)
    if os.WIFSTOPPED(status):
        os.kill(job.pid, signal.SIGCONT)
"""


def test_a_suspended_call_gives_the_terminal_back_and_takes_it_again(terminal: tuple[int, int]) -> None:
    master, slave = terminal
    shell = subprocess.Popen(
        [sys.executable, "-c", SUSPENDED],
        cwd=ROOT,
        stdin=slave,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: own_terminal(slave),
    )
    try:
        assert shell.stdout is not None
        told = []
        for key in (b"\x1a", b"\x1a", b"q"):
            told.append(shell.stdout.readline().strip())
            os.write(master, key)
            told.append(shell.stdout.readline().strip())
        assert told == ["keys", "stopped lines", "keys", "stopped lines", "keys", "ended lines"]
        assert shell.wait(timeout=30) == 0
    finally:
        shell.kill()


BOTH = {"policy": "adaptive", "tier": None, "tiers": ["large", "fast"], "policies": ["single", "adaptive"]}


class Desk:
    """Writes down what is sent and shown."""

    def __init__(self, *, active: bool = True) -> None:
        self.sent: list[ClientMessage] = []
        self.shown: list[str] = []
        self._numbers = count()
        self.keys = SwapKeys(self._send, self.shown.append)
        self.keys.active = active

    def _send(self, request: SwapRequest) -> ClientMessage:
        self.sent.append(ClientMessage(str(next(self._numbers)), request))
        return self.sent[-1]


def answer(state: object) -> Reply:
    return read_reply(SwapRequest.topic, state)


def opened(state: object = BOTH, *, active: bool = True) -> Desk:
    desk = Desk(active=active)
    desk.keys.open()
    desk.keys.answered(desk.sent[0], answer(state))
    return desk


def test_the_keys_are_shown_in_one_line_once_there_are_two_tiers() -> None:
    (line,) = opened().shown
    assert line == "l large only · f fast only · a adaptive · r race · b fallback · ? now"
    assert len(line) <= 73, "with its label it fits a terminal"


@pytest.mark.parametrize("state", [BOTH | {"tiers": ["large"]}, BOTH | {"tiers": None}, None, ["large"]])
def test_with_one_tier_or_none_no_keys_are_offered(state: object) -> None:
    desk = opened(state)
    assert desk.shown == []
    assert not desk.keys.several


def test_without_a_terminal_two_tiers_are_known_but_no_keys_are_offered() -> None:
    desk = opened(active=False)
    assert desk.shown == []
    assert desk.keys.several


@pytest.mark.parametrize(
    ("key", "request_"),
    [
        ("l", SwapRequest(tier="large")),
        ("f", SwapRequest(tier="fast")),
        ("a", SwapRequest(policy="adaptive")),
        ("r", SwapRequest(policy="race")),
        ("b", SwapRequest(policy="fallback")),
        ("?", SwapRequest()),
        ("R", SwapRequest(policy="race")),
    ],
)
async def test_each_key_makes_the_request_of_its_label(key: str, request_: SwapRequest) -> None:
    desk = opened()
    desk.keys.press(key)
    assert desk.sent[-1].request == request_
    desk.keys.close()


async def test_other_keys_do_nothing() -> None:
    desk = opened()
    for key in "xz \n\x04é":
        desk.keys.press(key)
    assert len(desk.sent) == 1
    assert set(SWAP_KEYS) == set("lfarb?")


@pytest.mark.parametrize(
    ("key", "state", "line"),
    [
        ("f", {"policy": "single", "tier": "fast"}, "from your next turn on: fast only"),
        ("r", {"policy": "race", "tier": None}, "from your next turn on: race"),
        ("?", {"policy": "adaptive", "tier": None}, "now in use: adaptive"),
        ("?", {"policy": "hedged", "tier": "large"}, "now in use: hedged, large only"),
    ],
)
async def test_the_servers_answer_is_shown_in_words(key: str, state: dict[str, Any], line: str) -> None:
    desk = opened()
    desk.keys.press(key)
    desk.keys.answered(desk.sent[-1], answer(BOTH | state))
    assert desk.shown[1:] == [line]


async def test_a_refusal_is_shown_in_the_servers_words_except_for_the_request_at_the_start() -> None:
    desk = Desk()
    desk.keys.open()
    desk.keys.refused(desk.sent[0], "There are no tiers.")
    assert desk.shown == []
    desk.keys.press("f")
    desk.keys.refused(desk.sent[1], "There are no tiers.")
    assert desk.shown == ["There are no tiers."]


class Timers:
    """The timers of an event loop, which run when the test says so."""

    def __init__(self) -> None:
        self._pending: list[tuple[float, Callable[[], None]]] = []
        self._now = 0.0

    def call_later(self, delay: float, callback: Callable[..., None], *arguments: object) -> Any:
        timer = (self._now + delay, partial(callback, *arguments))
        self._pending.append(timer)
        return SimpleNamespace(cancel=lambda: timer in self._pending and self._pending.remove(timer))

    def advance(self, seconds: float) -> None:
        self._now += seconds
        for timer in [timer for timer in self._pending if timer[0] <= self._now]:
            self._pending.remove(timer)
            timer[1]()


def test_a_server_that_does_not_answer_is_reported_once_and_never_after_the_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    timers = Timers()
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: timers)
    desk = Desk()
    desk.keys.open()
    desk.keys.press("f")
    timers.advance(UNANSWERED - 0.1)
    assert desk.shown == []
    timers.advance(0.2)
    assert desk.shown == [NOT_KNOWN]
    desk.keys.press("r")
    desk.keys.close()
    timers.advance(2 * UNANSWERED)
    assert desk.shown == [NOT_KNOWN]


async def test_answers_to_other_requests_are_ignored() -> None:
    desk = opened()
    other = ClientMessage("99", Custom("weather", {}))
    desk.keys.answered(other, Custom("weather", BOTH))
    desk.keys.refused(other, "It rains.")
    assert len(desk.shown) == 1


def test_a_key_changes_the_speed_of_the_large_model_and_back() -> None:
    desk = opened(BOTH | {"speed": "standard"}, active=True)
    assert desk.shown[1:] == ["s the large model at its fast ↯ speed"]
    asyncio.run(_press_twice(desk))
    assert [message.request for message in desk.sent[1:]] == [SwapRequest(speed="fast"), SwapRequest(speed="standard")]
    assert desk.shown[2:] == [
        "from your next turn on: adaptive, the large model at fast speed ↯",
        "from your next turn on: adaptive",
    ]


async def _press_twice(desk: Desk) -> None:
    for speed in ("fast", "standard"):
        desk.keys.press("s")
        desk.keys.answered(desk.sent[-1], answer(BOTH | {"speed": speed}))
