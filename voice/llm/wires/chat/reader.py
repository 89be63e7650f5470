"""Reads a Chat Completions response, whole or in chunks, from OpenAI or a compatible server."""

from collections.abc import Generator, Iterator, Mapping
from typing import Any

from voice.llm.answer.provider_note import ProviderNote
from voice.llm.wires.event_stream import StreamEvent
from voice.llm.wires.events import (
    CallPart,
    Event,
    Finish,
    ProviderError,
    Text,
    argument_text,
    count,
    identifier,
    is_error,
    listed,
    mapping,
    seconds,
    token_usage,
    words,
)
from voice.llm.wires.tool_calls import OLDER

SIMULATED = "sim"
"""The `system_fingerprint` of our simulator, which survives a proxy that renames its models."""


class ChatReader:
    """Reads the chunks of one answer.

    Args:
        headers: those of the response.
    """

    noun = "a chat completion"

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = headers
        self.is_begun = False
        self._has_spoken = self._is_over = False
        self._last: Mapping[str, Any] | None = None
        self._index: int | None = None

    def read(self, sent: StreamEvent) -> Iterator[Event]:
        """Read a chunk; see `Reader`."""
        chunk = sent.body
        if self._is_over or chunk is None:
            self._is_over = True
            yield Finish()
            return
        choices = [mapping(choice) for choice in listed(chunk.get("choices"))]
        failed = any(choice.get("error") or choice.get("finish_reason") == "error" for choice in choices)
        if sent.name == "error" or failed or (chunk.get("error") if choices else is_error(chunk)):
            told = next((choice for choice in choices if choice.get("error")), chunk)
            raise ProviderError(chunk if chunk.get("error") else told, headers=self._headers)
        yield _note(chunk)
        if usage := mapping(chunk.get("usage")) or mapping(mapping(chunk.get("x_groq")).get("usage")):
            yield token_usage(usage, "prompt", "completion")
        self.is_begun |= chunk.get("choices") is not None
        choice = self._chosen(choices)
        if not choice:
            return
        reason = identifier(choice.get("finish_reason"))
        if reason and chunk == self._last:
            # The last chunk was sent twice.
            return
        self._last = chunk
        has_words = yield from self._delta(choice, ends=reason is not None)
        if reason or isinstance(choice.get("message"), Mapping):
            yield Finish(reason, with_words=has_words)

    def _chosen(self, choices: list[Mapping[str, Any]]) -> Mapping[str, Any]:
        """The choice to read: one was requested, but some servers send more."""
        numbered = {count(choice.get("index")) or 0: choice for choice in reversed(choices)}
        if self._index is None and numbered:
            self._index = min(numbered)
        return numbered.get(self._index or 0) or {}

    def _delta(self, choice: Mapping[str, Any], *, ends: bool) -> Generator[Event, None, bool]:
        """Read a choice's delta; returns whether it has words."""
        is_whole = not isinstance(choice.get("delta"), Mapping) and isinstance(choice.get("message"), Mapping)
        if is_whole and self._has_spoken:
            # Some servers repeat the whole answer at the end.
            return False
        delta = mapping(choice.get("message" if is_whole else "delta"))
        text = words(delta.get("content")) or words(delta.get("refusal")) or words(choice.get("text"))
        text = text or words(mapping(delta.get("audio")).get("transcript"))
        if text:
            self._has_spoken = True
            yield Text(text, ends=ends)
        for part in listed(delta.get("tool_calls")):
            if isinstance(part, Mapping):
                self._has_spoken = True
                function = mapping(part.get("function")) or part
                yield CallPart(
                    key=count(part.get("index")),
                    id=identifier(part.get("id")),
                    name=identifier(function.get("name")) or "",
                    arguments=argument_text(function.get("arguments")),
                )
        if function := mapping(delta.get("function_call")):
            self._has_spoken = True
            name, arguments = identifier(function.get("name")) or "", argument_text(function.get("arguments"))
            yield CallPart(key=OLDER, name=name, arguments=arguments)
        return bool(text)


def _note(chunk: Mapping[str, Any]) -> ProviderNote:
    return ProviderNote(
        served=identifier(chunk.get("service_tier")),
        queued=_queue_time(chunk),
        simulated=chunk.get("system_fingerprint") == SIMULATED or None,
    )


def _queue_time(chunk: Mapping[str, Any]) -> float | None:
    """Seconds that the request waited in the provider's queue, as reported by Cerebras and Groq; None if missing.

    Cerebras: `time_info.queue_time`. Groq: `x_groq.usage.queue_time`, or `usage.queue_time`.
    """
    places = (chunk.get("time_info"), mapping(chunk.get("x_groq")).get("usage"), chunk.get("usage"))
    times = (mapping(place).get("queue_time") for place in places)
    return next((time for each in times if (time := seconds(each)) is not None), None)
