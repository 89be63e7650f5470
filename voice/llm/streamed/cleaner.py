"""Separates a model's stream into the words to speak and the tool calls written as text. Pure."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from voice.llm.streamed.markers import PENDING, ROLES, Marker, Pending, marker
from voice.llm.streamed.written_calls import LONGEST, WrittenCall, is_like_call, may_be_call, read_calls
from voice.plain_text import PlainStream

LONGEST_HEADER = 120
"""The most characters in the header of a turn or channel; longer text is not a header."""
QUOTES = tuple("\"'`“‘”’")
# Where a marker or an object may begin, by the next characters.
_CANDIDATE = re.compile(
    r'<(?=\s?[|｜/A-Za-z:<]|\s?\Z)|◁|\[(?=[/A-Za-z\s]|\{[\s"]|\{?\Z)|\{(?=[\s"]|\Z)|(?<!`)`(?=``|`?\Z)'
)
_MARKER = re.compile(r"[<\[◁]")
_FENCE = re.compile(r"```[a-z_]{0,12}\s{0,8}")
_SILENT_FENCE = re.compile(r"```(?:think|thinking|thoughts?|reasoning|tool_code|tool_outputs?)[ \t\r]{0,8}\n")
"""A code fence around text that is not part of the answer."""
_CUT_TOKEN = re.compile(r"<[|｜][\w▁]+[|｜]?|</[\w:-]+")
_STRUCTURE = re.compile(r'\\.|["{}\[\]]', re.DOTALL)
_RECIPIENT = re.compile(r"to=([\w.-]{1,64})")
_ROLE = re.compile(r"\s*(\w*)")
_OWN_ROLES = frozenset(["assistant", "chatbot", "model", "bot", "ai"])
_FOREIGN_ROLES = ROLES - _OWN_ROLES
_ALOUD = (
    "the user",
    *(
        f"{filler}{mark}the user"
        for filler in ("okay", "ok", "alright", "hmm", "so", "well", "first")
        for mark in (", ", " ", ", so ", ". ")
    ),
)
"""The beginning of a thought, in a form never used to address the caller."""
_BARE_CHANNEL, _BARE_FINAL = "analysis", "assistantfinal"
"""The remains of gpt-oss's channels if a server drops their tokens."""

_Mode = Literal["words", "thought", "call", "result", "turn", "header", "channel", "object", "fence", "over"]


@dataclass(frozen=True, slots=True)
class Retraction:
    """The last words were a thought, not an answer.

    Parameters:
        length: the number of characters; all of them came after the previous thought, if any.
    """

    length: int


Piece = str | Retraction | WrittenCall


