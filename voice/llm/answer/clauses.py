"""Cuts a stream of text into pieces that can be spoken. Pure: text in, clauses out.

The first piece of an answer ends at its first clause, so that speech starts early; later pieces are whole sentences,
cut at a clause only when they are long. Punctuation ends a piece only when white space follows, which keeps decimals
("3.5"), times ("4:10"), thousands ("1,000"), addresses and file names whole. The piece ends as soon as the white space
arrives. A comma or semicolon after a letter ends the first piece without it, since a model sends the white space only
with its next token. An introduction ("Sure,") may be a piece of its own before the first clause.

A piece ends without punctuation only if it would be longer than a breath (`LONGEST_FIRST`, `LONGEST`): the memory for
synthesis grows with the square of its length. With our voice (six sentences of either kind, said three times), a cut at
a comma lengthens the pause there from 110 to 235 ms; a cut inside a phrase adds a pause of 135 ms, and lengthens the
words before it as at the end of a sentence.
"""

import re
from collections.abc import Callable

from voice.language import Language
from voice.language.sentence_ends import LOOKAHEAD, dot_ends

SENTENCE_MARKS = ".!?…"
CLAUSE_MARKS = ",;:"
MARKS = SENTENCE_MARKS + CLAUSE_MARKS
MARKS_AT_ONCE = ",;"
"""Punctuation that ends the first piece without white space after it."""
DASHES = "—–-"
CLOSERS = "\"'”’)]}"
LONGEST_FIRST, LONGEST = 240, 320
"""The most characters of the first piece and of others without punctuation: 15 and 20 seconds of speech."""
SECONDS_PER_CHARACTER = 0.06
"""Rate of English speech, rather too fast: a gap is worse than an unnecessary continuation."""
_LONGEST_ABBREVIATION = 24
"""Characters examined before a punctuation mark."""
_LONGEST_CLOSING = 40
"""The most characters of closing marks after punctuation."""
_ENTRY = re.compile(r"([\n,;:—–-]|^)\s*[(\[]?(\d{1,2})$")
_BULLET = re.compile(r"^\s*[-*+•◦▪‣–—]+\s+")
# Allowed between punctuation and white space: closing quotes, emphasis, citations, invisible characters.
_CLOSED = re.compile(r"(?:\[\^?\d[\d, –-]*\]|【[^】]*】|[\"'”’»“)\]}*_\u00ad\u200b-\u200f\u2060\ufe0f\ufeff])+$")
_INVISIBLE = dict.fromkeys((0xAD, *range(0x200B, 0x2010), 0x2060, 0xFEFF))
# Text before the minus of a formula or the dash of a range.
_RANGE = re.compile(r"(?:\d(?:\s?[apAP][mM])?|\d[a-z]|(?<![\w'’])[b-hj-z]|[ap]\.m\.|[%°€²³)]|\b[A-Z][a-z]{1,2}\.)$")
_CITING = re.compile(r"\[\^?\d[\d, –-]*$")
_DATE = re.compile(
    r"(?:(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d\d?(?:st|nd|rd|th)?"
    r"|\d(?:st|nd|rd|th)? (?:of )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*)$"
)
_ENTITY = re.compile(r"&#?\w{1,8}$")


def _never(_text: str) -> bool:
    return False


def has_words(text: str) -> bool:
    """Whether the text has anything audible: punctuation and emoji alone are silent."""
    return any(char.isalnum() for char in text)


