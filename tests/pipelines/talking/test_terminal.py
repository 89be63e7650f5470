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
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.talking.terminal import single_keys

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
from pipelines.talking.terminal import single_keys

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
from pipelines.talking.terminal import single_keys

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


SILENCED = """
import os, subprocess, sys
from pipelines.talking.terminal import own_stderr

before = subprocess.Popen("read line; echo child >&2", shell=True, stdin=subprocess.PIPE)
with own_stderr():
    os.write(2, b"a library\\n")
    print("the call", file=sys.stderr)
    before.communicate(b"now\\n")
os.write(2, b"a library afterwards\\n")
print("the report", file=sys.stderr)
"""


def test_only_libraries_are_silenced_and_only_meanwhile() -> None:
    done = subprocess.run([sys.executable, "-c", SILENCED], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == ["the call", "child", "a library afterwards", "the report"]
