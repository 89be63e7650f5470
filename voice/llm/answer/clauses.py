"""Cuts a stream of text into pieces that can be spoken. Pure: text in, clauses out.

The first piece of an answer ends at its first clause, so that speech starts early; later pieces are whole sentences,
cut at a clause only when they are long. A mark ends a piece only when white space follows it, which keeps decimals
("3.5"), times ("4:10"), thousands ("1,000"), addresses and file names whole. Text
after that white space does not matter: a piece ends as soon as it is there. The comma or semicolon that ends the first
piece need not wait for the white space when it follows a letter: a model sends that only with its next token.

No piece ends where there is no mark, unless it would be longer than a breath (`LONGEST_FIRST`, `LONGEST`): the memory
that synthesis takes grows with the square of a piece's length. With our voice (six sentences of either kind, said three
times), a cut at a comma makes the pause there 235 ms instead of 110; a cut inside a phrase makes one of 135 ms where
there is none, and lengthens the words before it as at the end of a sentence.
"""

import re

from voice.language import Language

# A dot after one of these ends nothing; neither does one after single letters ("J.", "p.m.", "U.K.").
_ABBREVIATION = (
    r"dr|mr|mrs|ms|mx|prof|rev|hon|gov|sen|rep|gen|col|capt|lt|sgt|st|mt|jr|sr|ph\.d"
    r"|vs|etc|cf|al|ca|approx|dept|est|fig|vol|inc|ltd|co|corp|jan|feb|apr|aug|sept|oct|nov|dec"
    r"|(?:[^\W\d_]\.)*[^\W\d_]"
)
_ABBREVIATIONS: dict[Language, re.Pattern[str]] = {
    "en": re.compile(_ABBREVIATION),
    # In German a dot makes a number an ordinal, too ("am 3. Mai"); a sentence that ends with one goes on.
    "de": re.compile(rf"{_ABBREVIATION}|nr|bzw|usw|evtl|ggf|inkl|mio|mrd|str|tel|min|std|\d{{1,2}}"),
}
LONGEST_ABBREVIATION = 6
SENTENCE_MARKS = ".!?…"
CLAUSE_MARKS = ",;:"
MARKS_AT_ONCE = ",;"
"""Those that end the first piece without white space after them."""
DASHES = "—–-"
OPENERS = "\"'“‘([{"
CLOSERS = "\"'”’)]}"
LONGEST_FIRST, LONGEST = 240, 320
"""Characters of the first piece and of others, where no mark ends them: 15 and 20 seconds of speech."""
_ENTRY = re.compile(r"([\n,;:—–-]|^)\s*[(\[]?(\d{1,2})$")
_BULLET = re.compile(r"^\s*[-*•–—]+\s+")


def has_words(text: str) -> bool:
    """Whether there is anything in it to be heard: marks, dots and emoji alone are silent."""
    return any(char.isalnum() for char in text)


