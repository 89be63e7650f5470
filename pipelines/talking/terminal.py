"""The terminal of `voice talk`: single keys are read without Enter, and C libraries write nothing on it."""

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
    """Pass on each key as it is typed, without echo; Ctrl-C and Ctrl-Z work as usual. Needs a running event loop.

    Yields whether keys are read: False if the input is not a terminal, or belongs to another job.

    Args:
        on_key: called on the event loop with one character; keys that send several (arrows) are ignored.
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
            # The terminal is gone; it would be readable for ever.
            loop.remove_reader(fd)
        elif not typed.startswith(_ESCAPE):
            for key in typed.decode(errors="ignore"):
                on_key(key)

    def suspend() -> None:
        # Not every shell restores its own modes when a job stops.
        _set_mode(fd, found)
        loop.remove_signal_handler(signal.SIGTSTP)
        signal.raise_signal(signal.SIGTSTP)
        # The job has been continued.
        loop.add_signal_handler(signal.SIGTSTP, suspend)

    def resume() -> None:
        # The shell sets its own modes while we are stopped.
        _set_mode(fd, None)

    found = termios.tcgetattr(fd)
    # The parent may have made us unstoppable on purpose.
    stoppable = signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL
    try:
        # Before setting our mode: a stop in between would leave the shell with it.
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
    """Set these attributes, or the mode for single keys. TCSANOW, because Ctrl-S may be holding the output."""
    # This would stop a job in the background, whose shell has already set the terminal.
    if _in_background(fd):
        return
    # A terminal whose window has been closed has no mode.
    with contextlib.suppress(termios.error):
        if mode is None:
            tty.setcbreak(fd, termios.TCSANOW)
        else:
            termios.tcsetattr(fd, termios.TCSANOW, mode)  # type: ignore[arg-type]  # as tcgetattr returned it


def _standard_input() -> int | None:
    try:
        return sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):  # None, not a file, or closed
        return None


def _in_background(fd: int) -> bool:
    """Whether another job has the terminal: reading or setting it would stop us."""
    try:
        return os.tcgetpgrp(fd) != os.getpgrp()
    except OSError:  # not our controlling terminal
        return False


@contextlib.contextmanager
def own_stderr() -> Iterator[None]:
    """Keep C libraries' output to standard error off the screen, but not Python's.

    PortAudio and ALSA write into the middle of the display, also from threads; they report errors in other ways too.

    Processes that were started before keep their standard error.
    """
    sys.stderr.flush()
    before, kept = sys.stderr, os.dup(2)
    with open(kept, "w", encoding=getattr(before, "encoding", None) or "utf-8", errors="replace", buffering=1) as ours:  # noqa: PTH123
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 2)
        os.close(nothing)
        sys.stderr = ours
        try:
            yield
        finally:
            sys.stderr = before
            ours.flush()
            os.dup2(kept, 2)
