"""Single keys of a terminal, without Enter, beside a running event loop. The terminal is left as it was found."""

import asyncio
import contextlib
import os
import signal
import sys
import termios
import tty
from collections.abc import Callable, Iterator

_ESCAPE = b"\x1b"


@contextlib.contextmanager
def single_keys(on_key: Callable[[str], None], *, fd: int | None = None) -> Iterator[bool]:
    """Hand over each key as it is typed, unechoed; Ctrl-C and Ctrl-Z stay. Use it on a running event loop.

    Yields whether there are keys: not when the input is no terminal, or is another job's.

    Args:
        on_key: called on the event loop with one character; keys that send several (arrows) are left out.
        fd: the terminal; standard input by default.
    """
    fd = _standard_input() if fd is None else fd
    if fd is None or not os.isatty(fd) or _in_background(fd):
        yield False
        return
    loop = asyncio.get_running_loop()

    def read() -> None:
        try:
            typed = os.read(fd, 64)
        except OSError:
            typed = b""
        if not typed:
            # The terminal has gone, and would be readable for ever.
            loop.remove_reader(fd)
        elif not typed.startswith(_ESCAPE):
            for key in typed.decode(errors="ignore"):
                on_key(key)

    def suspend() -> None:
        # Not every shell sets its own modes when a job stops.
        _set_mode(fd, found)
        loop.remove_signal_handler(signal.SIGTSTP)
        signal.raise_signal(signal.SIGTSTP)
        # Continued.
        loop.add_signal_handler(signal.SIGTSTP, suspend)

    def resume() -> None:
        # The shell has its own modes while we are stopped.
        _set_mode(fd, None)

    found = termios.tcgetattr(fd)
    # Who started us may want us never to be stopped.
    stoppable = signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL
    try:
        # Before the modes: a stop in between would leave the shell with ours.
        loop.add_signal_handler(signal.SIGCONT, resume)
        if stoppable:
            loop.add_signal_handler(signal.SIGTSTP, suspend)
        _set_mode(fd, None)
        loop.add_reader(fd, read)
        yield True
    finally:
        if stoppable:
            loop.remove_signal_handler(signal.SIGTSTP)
        loop.remove_signal_handler(signal.SIGCONT)
        loop.remove_reader(fd)
        _set_mode(fd, found)


def _set_mode(fd: int, mode: list[object] | None) -> None:
    """Give the terminal these attributes, or the mode for single keys. At once: output may be held by Ctrl-S."""
    # A job in the background would be stopped by this; its shell has set the terminal as it wants it.
    if _in_background(fd):
        return
    # A terminal whose window was closed has no mode any more.
    with contextlib.suppress(termios.error):
        if mode is None:
            tty.setcbreak(fd, termios.TCSANOW)
        else:
            termios.tcsetattr(fd, termios.TCSANOW, mode)  # type: ignore[arg-type]  # as tcgetattr gave it


def _standard_input() -> int | None:
    try:
        return sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):  # None, replaced by something that is no file, or closed
        return None


def _in_background(fd: int) -> bool:
    """Whether another job has the terminal: reading from it or setting it would stop us."""
    try:
        return os.tcgetpgrp(fd) != os.getpgrp()
    except OSError:  # not the terminal that controls our jobs
        return False
