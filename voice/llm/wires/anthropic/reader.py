"""Reads a Messages response, whole or in events, from Anthropic or a compatible server."""

from collections.abc import Iterator, Mapping
from typing import Any

from pipecat.frames.frames import LLMThoughtEndFrame, LLMThoughtStartFrame, LLMThoughtTextFrame

from voice.llm.answer.provider_note import ProviderNote
from voice.llm.wires.event_stream import StreamEvent
from voice.llm.wires.events import (
    CallPart,
    Event,
    Finish,
    ProviderError,
    Text,
    Usage,
    argument_text,
    count,
    identifier,
    is_error,
    listed,
    mapping,
    words,
)

_USAGE = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class MessageReader:
    """Reads the events of one message.

    Args:
        headers: those of the response.
        llm: the name under which pipecat's adapter keeps thoughts in the conversation.
    """

    noun = "a message"

    def __init__(self, headers: Mapping[str, str], *, llm: str) -> None:
        self._headers, self._llm = headers, llm
        self.is_begun = self._has_content = False
        self._others = set[int | None]()
        """The open blocks that are neither words nor calls, such as server tools."""
        self._usage: dict[str, int] = {}
        self._reasoning: int | None = None

    def read(self, sent: StreamEvent) -> Iterator[Event]:
        """Read an event; see `Reader`."""
        if sent.body is None:
            yield Finish()
            return
        event = sent.body
        kind = identifier(event.get("type")) or sent.name
        if kind == "ping":
            return
        if kind == "error" or (is_error(event) and "type" not in event):
            raise ProviderError(event, headers=self._headers, said="reported an error in the middle of its answer")
        self.is_begun |= kind.startswith("message") or kind.startswith("content_block")
        # Any event is progress.
        yield ProviderNote()
        match kind:
            case "message_start":
                yield from self._started(mapping(event.get("message")))
            case "message":
                # Some servers repeat the whole message at the end.
                yield from self._started({**event, "content": None} if self._has_content else event)
                yield from self._ended(event, event.get("usage"))
                yield Finish()
            case "content_block_start":
                yield from self._block(mapping(event.get("content_block")), count(event.get("index")))
            case "content_block_delta":
                yield from self._delta(mapping(event.get("delta")), count(event.get("index")))
            case "content_block_stop":
                self._others.discard(count(event.get("index")))
            case "message_delta":
                yield from self._ended(mapping(event.get("delta")), event.get("usage"))
            case "message_stop":
                yield Finish()

    def _started(self, message: Mapping[str, Any]) -> Iterator[Event]:
        usage = mapping(message.get("usage"))
        yield ProviderNote(served=identifier(usage.get("speed")))
        # Its count of the answer's tokens is not final.
        yield self._reported({**usage, "output_tokens": None})
        for index, block in enumerate(listed(message.get("content"))):
            yield from self._block(mapping(block), index)

    def _ended(self, message: Mapping[str, Any], usage: Any) -> Iterator[Event]:
        yield self._reported(mapping(usage))
        if reason := identifier(message.get("stop_reason")):
            yield Finish(reason)

    def _block(self, block: Mapping[str, Any], index: int | None) -> Iterator[Event]:
        self._others.discard(index)
        self._has_content = True
        match block.get("type"):
            case "text":
                if text := words(block.get("text")):
                    yield Text(text, is_ahead=True)
            case "tool_use":
                yield CallPart(
                    key=index,
                    id=identifier(block.get("id")),
                    name=identifier(block.get("name")) or "",
                    # An empty object is a placeholder for the arguments that follow.
                    arguments=argument_text(block.get("input") or None),
                    begins=True,
                )
            case "thinking":
                yield LLMThoughtStartFrame(append_to_context=True, llm=self._llm)
                yield from self._delta(block, index)
            case _:
                self._others.add(index)

    def _delta(self, delta: Mapping[str, Any], index: int | None) -> Iterator[Event]:
        if index in self._others:
            return
        self._has_content = True
        if delta.get("partial_json") is not None:
            yield CallPart(key=index, arguments=argument_text(delta["partial_json"]))
        elif text := words(delta.get("text")):
            yield Text(text)
        if thought := words(delta.get("thinking")):
            yield LLMThoughtTextFrame(text=thought)
        if signature := words(delta.get("signature")):
            yield LLMThoughtEndFrame(signature=signature)

    def _reported(self, usage: Mapping[str, Any]) -> Usage:
        """The usage so far: a new report replaces the fields it repeats."""
        known = {name: number for name in _USAGE if (number := count(usage.get(name))) is not None}
        self._usage |= known
        self._reasoning = count(mapping(usage.get("output_tokens_details")).get("thinking_tokens")) or self._reasoning
        written, cached = (self._usage.get(name) for name in _USAGE[2:])
        given = self._usage.get("input_tokens")
        return Usage(
            # The provider does not count cached tokens.
            prompt=None if given is None else given + (written or 0) + (cached or 0),
            completion=self._usage.get("output_tokens"),
            cached=cached,
            written=written,
            reasoning=self._reasoning,
        )
