"""The parts of every printed report: a console that also suits a pipe, compact tables, and lines with labels."""

import codecs
import os
import re
import textwrap
from collections.abc import Collection, Sequence
from io import TextIOWrapper
from typing import Any, TextIO

from rich import box
from rich.console import Console
from rich.table import Table

PIPE_WIDTH = 120
"""Characters of a line in a pipe or a file, unless the variable COLUMNS is set."""


_DRAWN_IN_ASCII = "turnaround.drawn_in_ascii"
"""Name of the error handler for characters that a stream's encoding lacks."""
_IN_ASCII = dict(zip("█░·▒▓◆│┊─…→▁▂▃▄▅▆▇", "#-.=X*|:-~>.:-=+*%", strict=True))
"""ASCII replacements of the reports' drawing characters."""


def _drawn_in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    # Transcripts may hold any character.
    return "".join(_IN_ASCII.get(char, "?") for char in error.object[error.start : error.end]), error.end


codecs.register_error(_DRAWN_IN_ASCII, _drawn_in_ascii)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave a closed pipe to the caller, because rich would exit with status 1, whatever the verdict."""
        raise

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as rich does, but strip trailing blanks from plain text."""
        if self.is_terminal:
            super().print(*objects, **options)
            return
        with self.capture() as captured:
            super().print(*objects, **options)
        self.file.write(re.sub(r" +$", "", captured.get(), flags=re.MULTILINE))


def console_for(file: TextIO) -> Console:
    """A console on a text stream; colours only in a terminal, and characters that the stream lacks drawn in ASCII."""
    if isinstance(file, TextIOWrapper) and not file.encoding.lower().startswith("utf"):
        file.reconfigure(errors=_DRAWN_IN_ASCII)
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isdecimal() and int(columns) else PIPE_WIDTH
    return _Console(file=file, width=None if file.isatty() else width, markup=False, emoji=False, highlight=False)


LABEL = 13
"""Characters of a line's label; a long line continues below its text."""


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, text: Collection[str]) -> Table:
    """A table without blank lines around it, two blanks between its columns.

    Args:
        headings: One for each column.
        text: The headings of columns that are left-aligned and wrapped; the others hold figures and are never cut.
    """
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1), pad_edge=False)
    for heading in headings:
        is_text = heading in text
        made.add_column(heading, justify="left" if is_text else "right", no_wrap=not is_text, overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def labelled(label: str, text: str) -> str:
    """A line of text after its label."""
    return f"{label:<{LABEL}}{text}"


def fitted(line: str, width: int, *, indent: int = LABEL) -> str:
    """A line broken between words at `width` characters; continuation lines are indented by `indent`."""
    return textwrap.fill(
        line, max(width, 2 * indent), subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )
