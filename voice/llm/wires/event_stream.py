"""Reads the body of a streamed HTTP response: server-sent events, or JSON of a server that does not stream.

The SDKs' decoders stop at an event without data, and their types fail on a field of another kind.
"""

import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol

import httpx2

from voice.llm.wires.events import Event, WireError, mapping, parsed

STREAMED = "text/event-stream"
LARGEST_EVENT = 2**20
"""Bytes; reading more at once would hold the event loop for more than 10 ms."""
DONE = "[DONE]"
_LINE_END = re.compile(rb"[\r\n]")
_OBJECTS = ("{", "[{")


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event.

    Parameters:
        name: its name, if it has one.
        body: its JSON object; None for the end of the stream.
    """

    name: str
    body: Mapping[str, Any] | None


class EventLines:
    """Parses the bytes of a response into events.

    A data line that is a complete JSON object is an event, even without an empty line after it or a field name before
    it.

    Args:
        noun: the expected content, such as "a chat completion".
    """

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._pieces: list[bytes] = []
        self._size = 0
        self._name, self._data = "", list[str]()
        self._encoding = "utf-8-sig"
        self._has_returned = self._is_plain = False
        self.has_json = False
        self.stray = ""
        """The first words that are not JSON."""

    def feed(self, data: bytes) -> Iterator[StreamEvent]:
        """The events that these bytes complete.

        Raises:
            WireError: an event is too long, or its JSON is broken.
        """
        start = 0
        for end in _LINE_END.finditer(data):
            at, is_return = end.start(), end[0] == b"\r"
            # A line ends with a carriage return, a line feed, or both.
            if is_return or at > start or not self._has_returned:
                self._hold(data[start:at])
                yield from self._line()
            self._has_returned, start = is_return, at + 1
        if start < len(data):
            self._has_returned = False
            self._hold(data[start:])

    def flush(self) -> Iterator[StreamEvent]:
        """The last events, if the final line has no line ending."""
        yield from self._line()
        yield from self._event()

    def _hold(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > LARGEST_EVENT:
            raise WireError(f"sent an event that is longer than {LARGEST_EVENT:,} bytes")

    def _line(self) -> Iterator[StreamEvent]:
        line = b"".join(self._pieces).decode(self._encoding, "replace")
        self._pieces, self._encoding = [], "utf-8"
        field, colon, value = line.partition(":")
        if self._is_plain or line.lstrip().startswith(_OBJECTS):
            # No field name begins like this: the body is not streamed.
            self._is_plain = True
            yield from self._add(line)
        elif not line:
            yield from self._event()
        elif field == "event":
            self._name = value.strip()
        elif field == "data":
            yield from self._add(value.strip())
        elif not colon:
            self.stray = self.stray or line.strip()
        if not self._data:
            self._size = 0

    def _add(self, text: str) -> Iterator[StreamEvent]:
        if self._data:
            self._data.append(text)
        elif text == DONE:
            yield StreamEvent(self._name, None)
        elif (body := self._json(text)) is not None:
            self._is_plain = False
            yield StreamEvent(self._name, body)
        elif text:
            self._data = [text]

    def _event(self) -> Iterator[StreamEvent]:
        text, self._data = "\n".join(self._data), []
        if (body := self._json(text)) is not None:
            yield StreamEvent(self._name, body)
        elif text and self._name == "error":
            yield StreamEvent(self._name, {"error": text})
        elif text.startswith(_OBJECTS):
            raise WireError(f"answered with something other than JSON, not with {self._noun}: check base_url")
        else:
            self.stray = self.stray or text
        self._name = ""

    def _json(self, text: str) -> Mapping[str, Any] | None:
        """A JSON object, alone or as the only item of a list; None for anything else."""
        if not text.lstrip().startswith(_OBJECTS):
            return None
        try:
            body = mapping(parsed(text))
        except (ValueError, RecursionError):
            return None
        self.has_json = True
        return body


class Reader(Protocol):
    """Reads one protocol's events."""

    noun: str
    """The content that it reads, such as "a chat completion"."""
    is_begun: bool
    """Whether any part of an answer has arrived."""

    def read(self, sent: StreamEvent) -> Iterator[Event]:
        """Turn an event's content into frames and notes.

        Raises:
            WireError: it reports an error, or cannot be used.
        """


class Stream(Protocol):
    """A streamed response in OpenAI's or Anthropic's SDK."""

    @property
    def response(self) -> httpx2.Response:
        """The response, with its body unread."""

    async def close(self) -> None:
        """Close the response."""


async def read(stream: Stream, reader: Reader) -> AsyncGenerator[Event]:
    """The events of an answer.

    Raises:
        WireError: the server reported an error, or sent something other than an answer. httpx2.TransportError: the
        connection broke, or nothing came in time.
    """
    kind = stream.response.headers.get("content-type", "").partition(";")[0].strip().lower()
    lines, instead = EventLines(reader.noun), kind or "nothing"
    try:
        if kind == "text/html":
            raise WireError(f"answered with a web page (text/html), not with {reader.noun}: check base_url")
        # Otherwise an unfinished generator is closed only when it is garbage-collected.
        async with aclosing(stream.response.aiter_bytes()) as pieces:
            async for piece in pieces:
                for sent in lines.feed(piece):
                    for event in reader.read(sent):
                        yield event
        for sent in lines.flush():
            for event in reader.read(sent):
                yield event
        if not reader.is_begun:
            if kind == STREAMED:
                instead = "JSON of another kind" if lines.has_json else "an empty stream"
            told = f" ({lines.stray})" if lines.stray else ""
            raise WireError(f"answered with {instead}{told}, not with {reader.noun}: check base_url")
    finally:
        await stream.close()
