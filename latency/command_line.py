"""The command line that `voice` and `latency` share: options, help, suggestions and exit statuses."""

import argparse
import difflib
import errno
import logging
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from latency.record.json_form import visible

FINE, FAILED, USAGE, NO_DATA, MISSING, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""Exit statuses: fine, a check failed, bad usage or configuration, no data, a component is missing, Ctrl-C."""
RUNS = Path("runs")
"""The folder for the run folders of `voice`, in which `latency` looks for the newest one."""
WIDTH = 80
"""Columns that help and listings fit into, however wide the terminal is."""


class Parser(argparse.ArgumentParser):
    """An argument parser that answers a mistake with one sentence and a suggestion, and exits with status 2.

    It takes `-v`, as its commands do: the option may stand before or after a command.
    """

    def __init__(self, **options: Any) -> None:
        # A subparser's own error would name the outer program, so each parser reports its own.
        super().__init__(formatter_class=_Help, exit_on_error=False, **options)
        self._commands: argparse._SubParsersAction[Parser] | None = None
        self.set_defaults(parser=self)
        self.add_argument(
            "-v", "--verbose", action="store_true", default=argparse.SUPPRESS, help="log to standard error"
        )

    def add_version(self) -> None:
        """Take `--version`."""
        self.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")

    def add_command(self, name: str, summary: str, details: str = "", **options: Any) -> "Parser":
        """Add a command and return its parser.

        Args:
            name: The command's name.
            summary: Its line in the list of commands, and the first sentence of its help.
            details: The rest of its help.
            options: Those of an `ArgumentParser`.
        """
        if self._commands is None:
            self._commands = self.add_subparsers(title="commands", metavar="COMMAND", dest="command")
        return self._commands.add_parser(
            name, help=summary, description=f"{sentence(summary)} {details}".strip(), **options
        )

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The arguments; `verbose` is among them.

        Raises:
            SystemExit: For `--help` and `--version` (0) and for arguments that are refused (2).
        """
        found, unknown = self.parse_known_args(args, namespace)
        values = vars(found)
        values.setdefault("verbose", False)
        chosen: Parser = values.pop("parser")
        if unknown:
            chosen._refuse(unknown[0])
        return found

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The standard library's method, with our messages."""
        args = list(sys.argv[1:] if args is None else args)
        command = next((word for word in args if not word.startswith("-")), None)
        if self._commands and command is not None and command not in self._commands.choices:
            self.error(no_command(command, self._commands.choices))
        try:
            return super().parse_known_args(args, namespace)
        except argparse.ArgumentError as error:
            self.error(_in_plain_words(error))

    def error(self, message: str) -> NoReturn:
        """Print the mistake and exit with status 2."""
        hint = "" if message.endswith("?") else f"; see `{self.prog} --help`"
        complain(self.prog, f"{message}{hint}")
        self.exit(USAGE)

    def _refuse(self, word: str) -> NoReturn:
        if not word.startswith("-"):
            self.error(f'unexpected argument "{word}"')
        option = word.partition("=")[0]
        self.error(f"there is no option {option}{did_you_mean(option, self._option_string_actions)}")


class _Help(argparse.HelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=columns() - 2)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        # Reading the metadata of installed packages takes longer than a report.
        from importlib.metadata import PackageNotFoundError, version

        try:
            found = version("turnaround")
        except PackageNotFoundError:
            found = "of a checkout that is not installed"
        print(f"{parser.prog} (Turnaround) {found}")
        parser.exit()


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a sentence about a mistyped word: '; did you mean "replay"?', or nothing if no known word is close."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.7)
    return f'; did you mean "{close[0]}"?' if close else ""


def no_command(name: str, known: Iterable[str]) -> str:
    """The message about a command that does not exist."""
    known = list(known)
    return f'there is no command "{name}"' + (did_you_mean(name, known) or f"; the commands are {', '.join(known)}")


def count(text: str) -> int:
    """The type of an option that takes a count: 1 or more."""
    return _whole(text, 1)


def seed(text: str) -> int:
    """The type of an option that takes a seed: 0 or more."""
    return _whole(text, 0)


def one_of(*choices: str) -> Callable[[str], str]:
    """The type of an option that takes one of a few words."""

    def chosen(text: str) -> str:
        if text not in choices:
            meant = did_you_mean(text, choices)
            raise argparse.ArgumentTypeError(f'takes {" or ".join(choices)}, not "{text}"{meant}')
        return text

    return chosen


def complain(program: str, message: str) -> None:
    """Print one sentence on standard error: in one line, or folded where a terminal shows it."""
    text = visible(f"{program}: {message}")
    print(folded(text, indent=2) if sys.stderr.isatty() else text, file=sys.stderr)


def folded(text: str, *, first: str = "", indent: int = 0) -> str:
    """A paragraph within 80 columns.

    Args:
        text: Words separated by single spaces.
        first: The beginning of the first line.
        indent: Spaces before every other line.
    """
    return textwrap.fill(
        text, columns(), initial_indent=first, subsequent_indent=" " * indent, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def columns() -> int:
    """The columns of a line: those of the terminal, at most 80."""
    return min(WIDTH, shutil.get_terminal_size().columns)


def sentence(words: str) -> str:
    """Words as a sentence: with a capital letter and a full stop."""
    return f"{words[:1].upper()}{words[1:]}."


def log_to_stderr(*, verbose: bool) -> None:
    """Show warnings, or with `-v` everything that is logged."""
    level = logging.DEBUG if verbose else logging.WARNING
    logging.basicConfig(level=level, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")


@contextmanager
def printing(program: str = "latency") -> Iterator[None]:
    """Flush the output of the block; a reader that has left (`| head`) is not an error.

    Args:
        program: The command's name, with which an error message begins.

    Raises:
        OSError: Of a file or folder, for `unusable`.
        SystemExit: Standard output cannot be written (status 4); the reason has been said.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _close_output()
    except OSError as error:
        if error.filename is not None:
            raise
        _close_output()
        why = error.strerror or error
        complain(program, f"standard output cannot be written ({why}); free some space or print elsewhere")
        raise SystemExit(MISSING) from error


def unusable(error: OSError, program: str) -> int:
    """Print which file or folder cannot be used, and why; returns the exit status.

    A name may be too long, or a folder inaccessible, wherever the user's path is first accessed.

    Raises:
        OSError: It is about no file.
    """
    if error.filename is None:
        raise error
    complain(program, f"{os.fsdecode(error.filename)} cannot be used: {error.strerror}")
    return MISSING if error.errno in _FAILURES else USAGE


_FAILURES = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE})
"""Errors of the machine, not of a path."""


def _close_output() -> None:
    # Python would flush again at exit and complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _whole(text: str, least: int) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f'takes a whole number of {least} or more, not "{text}"')
    return int(text)


def _in_plain_words(error: argparse.ArgumentError) -> str:
    """Argparse's message as a clause that begins with the option."""
    message = error.message
    for theirs, ours in {
        "expected one argument": "needs a value",
        "expected at least one argument": "needs at least one value",
        "not allowed with argument": "cannot be combined with",
        "ignored explicit argument": "takes no value, not",
    }.items():
        message = message.replace(theirs, ours)
    return f"{error.argument_name} {message}" if error.argument_name else message
