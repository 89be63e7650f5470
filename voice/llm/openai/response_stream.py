"""Reads the events of a Responses server."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pipecat.frames.frames import (
    Frame,
    LLMThoughtEndFrame,
    LLMThoughtStartFrame,
    LLMThoughtTextFrame,
)

from voice.llm.answer.provider_note import ProviderNote
from voice.llm.openai.responses_socket import RESPONSE_ENDS, WORN_OUT
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
    listed,
    mapping,
    words,
)

LONGEST = "max_output_tokens"


class ResponseReader:
    """Reads the events of one response. A server may stream words and calls, or send them whole, or both.

    Args:
        keep: makes a frame that keeps a reasoning item in the conversation.
    """

    def __init__(self, keep: Callable[[dict[str, Any]], Frame]) -> None:
        self._keep = keep
        self.is_over = False
        self.response: Mapping[str, Any] = {}
        """The response as the server describes it at its end."""
        self._ids: dict[int, str] = {}
        """The ids of the items in the output."""
        self._words: set[tuple[str | int | None, int]] = set()
        """The parts of messages whose words have come."""
        self._calls: dict[str | int | None, str] = {}
        """The arguments that were streamed."""
        self._is_thinking = False

    def read(self, event: Mapping[str, Any]) -> Iterator[Event]:
        """What an event says.

        Raises:
            ProviderError: the response has failed.
        """
        response, kind = mapping(event.get("response")), event.get("type")
        if (served := identifier(response.get("service_tier"))) != "auto":
            yield ProviderNote(served=served)
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                yield from self._said(event, words(event.get("delta")))
            case "response.output_text.done" | "response.refusal.done" if self._part(event, {}) not in self._words:
                yield from self._said(event, words(event.get("text")) or words(event.get("refusal")))
            case "response.content_part.added":
                yield from self._said(event, words(event.get("part")))
            case "response.reasoning_summary_text.delta":
                if not self._is_thinking:
                    self._is_thinking = True
                    yield LLMThoughtStartFrame()
                yield LLMThoughtTextFrame(text=words(event.get("delta")))
            case "response.function_call_arguments.delta":
                yield from self._called(event, {}, argument_text(event.get("delta")))
            case "response.function_call_arguments.done":
                yield from self._ended(event, {}, argument_text(event.get("arguments")))
            case "response.output_item.added" | "response.output_item.done":
                yield from self._item(event, mapping(event.get("item")), is_done=kind.endswith("done"))
            case "error":
                raise _failure(event)
            case _ if kind in RESPONSE_ENDS:
                yield from self._over(event, response)

    def _over(self, event: Mapping[str, Any], response: Mapping[str, Any]) -> Iterator[Event]:
        self.is_over = True
        yield _usage(mapping(response.get("usage")))
        incomplete = identifier(mapping(response.get("incomplete_details")).get("reason"))
        status = identifier(response.get("status")) or ""
        is_failed = event["type"] != "response.completed" or status in ("failed", "incomplete", "cancelled")
        # A response that reached the longest allowed length is complete.
        if (is_failed or response.get("error")) and incomplete != LONGEST:
            raise _failure(event)
        self.response = response
        if not self._words and not self._calls:
            for index, item in enumerate(listed(response.get("output"))):
                if mapping(item).get("type") != "reasoning":
                    yield from self._item({"output_index": index}, mapping(item), is_done=True)
        yield Finish(incomplete or "stop")

    def _item(self, event: Mapping[str, Any], item: Mapping[str, Any], *, is_done: bool) -> Iterator[Event]:
        match item.get("type"):
            case "function_call" if is_done:
                yield from self._ended(event, item, argument_text(item.get("arguments")))
            case "function_call":
                yield from self._called(event, item, argument_text(item.get("arguments")), is_added=True)
            case "reasoning" if is_done:
                if self._is_thinking:
                    self._is_thinking = False
                    yield LLMThoughtEndFrame()
                if isinstance(secret := item.get("encrypted_content"), str) and secret:
                    parts = listed(item.get("summary"))
                    summary = [{"type": "summary_text", "text": words(part)} for part in parts]
                    kept = {
                        "type": "reasoning",
                        "id": words(item.get("id")),
                        "summary": summary,
                        "encrypted_content": secret,
                    }
                    yield self._keep(kept)
            case "message" if is_done and self._key(event, item) not in {key for key, _ in self._words}:
                yield from self._said(event, words(item.get("content")), item)

    def _said(self, event: Mapping[str, Any], text: str, item: Mapping[str, Any] | None = None) -> Iterator[Event]:
        if text:
            self._words.add(self._part(event, item or {}))
            yield Text(text)

    def _called(
        self, event: Mapping[str, Any], item: Mapping[str, Any], arguments: str, *, is_added: bool = False
    ) -> Iterator[Event]:
        key = self._key(event, item)
        begins = key not in self._calls or (key is None and is_added)
        self._calls[key] = arguments if begins else self._calls[key] + arguments
        name = identifier(item.get("name")) or ""
        yield CallPart(key=key, id=identifier(item.get("call_id")), name=name, arguments=arguments, begins=begins)

    def _ended(self, event: Mapping[str, Any], item: Mapping[str, Any], arguments: str) -> Iterator[Event]:
        """A call's end, which repeats all that was streamed, and may be all that comes."""
        streamed = self._calls.get(self._key(event, item), "")
        rest = arguments.removeprefix(streamed) if arguments.startswith(streamed) else ""
        yield from self._called(event, item, rest)

    def _part(self, event: Mapping[str, Any], item: Mapping[str, Any]) -> tuple[str | int | None, int]:
        return self._key(event, item), count(event.get("content_index")) or 0

    def _key(self, event: Mapping[str, Any], item: Mapping[str, Any]) -> str | int | None:
        """Which item an event is about: its id, or its place in the output, as far as they are told."""
        known, place = identifier(event.get("item_id")) or identifier(item.get("id")), count(event.get("output_index"))
        if known is not None and place is not None:
            self._ids[place] = known
        return known if known is not None or place is None else self._ids.get(place, place)


def _failure(event: Mapping[str, Any]) -> ProviderError:
    status = event.get("status")
    error = ProviderError(event, said=f"answered HTTP {status}" if isinstance(status, int) else "reported an error")
    if error.code == WORN_OUT:
        # pipecat stops using a service whose requests are wrong; a worn socket is not the request's fault.
        error.status_code = None
    return error


def _usage(usage: Mapping[str, Any]) -> Usage:
    given, made = mapping(usage.get("input_tokens_details")), mapping(usage.get("output_tokens_details"))
    return Usage(
        prompt=count(usage.get("input_tokens")),
        completion=count(usage.get("output_tokens")),
        cached=count(given.get("cached_tokens")),
        written=count(given.get("cache_write_tokens")),
        reasoning=count(made.get("reasoning_tokens")),
    )
