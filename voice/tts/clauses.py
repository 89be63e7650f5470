"""Cuts a stream of text into pieces that can be spoken. Pure: text in, clauses out.

The first piece of an answer ends at its first clause, so that speech starts early; later pieces are whole sentences,
cut at a clause only when they are long. A mark ends a piece only when white space follows it, which keeps decimals
("3.5"), times ("4:10"), thousands ("1,000") and file names whole.
"""

ABBREVIATIONS = frozenset(
    [
        "dr",
        "mr",
        "mrs",
        "ms",
        "prof",
        "st",
        "jr",
        "sr",
        "vs",
        "etc",
        "approx",
        "inc",
        "ltd",
        "co",
        "u.s",
        "e.g",
        "i.e",
        "a.m",
        "p.m",
    ]
)
SENTENCE_MARKS = ".!?…"
CLAUSE_MARKS = ",;:—"
CLOSERS = "\"'”’)]"
LONGEST_ABBREVIATION = max(map(len, ABBREVIATIONS))


def has_words(text: str) -> bool:
    """Whether there is anything in it to be heard: marks, dots and emoji alone are silent."""
    return any(char.isalnum() for char in text)


class ClauseSplitter:
    """Collects text as it streams in and gives back each piece as soon as its end is certain.

    Args:
        first_words: the fewest words of a first piece that ends at a clause mark; shorter ones sound clipped.
        long_chars: a later sentence beyond this many characters is cut at its next clause mark.
    """

    def __init__(self, *, first_words: int = 3, long_chars: int = 100) -> None:
        self.first_words = first_words
        self.long_chars = long_chars
        self.reset()

    def reset(self) -> None:
        """Forget what was collected; the next piece is a first one again."""
        self._text = ""
        self._scanned = 0
        self._first = True

    @property
    def pending(self) -> str:
        """The text collected since the last piece."""
        return self._text

    def feed(self, text: str) -> list[str]:
        """Add streamed text; returns the pieces it completes, stripped, in order."""
        self._text += text
        pieces, start = [], 0
        while (end := self._next_end(start)) is not None:
            piece = self._text[start:end].strip()
            start = self._scanned = end
            if has_words(piece):
                pieces.append(piece)
                self._first = False
        self._text, self._scanned = self._text[start:], self._scanned - start
        return pieces

    def flush(self) -> str | None:
        """The stream ended: what is left, or None; the splitter is then ready for the next answer."""
        rest = self._text.strip()
        self.reset()
        return rest if has_words(rest) else None

    def _next_end(self, start: int) -> int | None:
        """Index just behind the piece that begins at `start`, once white space follows its mark."""
        for i in range(max(self._scanned, start + 1), len(self._text)):
            if self._text[i].isspace():
                mark = i - 1
                while mark > start and self._text[mark] in CLOSERS:
                    mark -= 1
                if self._ends_piece(start, mark):
                    return i
        self._scanned = max(len(self._text) - 1, start)
        return None

    def _ends_piece(self, start: int, mark: int) -> bool:
        char = self._text[mark]
        if char in SENTENCE_MARKS:
            # All of a long text, looked at for each of its marks, would hold up every call.
            return char != "." or not self._is_abbreviation(
                self._text[max(start, mark - LONGEST_ABBREVIATION - 2) : mark]
            )
        if char not in CLAUSE_MARKS:
            return False
        if self._first:
            return len(self._text[start:mark].split(maxsplit=self.first_words)) >= self.first_words
        return mark - start >= self.long_chars

    @staticmethod
    def _is_abbreviation(head: str) -> bool:
        word = head.rsplit(maxsplit=1)[-1].lower() if head.strip() else ""
        return word in ABBREVIATIONS or (len(word) == 1 and word.isalpha() and word != "i")