class ClauseSplitter:
    """Collects text as it streams in and gives back each piece as soon as its end is certain.

    Args:
        first_words: the fewest words of a first piece that ends at a clause mark; shorter ones sound clipped.
        long_chars: a later sentence beyond this many characters is cut at its next clause mark.
        begun: the text continues an answer of which pieces have been spoken, so none of its own is a first one.
        language: that of the text, whose abbreviations end no sentence.
    """

    def __init__(
        self, *, first_words: int = 3, long_chars: int = 100, begun: bool = False, language: Language = "en"
    ) -> None:
        self._abbreviation = _ABBREVIATIONS[language]
        self.first_words = first_words
        self.long_chars = long_chars
        self._start(first=not begun)

    def _start(self, *, first: bool) -> None:
        self._text = ""
        self._scanned = 0
        self._first = first
        self._entry = 0

    @property
    def pending(self) -> str:
        """The text collected since the last piece."""
        return self._text

    def feed(self, text: str) -> list[str]:
        """Add streamed text; returns the pieces it completes, stripped, in order."""
        self._text += text
        pieces, start = [], 0
        while (end := self._next_end(start)) is not None:
            piece = _spoken(self._text[start:end])
            start = self._scanned = end
            if has_words(piece):
                pieces.append(piece)
                self._first = False
        self._text, self._scanned = self._text[start:], self._scanned - start
        return pieces

    def flush(self) -> str | None:
        """The stream ended: what is left, or None; the splitter is then ready for the next answer."""
        rest = _spoken(self._text)
        self._start(first=True)
        return rest if has_words(rest) else None

    def _next_end(self, start: int) -> int | None:
        """Index just after the piece that begins at `start`, once its end is certain."""
        for i in range(max(self._scanned, start + 1), len(self._text) + 1):
            if self._ends_at_once(start, i - 1):
                return i
            if i - start > (LONGEST_FIRST if self._first else LONGEST):
                return self._last_space(start, i) or i
            if i < len(self._text) and self._text[i].isspace():
                mark = i - 1
                while mark > start and self._text[mark] in CLOSERS:
                    mark -= 1
                if self._text[i] == "\n" or self._ends_piece(start, mark):
                    return i
        self._scanned = max(len(self._text) - 1, start)
        return None

    def _last_space(self, start: int, end: int) -> int | None:
        """Index of the last white space between two words of a piece; None if it is a single word."""
        return next((i for i in range(end - 1, start, -1) if self._text[i].isspace()), None)

    def _ends_at_once(self, start: int, mark: int) -> bool:
        """Whether the first piece ends with the mark at `mark`, whatever follows."""
        if not self._first or mark <= start or self._text[mark] not in MARKS_AT_ONCE:
            return False
        return self._text[mark - 1].isalpha() and self._ends_piece(start, mark)

    def _ends_piece(self, start: int, mark: int) -> bool:
        char = self._text[mark]
        if char in SENTENCE_MARKS:
            return char != "." or not self._is_inner_dot(start, mark)
        if char in DASHES:
            # Alone between two words; between numbers it says "to".
            before = self._before(start, mark).rstrip()
            is_clause = self._text[mark - 1 : mark].isspace() and not before[-1:].isdigit()
        else:
            # What "e.g.," is followed by belongs to it.
            is_clause = char in CLAUSE_MARKS and not self._before(start, mark).endswith(("e.g.", "i.e."))
        if not is_clause:
            return False
        if self._first:
            return len(self._text[start:mark].split(maxsplit=self.first_words)) >= self.first_words
        return mark - start >= self.long_chars

    def _is_inner_dot(self, start: int, mark: int) -> bool:
        """Whether the dot at `mark` belongs to an abbreviation, an initial or the number of a list's entry."""
        head = self._before(start, mark)
        word = head.rsplit(maxsplit=1)[-1].lower().lstrip(OPENERS) if head.strip() else ""
        if word != "i" and self._abbreviation.fullmatch(word):
            return True
        if not (entry := _ENTRY.search(head)) or (not entry[1] and mark - start > len(head)):
            return False
        # "7. Anything else?" is an answer. The entries of a list begin lines, or count from one.
        if entry[1] != "\n" and int(entry[2]) not in (self._entry, self._entry + 1):
            return False
        self._entry = int(entry[2])
        return True

    def _before(self, start: int, mark: int) -> str:
        """The end of what stands in front of `mark`: all of a long text, for each mark, would hold up every call."""
        return self._text[max(start, mark - LONGEST_ABBREVIATION - 2) : mark]


def sentences(text: str, *, language: Language = "en") -> list[str]:
    """The sentences of a whole text."""
    splitter = ClauseSplitter(first_words=len(text) + 1, long_chars=len(text) + 1, begun=True, language=language)
    found, rest = splitter.feed(text), splitter.flush()
    return [*found, rest] if rest else found


def _spoken(piece: str) -> str:
    """A piece without white space around it and without the bullet in front, which would be read out."""
    return _BULLET.sub("", piece).strip()
