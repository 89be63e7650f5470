"""Removes text that a server sends twice, so that each word is spoken once. Pure."""

from voice.llm.wires.events import Text

LONG = 24
"""The least characters of a repeated piece that count as a repetition, not as more of the answer."""
SEVERAL = 3
"""The least words of a first piece that cannot recur by chance."""


class Repetition:
    """Takes an answer's pieces and returns their new text.

    Servers repeat in three ways: they send text ahead and then stream it, they end with the whole answer, or each piece
    holds the whole answer so far. The last is certain once three pieces in a row have grown, so the second is held back
    until the third arrives.
    """

    def __init__(self) -> None:
        self._said = ""
        self._pieces = 0
        self._ahead = self._replayed = ""
        self._held: str | None = None
        self._last: str | None = None
        """The last piece, once each is known to hold the whole answer so far."""

    def feed(self, piece: Text) -> str:
        """The new text that is certain by now."""
        text = piece.text
        if piece.is_ahead:
            self._ahead += text
            return self.flush() + self._say(text)
        if self._ahead:
            text = self._replayed + text
            if self._ahead.startswith(text) or self._ahead.rstrip() == text.rstrip():
                self._replayed = text
                return ""
            if text.startswith(self._ahead):
                text = text.removeprefix(self._ahead)
            self._ahead = self._replayed = ""
        if self._last is not None:
            return self._grown(text)
        if self._held is not None:
            held, self._held = self._held, None
            if text.startswith(held) and (len(text) > len(held) or piece.ends):
                self._last = self._said
                return self._grown(text)
            return self._say(held + text)
        if self._pieces == 1 and len(text) > len(self._said) and text.startswith(self._said):
            self._held = text
            return ""
        is_whole = self._pieces > 1 and text.strip() == self._said.strip()
        return "" if is_whole and (piece.ends or len(text) >= LONG) else self._say(text)

    def flush(self) -> str:
        """The text held back; called when the answer seems to be over."""
        held, self._held = self._held or "", None
        return self._say(held.removeprefix(self._said) if len(self._said.split()) >= SEVERAL else held)

    def _grown(self, text: str) -> str:
        last, self._last = self._last or "", text
        if not text.startswith(last):
            self._last = None
            return self._say(text)
        return self._say(text.removeprefix(last))

    def _say(self, text: str) -> str:
        self._said += text
        self._pieces += bool(text)
        return text