class AnswerCleaner:
    """Passes on an answer's streamed words, without markers, thoughts, other speakers' turns and written calls.

    Ordinary words pass at once; only a possible marker and a possible tool call are held back. The result does not
    depend on how the text is divided into chunks.

    A thought may end without a beginning, which was part of the prompt. Everything up to there was then a thought, and
    a `Retraction` lets the reader drop it if it is not spoken yet. An answer that begins like a thought ("Okay, the
    user wants …") is taken back and held until the end of the thought or of the answer, and so is every answer of a
    model that has been seen to think without a beginning (`withholds`). Words already spoken cannot be taken back.

    A written call counts only if neither words nor a thought follow it and it is not retracted; a bare object or list,
    without a marker or code fence, counts only if it is the whole answer. Any other call is a mention, neither spoken
    nor made. All calls come last, from `flush`.

    A thought or call without an end is dropped. A tag in quotation marks is only mentioned, and spoken. Text after the
    beginning of a caller's turn is invented, and dropped.

    Args:
        tools: names of the tools there are.
        withholds: hold everything back until a thought ends.
    """

    def __init__(self, *, tools: Collection[str] = (), withholds: bool = False) -> None:
        self.thought_before = False
        """Whether a thought ended without a beginning."""
        self.mentioned: list[str] = []
        """Names of the tools whose calls were only mentioned."""
        self._calls: list[WrittenCall] = []
        """The calls that count, by the answer so far."""
        self._tools = tools
        self._plain = PlainStream()
        self._text = ""
        self._out: list[Piece] = []
        self._mode: _Mode = "words"
        self._region: Marker | None = None
        """The marker that began the present non-text part."""
        self._collected: list[str] = []
        self._length = 0
        self._has_channels = False
        self._recipient = ""
        self._depth, self._in_string = 0, False
        self._fence = ""
        self._is_fenced = False
        """Whether a call was found in a code fence that has not ended."""
        self._offset = self._no_call_until = 0
        """The number of characters read before `_text`, and the position up to which there is no call."""
        self._again = ""
        """The number of characters that were taken for a header and must be read again."""
        self._lead: str | None = None if withholds else ""
        """The words so far, while they may be the beginning of a thought."""
        self._withheld: list[str] | None = [] if withholds else None
        self._last = self._last_seen = ""
        """The last character said, and the last that is not white space."""
        self._gap = False
        """Whether something has been left out since."""
        self._said, self._before = 0, ""
        """The number of characters that a `Retraction` would take back, and the last one before them."""

    def feed(self, text: str) -> list[Piece]:
        """The pieces that `text` completes."""
        self._text += self._plain.feed(text)
        self._read(final=False)
        return self._take()

    def flush(self) -> list[Piece]:
        """End the stream; returns the words held back, or whole calls."""
        self._text += self._plain.flush()
        self._read(final=True)
        if self._mode == "call":
            self._end_call()
        if self._mode == "object":
            whole = self._fence + "".join(self._collected)
            self._mode = "words"
            if not is_like_call(whole, self._tools):
                self._no_call_until = self._offset
                self._read_again(whole, 0)
                self._read(final=True)
        if self._withheld is not None:
            whole, self._withheld = "".join(self._withheld), None
            if whole.startswith(_BARE_CHANNEL) and whole[len(_BARE_CHANNEL) :][:1].isupper():
                whole = whole.rpartition(_BARE_FINAL)[2] if _BARE_FINAL in whole else ""
            self._out.append(whole)
        self._out += self._calls
        self._calls = []
        return self._take()

    def _drop_calls(self) -> None:
        """The answer goes on, so its calls so far were only mentions."""
        self.mentioned += [call.name for call in self._calls]
        self._calls = []

    def _take(self) -> list[Piece]:
        """The pieces so far; consecutive words form one."""
        pieces: list[Piece] = []
        for piece in self._out:
            last = pieces[-1] if pieces else None
            if isinstance(piece, str) and isinstance(last, str):
                pieces[-1] = last + piece
            elif piece != "":
                pieces.append(piece)
        self._out = []
        return pieces

    def _read(self, *, final: bool) -> None:
        """Read until nothing is left but a possible marker."""
        at: int | None = 0
        done = 0
        while at is not None and at < len(self._text):
            match self._mode:
                case "object":
                    at = self._read_object(at)
                case "fence":
                    at = self._read_fence(at)
                case _:
                    at = self._step(self._text, at, final=final)
            done = done if at is None else at
        self._text = self._text[done:]
        self._offset += done

    def _read_again(self, again: str, end: int) -> int:
        """Schedule the characters just before an index for another reading; returns where to continue."""
        self._offset += end - len(again)
        self._text = again + self._text[end:]
        return 0

    def _step(self, text: str, at: int, *, final: bool) -> int | None:
        """Read the next part; returns the index after it, None if it is too early to tell."""
        if self._mode == "over":
            return len(text)
        candidate = (_CANDIDATE if self._mode == "words" else _MARKER).search(text, at)
        end = candidate.start() if candidate else len(text)
        if end > at:
            self._pass(text[at:end])
        elif (stride := self._meet(text, at, final=final)) is not None:
            end = at + stride
        elif not final:
            return None
        elif _CUT_TOKEN.fullmatch(text, at):
            # A truncated token.
            end = len(text)
        else:
            end = at + 1
            self._pass(text[at])
        again, self._again = self._again, ""
        return self._read_again(again, end) if again else end

    def _meet(self, text: str, at: int, *, final: bool) -> int | None:
        """Handle the part that begins at an index; returns its length, None if it is too early to tell."""
        if self._mode == "words" and text[at] in "{[`" and self._offset + at >= self._no_call_until:
            stride = self._begin_object(text, at)
            if isinstance(stride, int):
                return stride
            if stride is PENDING and not final:
                return None
        found = None if text[at] in "{`" else marker(text, at)
        if isinstance(found, Marker):
            may_be_quoted = self._mode == "words" and not found.is_token and not self._gap and self._last in QUOTES
            if may_be_quoted and found.end == len(text) and not final:
                return None
            if may_be_quoted and text[found.end : found.end + 1] in QUOTES:
                self._pass(text[at : found.end])
                return found.end - at
            self._mark(found, text[at : found.end])
            return found.end - at
        elif found is PENDING:
            return None
        self._pass(text[at])
        return 1

    def _mark(self, found: Marker, raw: str) -> None:
        """Handle a marker."""
        match self._mode:
            case "thought":
                self._mark_in_thought(found, raw)
            case "call":
                assert self._region is not None
                self._collect(raw)
                is_cut = found.kind in ("end", "turn", "header")
                if is_cut or (found.closes and found.kind == "call" and found.name == self._region.name):
                    self._end_call()
                if is_cut:
                    self._begin(found, raw)
            case "result":
                if found.closes and found.kind == "result":
                    self._mode, self._gap = "words", True
            case "turn" | "header" | "channel":
                self._end_header(found, raw)
            case _:
                self._begin(found, raw)

    def _mark_in_thought(self, found: Marker, raw: str) -> None:
        assert self._region is not None
        ends_message = self._region.kind == "channel" and found.kind == "end"
        if ends_message or (found.kind == "thought" and found.closes):
            self._end_thought()
        elif found.kind in ("channel", "header", "turn"):
            self._end_thought()
            self._begin(found, raw)
        else:
            self._drop_calls()

    def _begin(self, found: Marker, raw: str) -> None:
        """Handle a marker between words."""
        self._gap = True
        match found.kind:
            case "thought" if found.closes:
                self._retract()
            case "call" if not found.closes:
                self._begin_part("call", found)
                self._collect(raw)
            case "thought" | "result" | "turn" | "header" | "channel" if not found.closes:
                self._begin_part(found.kind, found)
            case "role" if found.name in _FOREIGN_ROLES or found.name == "inst":
                self._mode = "over"
            case _:
                pass

    def _begin_part(self, mode: _Mode, found: Marker | None) -> None:
        """Begin a part that is not words."""
        self._lead = None
        self._mode, self._region = mode, found
        self._collected, self._length = [], 0

    def _end_thought(self) -> None:
        if self._withheld is not None:
            # After the beginning of a thought there is no need to wait for another.
            self._out += self._withheld
            self._withheld = None
        self._mode, self._gap = "words", True
        self._said, self._before = 0, self._last

    def _end_call(self) -> None:
        """Read the calls of a part that has ended."""
        self._calls += read_calls("".join(self._collected), self._tools)
        self._mode, self._gap = "words", True

    def _retract(self) -> None:
        """Handle the end of a thought without a beginning."""
        self.thought_before = True
        self._drop_calls()
        self._lead = self._withheld = None
        if self._said:
            self._out.append(Retraction(self._said))
        self._said, self._gap = 0, True
        self._last = self._last_seen = self._before

    def _pass(self, text: str) -> None:
        """Take text without markers."""
        match self._mode:
            case "words":
                self._say(text)
            case "thought":
                if text.strip():
                    self._drop_calls()
            case "call":
                self._collect(text)
            case "turn" | "header" | "channel":
                self._collect(text)
                self._read_header("".join(self._collected))
            case _:
                pass

    def _collect(self, text: str) -> None:
        if self._length <= LONGEST:
            self._collected.append(text)
            self._length += len(text)

    def _read_header(self, header: str) -> None:
        """Read the header of a turn or channel if it may be complete."""
        head, line, rest = header[:LONGEST_HEADER].partition("\n")
        if self._mode == "turn":
            role = _ROLE.match(header)
            assert role is not None
            if role.end() == len(header) <= LONGEST_HEADER:
                return
            self._mode = "over" if role[1].casefold() in _FOREIGN_ROLES else "words"
            self._again = header[role.end() :] if role[1].casefold() in _OWN_ROLES else header
        elif line and self._mode == "channel":
            # Gemma's channels have no second token.
            self._begin_channel(head)
            self._again = rest + header[LONGEST_HEADER:]
        elif len(header) > LONGEST_HEADER:
            self._mode, self._again = "words", header

    def _end_header(self, found: Marker, raw: str) -> None:
        """Handle a token that ends the header of a turn or channel, or belongs to it."""
        header = "".join(self._collected)
        if self._mode == "channel":
            if found.kind == "message":
                self._begin_channel(header)
            elif found.kind in ("end", "channel", "header", "turn"):
                self._mode = "words"
                self._begin(found, raw)
            return
        role = _ROLE.match(header)
        if role and role[1].casefold() in _FOREIGN_ROLES:
            self._mode = "over"
            return
        if recipient := _RECIPIENT.search(header):
            self._recipient = recipient[1]
        is_role = not header.strip() or (role and role[1].casefold() in _OWN_ROLES)
        if self._mode == "turn" and not is_role:
            self._mode, self._again = "words", header + raw
            return
        self._mode = "words"
        self._begin(found, raw)

    def _begin_channel(self, header: str) -> None:
        """Begin a gpt-oss channel: thoughts, words or a tool call."""
        name = header.strip().partition(" ")[0].casefold()
        named = _RECIPIENT.search(header)
        recipient, self._recipient = named[1] if named else self._recipient, ""
        is_first, self._has_channels = not self._has_channels, True
        self._gap = True
        if recipient not in ("", "assistant"):
            self._begin_part("call", self._region)
            self._collect(f"{recipient}:")
        elif name in ("analysis", "thought"):
            self._begin_part("thought", self._region)
        else:
            self._mode = "words"
            if name == "final" and is_first and (self._said or self._withheld):
                self._retract()

    def _begin_object(self, text: str, at: int) -> int | Pending | None:
        """Begin an object that may be a call, or a code fence around a call; None if there is none.

        Returns the number of characters read; the object itself is read next.
        """
        start, fence = at, ""
        if text[at] == "`":
            if len(text) - at < 3 and not text[at:].strip("`"):
                return PENDING
            if self._is_fenced and text.startswith("```", at):
                self._is_fenced, self._gap = False, True
                return 3
            if self._last == "`" or (opened := _FENCE.match(text, at)) is None:
                return None
            start, fence = opened.end(), opened[0]
            if start == len(text):
                return PENDING
            if silent := _SILENT_FENCE.match(text, at):
                self._begin_part("fence", None)
                return silent.end() - at
            if text[start] == "<":
                found = marker(text, start)
                self._is_fenced = isinstance(found, Marker) and found.kind == "call"
                return start - at if self._is_fenced else PENDING if found is PENDING else None
        may = may_be_call(text, start, self._tools)
        if may is True:
            self._fence, self._depth, self._in_string = fence, 0, False
            self._begin_part("object", None)
            return start - at
        return PENDING if may is PENDING else None

    def _read_object(self, at: int) -> int | None:
        """Collect an object; at its end, it is a call or text. Returns where to continue, if anywhere."""
        text, done = self._text, at
        for found in _STRUCTURE.finditer(text, at):
            done, mark = found.end(), found[0]
            if mark == '"':
                self._in_string = not self._in_string
            elif mark in ("{", "[") and not self._in_string:
                self._depth += 1
            elif mark in ("}", "]") and not self._in_string:
                self._depth -= 1
                if self._depth == 0:
                    return self._end_object(at, done)
        # The character escaped by a final backslash is still to come.
        end = len(text) - (text.endswith("\\") and done < len(text))
        self._collected.append(text[at:end])
        self._length += end - at
        if self._length > LONGEST:
            return self._end_object(end, end, is_whole=False)
        return end if end > at else None

    def _read_fence(self, at: int) -> int | None:
        """Skip the contents of a code fence."""
        end = self._text.find("```", at)
        if end >= 0:
            self._mode, self._gap = "words", True
            return end + 3
        # The end may be split between two chunks.
        return max(at, len(self._text) - 2) if len(self._text) - 2 > at else None

    def _end_object(self, at: int, end: int, *, is_whole: bool = True) -> int:
        whole = "".join([*self._collected, self._text[at:end]])
        calls = read_calls(whole, self._tools) if is_whole else []
        self._mode = "words"
        if calls or (is_whole and is_like_call(whole, self._tools)):
            if self._fence or not self._last_seen:
                self._calls += calls
            else:
                self.mentioned += [call.name for call in calls]
            self._gap, self._is_fenced = True, bool(self._fence)
            return end
        # Read it again, as text.
        whole = self._fence + whole
        self._no_call_until = self._offset + end
        return self._read_again(whole, end)

    def _say(self, text: str) -> None:
        """Pass on words; where something was left out, a single white space remains."""
        if self._gap:
            if not self._last or self._last.isspace():
                text = text.lstrip()
            elif text[:1].isalnum():
                text = f" {text}"
            if not text:
                return
            self._gap = False
        self._last = text[-1]
        if text.strip():
            self._drop_calls()
        if seen := text.rstrip():
            self._last_seen = seen[-1]
        if self._withheld is not None:
            self._withheld.append(text)
            return
        self._out.append(text)
        self._said += len(text)
        if self._lead is not None:
            self._lead += text
            if (aloud := _thinks_aloud(self._lead)) is None:
                return
            if aloud:
                self._out.append(Retraction(self._said))
                self._withheld, self._said = [self._lead], 0
            self._lead = None


def _thinks_aloud(lead: str) -> bool | None:
    """Whether an answer begins like a thought; None if it is too early to tell."""
    begun = lead.lstrip().casefold()
    if any(begun.startswith(way) and not begun[len(way) :][:1].isalnum() and begun != way for way in _ALOUD):
        return True
    stripped = lead.lstrip()
    if stripped.startswith(_BARE_CHANNEL) and stripped[len(_BARE_CHANNEL) :][:1].isupper():
        return True
    return None if _BARE_CHANNEL.startswith(stripped) or any(way.startswith(begun) for way in _ALOUD) else False
