"""The shapes that reports are made of: compact tables, and lines with a label in front of them."""

import textwrap
from collections.abc import Collection, Sequence

from rich import box
from rich.table import Table

LABEL = 13
"""Characters of a line's label; a line that is too long goes on below its text."""


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, text: Collection[str]) -> Table:
    """A table without blank lines around it, two blanks between its columns.

    Args:
        headings: One for each column.
        rows: The cells of each row.
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
    """A line broken between words at `width` characters; what follows is indented by `indent`."""
    return textwrap.fill(
        line, max(width, 2 * indent), subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )
