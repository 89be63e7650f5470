"""An answer while it is heard: words that have been played are bright, the others dim. Pure."""

from rich.text import Text

LABEL = ("agent", "bold green")
HEARD, UNHEARD, UNSAID = "", "dim", "dim strike"
"""Styles of words that were played, that are still to come, and that will not be played any more."""


class AnswerLine:
    """The words of an answer, in the pieces in which the server reports them; false while there are none."""

    def __init__(self) -> None:
        self._pieces: dict[object, tuple[str, str]] = {}

    def __bool__(self) -> bool:
        return bool(self._pieces)

    @property
    def is_heard(self) -> bool:
        """Whether all of it has been played."""
        return not any(left.strip() for _, left in self._pieces.values())

    def spoken(self, piece: object, heard: str, left: str) -> None:
        """Note how far a piece has been played.

        Args:
            piece: what the server calls it.
            heard: its beginning, which has been played.
            left: the rest of its words.
        """
        self._pieces[piece] = heard, left

    def line(self, *, over: bool = False) -> Text:
        """The line; `over`: nothing more of it will be played."""
        line = Text.assemble(LABEL, " ")
        for heard, left in self._pieces.values():
            line.append(" ")
            line.append(heard, HEARD)
            # Only words are struck out, not the space before them.
            rest = left.lstrip()
            line.append(left[: len(left) - len(rest)]).append(rest, UNSAID if over else UNHEARD)
        return line
