"""Starts and ends the process of a command or of a program with an agent: threads, logging, imports, exit."""

import atexit
import logging
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from latency.command_line import INTERRUPTED, complain, log_to_stderr
from latency.record.run import RunError
from pipelines.threads import limit_threads
from voice.errors import AlreadyReported, ConfigurationError, VoiceError


def prepare_process(*, verbose: bool) -> None:
    """Make the settings that must precede the heavy imports: thread counts and logging."""
    limit_threads()
    log_to_stderr(verbose=verbose)
    for handler in logging.getLogger().handlers:
        handler.setFormatter(SafeFormatter(handler.formatter._fmt if handler.formatter else None))
    # pipecat logs through loguru, which would print debug lines and a banner.
    from loguru import logger

    logger.remove()
    log_pipecat(level="DEBUG" if verbose else "WARNING")
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _show_safely


def log_pipecat(*, level: str) -> None:
    """Show pipecat's log from `level` on, on standard error."""
    from loguru import logger

    def is_news(record: Any) -> bool:
        # The turn itself reports a tier's failed request and its effect.
        tier = sys.modules.get("voice.llm.tiers.tier")
        return level == "DEBUG" or tier is None or not tier.is_in_request()

    def line(record: Any) -> str:
        return "{level} {name}: {message}\n{exception}"

    def write(text: str) -> None:
        sys.stderr.write(f"{safe(text.rstrip())}\n")

    logger.add(write, level=level, format=line, filter=is_news, diagnose=False)


def _show_safely(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Show an unexpected traceback, without keys."""
    print(safe("".join(traceback.format_exception(kind, error, trace)).rstrip()), file=sys.stderr)


def safe(message: str) -> str:
    """A message made safe for a log: without keys and, line by line, without control characters."""
    from voice.redaction import printable, redacted

    return "\n".join(map(printable, redacted(message).splitlines()))


class SafeFormatter(logging.Formatter):
    """Formats log records without keys and control characters."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record, with its traceback."""
        return safe(super().format(record))


def run(work: Callable[[], int]) -> int:
    """Run a command of `latency`; returns its exit status. The error that ends it is printed in one line."""
    try:
        return work()
    except AlreadyReported as error:
        return error.exit_code
    except (VoiceError, RunError) as error:
        complain("latency", str(error))
        return error.exit_code
    except KeyboardInterrupt:
        complain("latency", "interrupted")
        return INTERRUPTED


def has_consent(question: str, *, agreed: bool) -> bool:
    """Whether the user agrees to requests that are billed.

    Args:
        question: is asked on the terminal.
        agreed: whether they agreed on the command line.

    Raises:
        ConfigurationError: nobody can be asked.
    """
    if agreed:
        return True
    if not sys.stdin.isatty():
        raise ConfigurationError("These requests are billed; add --yes to make them.")
    return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")


@contextmanager
def loading_code() -> Iterator[None]:
    """For imports of libraries: Ctrl-C ends the process at once, and the garbage collector is off.

    Otherwise an extension module that is being initialised would turn Ctrl-C's exception into an ImportError.
    """
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    try:
        from voice.server.garbage_collection import importing

        with importing():
            yield
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def end_in_a_sentence() -> None:
    """Make a program end on our uncaught errors as a command does, without a traceback; its own hook stays."""
    if sys.excepthook in (sys.__excepthook__, _show_safely):
        sys.excepthook = _say_and_exit


def _say_and_exit(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not isinstance(error, VoiceError):
        _show_safely(kind, error, trace)
        return
    complain(Path(sys.argv[0]).name or "python", str(error))
    sys.exit(error.exit_code)


def leave(code: int) -> NoReturn:
    """End the process after everything has been closed; functions registered with `atexit` run.

    Python would first wait for every thread: up to 2 s on a busy machine, for an obsolete Whisper pass.
    """
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
