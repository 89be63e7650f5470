"""Reads the events of a Responses server."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pipecat.frames.frames import (
    Frame,
    LLMThoughtEndFrame,
    LLMThoughtStartFrame,
    LLMThoughtTextFrame,
)

from voice.llm.answer.provider_note import ProviderNote
from voice.llm.wires.events import (
    CallPart,
    Event,
    Finish,
    ProviderError,
    Text,
    argument_text,
    count,
    identifier,
    listed,
    mapping,
    token_usage,
    words,
)
from voice.llm.wires.responses.socket import RESPONSE_ENDS, WORN_OUT

LONGEST = "max_output_tokens"


@dataclass(slots=True, eq=False)
class _Item:
    """A message or a call, as far as the events identify it."""

    kind: Literal["message", "call"]
    place: int | None = None
    ids: set[str] = field(default_factory=set)
    """Its ids, which may differ between events."""
    call_id: str | None = None
    parts: dict[int | None, str] = field(default_factory=dict)
    """The words so far, by their position in the message."""
    is_done: bool = False


class ResponseReader:
    """Reads the events of one response. A server may stream words and calls, send them whole, or both.

    Args:
        keep: makes a frame that keeps a reasoning item in the conversation.
    """

    def __init__(self, keep: Callable[[dict[str, Any]], Frame]) -> None:
        self._keep = keep
        self.is_over = False
        self.response: Mapping[str, Any] = {}
        """The response as the server describes it at its end."""
        self._items = list[_Item]()
        self._said = ""
        self._is_thinking = False

    def read(self, event: Mapping[str, Any]) -> Iterator[Event]:
        """Read an event; see `Reader`.

        Raises:
            ProviderError: the response has failed.
        """
        response, kind = mapping(event.get("response")), event.get("type")
        if (served := identifier(response.get("service_tier"))) != "auto":
            yield ProviderNote(served=served)
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                yield from self._piece(event, words(event.get("delta")))
            case "response.output_text.done" | "response.refusal.done":
                yield from self._whole(event, words(event.get("text")) or words(event.get("refusal")))
            case "response.content_part.added":
                yield from self._whole(event, words(event.get("part")), is_ahead=True)
            case "response.content_part.done":
                yield from self._whole(event, words(event.get("part")))
            case "response.reasoning_summary_text.delta":
                if not self._is_thinking:
                    self._is_thinking = True
                    yield LLMThoughtStartFrame()
                yield LLMThoughtTextFrame(text=words(event.get("delta")))
            case "response.function_call_arguments.delta":
                yield from self._called(event, {}, argument_text(event.get("delta")))
            case "response.function_call_arguments.done":
                yield from self._called(event, {}, argument_text(event.get("arguments")), is_done=True)
            case "response.output_item.added" | "response.output_item.done":
                yield from self._item(event, mapping(event.get("item")), is_done=kind.endswith("done"))
            case "error":
                raise _failure(event)
            case _ if kind in RESPONSE_ENDS:
                yield from self._over(event, response)

    def _over(self, event: Mapping[str, Any], response: Mapping[str, Any]) -> Iterator[Event]:
        self.is_over = True
        yield token_usage(mapping(response.get("usage")), "input", "output")
        incomplete = identifier(mapping(response.get("incomplete_details")).get("reason"))
        status = identifier(response.get("status")) or ""
        is_failed = event["type"] != "response.completed" or status in ("failed", "incomplete", "cancelled")
        # A response that reached the token limit is complete.
        if (is_failed or response.get("error")) and incomplete != LONGEST:
            # An answer whose messages have all ended is complete, despite a later failure.
            if incomplete or not self._said or not all(each.is_done and each.kind == "message" for each in self._items):
                raise _failure(event)
            response = {}
        self.response = response
        if not self._items:
            for index, item in enumerate(listed(response.get("output"))):
                if mapping(item).get("type") != "reasoning":
                    yield from self._item({"output_index": index}, mapping(item), is_done=True)
        yield Finish(incomplete or "stop")

    def _item(self, event: Mapping[str, Any], item: Mapping[str, Any], *, is_done: bool) -> Iterator[Event]:
        match item.get("type"):
            case "function_call" if is_done:
                yield from self._called(event, item, argument_text(item.get("arguments")), is_done=True)
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
            case "message" if is_done:
                yield from self._whole(event, words(item.get("content")), item)

    def _piece(self, event: Mapping[str, Any], text: str) -> Iterator[Event]:
        if text:
            yield self._say(self._about("message", event, {}), count(event.get("content_index")), text)

    def _whole(
        self, event: Mapping[str, Any], text: str, item: Mapping[str, Any] | None = None, *, is_ahead: bool = False
    ) -> Iterator[Event]:
        """Take the whole text of a message or of a part, and return the words not yet received."""
        about = self._about("message", event, item or {}, is_done=not is_ahead)
        about.is_done |= not is_ahead and (item or {}).get("status") != "incomplete"
        index, said = count(event.get("content_index")), "".join(about.parts.values())
        if text.strip() == self._said.strip():
            return
        if index is not None and None not in about.parts:
            said = about.parts.get(index, "")
        if rest := text.removeprefix(said) if text.startswith(said) else "":
            yield self._say(about, index, rest, is_ahead=is_ahead)

    def _say(self, item: _Item, index: int | None, text: str, *, is_ahead: bool = False) -> Text:
        item.parts[index] = item.parts.get(index, "") + text
        self._said += text
        return Text(text, is_ahead=is_ahead)

    def _called(
        self,
        event: Mapping[str, Any],
        item: Mapping[str, Any],
        arguments: str,
        *,
        is_added: bool = False,
        is_done: bool = False,
    ) -> Iterator[Event]:
        before = len(self._items)
        about = self._about("call", event, item, is_added=is_added, is_done=is_done)
        about.is_done |= is_done
        yield CallPart(
            key=self._items.index(about),
            id=identifier(item.get("call_id")),
            name=identifier(item.get("name")) or "",
            arguments=arguments,
            begins=len(self._items) > before,
            is_whole=is_done,
        )

    def _about(
        self,
        kind: Literal["message", "call"],
        event: Mapping[str, Any],
        item: Mapping[str, Any],
        *,
        is_added: bool = False,
        is_done: bool = False,
    ) -> _Item:
        """The item of an event, by its position, its id or its call's id; perhaps a new one.

        An event without a known one concerns the latest item, or ends the first open one.
        """
        place = count(event.get("output_index"))
        known, call_id = identifier(event.get("item_id")) or identifier(item.get("id")), identifier(item.get("call_id"))
        likely, possible = list[_Item](), list[_Item]()
        for each in self._items:
            if each.kind != kind or (call_id and each.call_id and call_id != each.call_id):
                continue
            if place is not None and each.place is not None:
                likely += [each] if place == each.place else []
            elif known and each.ids:
                likely += [each] if known in each.ids else []
            elif call_id and each.call_id and not (is_added and place is None and known is None):
                likely.append(each)
            elif not is_added:
                possible.append(each)
        still = [each for each in possible if not each.is_done]
        last, first = (likely or still or possible)[-1:], (likely or still or possible[-1:])[:1]
        found = (first if is_done else last) or [_Item(kind)]
        about = found[0]
        if about not in self._items:
            self._items.append(about)
        about.place = place if about.place is None else about.place
        about.call_id = about.call_id or call_id
        about.ids |= {known} if known else set()
        return about


def _failure(event: Mapping[str, Any]) -> ProviderError:
    status = event.get("status")
    error = ProviderError(event, said=f"answered HTTP {status}" if isinstance(status, int) else "reported an error")
    if error.code == WORN_OUT:
        # pipecat stops using a service after an invalid request; an expired socket is not the request's fault.
        error.status_code = None
    return error