class ClauseSplitter:
    """Collects streamed text and returns each piece as soon as its end is certain.

    Args:
        first_words: the fewest words of a first piece that ends at a clause mark; shorter ones sound clipped.
        long_chars: a later sentence beyond this many characters is cut at its next clause mark.
        begun: the text continues an answer of which pieces have been spoken, so it has no first piece.
        language: that of the text, for its abbreviations.
        goes_alone: whether the text before a comma, and the comma, are spoken before the first clause.
    """

    def __init__(
        self,
        *,
        first_words: int = 3,
        long_chars: int = 100,
        begun: bool = False,
        language: Language = "en",
        goes_alone: Callable[[str], bool] = _never,
    ) -> None:
        self._language: Language = language
        self._goes_alone = goes_alone
        self.first_words = first_words
        self.long_chars = long_chars
        self._start(first=not begun)

    def _start(self, *, first: bool) -> None:
        self._text = ""
        self._scanned = 0
        self._first = self._begins = first
        self._introduces = False
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
                # The first clause follows an introduction.
                self._first, self._begins = self._introduces, False
                self._introduces = False
        self._text, self._scanned = self._text[start:], self._scanned - start
        return pieces

    def flush(self) -> str | None:
        """End the stream; returns the remaining text, or None. The splitter is then ready for the next answer."""
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
                if self._text[i] == "\n":
                    return i
                ends = self._ends_piece(start, self._mark(start, i), i)
                if ends is None:
                    self._scanned = i
                    return None
                if ends:
                    return i
        self._scanned = max(len(self._text) - 1, start)
        return None

    def _last_space(self, start: int, end: int) -> int | None:
        """Index of the last white space between two words of a piece; None if it is a single word."""
        return next((i for i in range(end - 1, start, -1) if self._text[i].isspace()), None)

    def _mark(self, start: int, end: int) -> int:
        """Index of the character before `end` that may end a piece, not counting closing marks."""
        if self._text[end - 1].isalnum() or self._text[end - 1] in MARKS:
            return end - 1
        first = max(start, end - _LONGEST_CLOSING)
        closed = _CLOSED.search(self._text, first, end)
        return max(closed.start() - 1 if closed else end - 1, start)

    def _ends_at_once(self, start: int, mark: int) -> bool:
        """Whether the first piece ends with the mark at `mark`, regardless of the next character."""
        if not self._first or mark <= start or self._text[mark] not in MARKS_AT_ONCE:
            return False
        return self._text[mark - 1].isalpha() and bool(self._ends_piece(start, mark, mark + 1))

    def _ends_piece(self, start: int, mark: int, end: int) -> bool | None:
        """Whether a piece ends with the mark at `mark` and closing marks up to `end`; None if not yet certain."""
        char = self._text[mark]
        if char in SENTENCE_MARKS:
            return char != "." or self._dot_ends(start, mark, end)
        if char in DASHES:
            # Alone between two words; between numbers it says "to".
            before = self._before(start, mark).rstrip()
            is_clause = self._text[mark - 1 : mark].isspace() and not _RANGE.search(before)
        else:
            # "e.g.," belongs to the next words, and "[3, 4]" and "&amp;" are whole.
            before = self._before(start, mark)
            is_clause = (
                char in CLAUSE_MARKS and not before.endswith(("e.g.", "i.e.", "et al.")) and not _CITING.search(before)
            )
            is_clause = is_clause and (char != ";" or not _ENTITY.search(before))
        if not is_clause:
            return False
        if self._first:
            long = len(self._text[start:mark].split(maxsplit=self.first_words)) >= self.first_words
            if not long and char == "," and self._begins and self._goes_alone(_spoken(self._text[start:end])):
                self._introduces = long = True
        else:
            long = mark - start >= self.long_chars
        if long and char == "," and _DATE.search(before):
            # A year may follow.
            following = self._text[end:].lstrip()
            return not following[0].isdigit() if following else None
        return long

    def _dot_ends(self, start: int, mark: int, end: int) -> bool | None:
        """Whether the dot at `mark` ends a sentence; it may belong to an abbreviation or a list number."""
        head = self._before(start, mark)
        entry = _ENTRY.search(head)
        if entry and not entry[1] and mark - start > len(head):
            entry = None
        if entry and entry[1] and entry[1] in DASHES and _RANGE.search(head[: entry.start(1)].rstrip()):
            entry = None  # it ends a formula: "n - 1."
        # "7. Anything else?" is an answer. List numbers begin lines, or count from one.
        if entry and (entry[1] == "\n" or int(entry[2]) in (self._entry, self._entry + 1)):
            self._entry = int(entry[2])
            return False
        if head.endswith("."):
            return True
        head = head if head.isascii() else head.translate(_INVISIBLE)
        return dot_ends(head + ".", self._text[end : end + LOOKAHEAD], language=self._language)

    def _before(self, start: int, mark: int) -> str:
        """The text just before `mark`; examining all of a long text for each mark would block every call."""
        return self._text[max(start, mark - _LONGEST_ABBREVIATION) : mark]


def sentences(text: str, *, language: Language = "en") -> list[str]:
    """The sentences of a whole text."""
    splitter = ClauseSplitter(first_words=len(text) + 1, long_chars=len(text) + 1, begun=True, language=language)
    found, rest = splitter.feed(text), splitter.flush()
    return [*found, rest] if rest else found


def _spoken(piece: str) -> str:
    """A piece stripped of white space and of a leading bullet, which would be read out."""
    return _BULLET.sub("", piece).strip()
