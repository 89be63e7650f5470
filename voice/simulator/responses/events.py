"""Writes the server events of OpenAI Responses over a WebSocket. Pure."""

import time
from collections.abc import Mapping
from typing import Any

from voice.simulator.journal import LEAST_CACHED
from voice.simulator.responses.request import ResponseRequest
from voice.simulator.simulator import ServedModel
from voice.simulator.wire_errors import error_body


def error_event(
    status: int,
    *,
    message: str | None = None,
    code: str | None = None,
    param: str | None = None,
    lane: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """An `error` event: the request gets no response, or the connection ends."""
    error = error_body(status, message=message, code=code, param=param)
    if headers:
        error["headers"] = dict(headers)
    event = {"type": "error", "status": status, "error": error, "sequence_number": 0}
    return event if lane is None else {**event, "stream_id": lane}


class ResponseWriter:
    """Writes the events of one response in order, numbered from 0.

    Args:
        request: the request that it answers.
        response_id: id of the response.
        served: the model that serves it.
        tool: name of the tool that the response calls, or None for a message.
    """

    def __init__(self, request: ResponseRequest, response_id: str, served: ServedModel, tool: str | None) -> None:
        self.response_id = response_id
        self._request = request
        self._tool = tool
        self._served = served
        self._created = int(time.time())
        self._number = 0
        self._text = ""
        self._item_id = response_id.replace("resp", "fc" if tool else "msg")
        self._is_open = False

    def created(self) -> list[dict[str, Any]]:
        """The response has been created and is in progress."""
        return [self._about("response.created", "in_progress"), self.alive()]

    def alive(self) -> dict[str, Any]:
        """The response is still in progress."""
        return self._about("response.in_progress", "in_progress")

    def piece(self, text: str) -> list[dict[str, Any]]:
        """More of the text or of the call's arguments; the first piece also opens the item."""
        events = [] if self._is_open else self._opening()
        self._is_open = True
        self._text += text
        kind = "response.output_text.delta" if self._tool is None else "response.function_call_arguments.delta"
        more = {} if self._tool else {"content_index": 0, "logprobs": []}
        return [*events, self._event(kind, delta=text, **self._place(), **more)]

    def completed(self, usage: Mapping[str, Any], *, cut_off: bool) -> list[dict[str, Any]]:
        """The end of the item, if there is one, and of the response."""
        events = self._closing() if self._is_open else []
        if cut_off:
            why = {"incomplete_details": {"reason": "max_output_tokens"}}
            return [*events, self._about("response.incomplete", "incomplete", usage=usage, **why)]
        return [*events, self._about("response.completed", "completed", usage=usage)]

    def failed(self, status: int) -> dict[str, Any]:
        """The response ends with an error."""
        error = error_body(status)
        return self._about("response.failed", "failed", error={"code": error["code"], "message": error["message"]})

    def cancelled(self) -> dict[str, Any]:
        """The client cancelled the response; the usage is then not reported."""
        return self._about("response.incomplete", "cancelled", incomplete_details={"reason": "cancelled"})

    def _opening(self) -> list[dict[str, Any]]:
        added = self._event("response.output_item.added", output_index=0, item=self._item("in_progress"))
        if self._tool is not None:
            return [added]
        return [added, self._event("response.content_part.added", content_index=0, part=_part(""), **self._place())]

    def _closing(self) -> list[dict[str, Any]]:
        place = self._place()
        if self._tool is not None:
            ends = [
                self._event("response.function_call_arguments.done", arguments=self._text, name=self._tool, **place)
            ]
        else:
            text = self._event("response.output_text.done", content_index=0, text=self._text, logprobs=[], **place)
            part = self._event("response.content_part.done", content_index=0, part=_part(self._text), **place)
            ends = [text, part]
        return [*ends, self._event("response.output_item.done", output_index=0, item=self._item("completed"))]

    def _place(self) -> dict[str, Any]:
        return {"item_id": self._item_id, "output_index": 0}

    def _item(self, status: str) -> dict[str, Any]:
        if self._tool is None:
            content = [_part(self._text)] if status == "completed" else []
            return {"id": self._item_id, "type": "message", "role": "assistant", "status": status, "content": content}
        call_id = self._item_id.replace("fc", "call", 1)
        called = {"id": self._item_id, "type": "function_call", "status": status, "call_id": call_id}
        return {**called, "name": self._tool, "arguments": self._text}

    def _about(self, kind: str, status: str, **fields: Any) -> dict[str, Any]:
        """An event that contains the whole response."""
        response: dict[str, Any] = {
            "id": self.response_id,
            "object": "response",
            "created_at": self._created,
            "status": status,
            "model": self._served.name,
            "output": [self._item("completed")] if self._is_open and status != "in_progress" else [],
            "error": None,
            "incomplete_details": None,
            "usage": None,
            "service_tier": self._served.speed or "default",
            "text": {"format": {"type": "text"}},
            "truncation": "disabled",
        }
        return self._event(kind, response={**response, **self._request.echoed, **fields})

    def _event(self, kind: str, **fields: Any) -> dict[str, Any]:
        event = {"type": kind, "sequence_number": self._number, **fields}
        self._number += 1
        return event if self._request.lane is None else {**event, "stream_id": self._request.lane}


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def usage(*, given: int, cached: int, output: int) -> dict[str, Any]:
    """The usage object."""
    return {
        "input_tokens": given,
        "input_tokens_details": {
            "cached_tokens": cached,
            "cache_write_tokens": given - cached if given >= LEAST_CACHED else 0,
        },
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": given + output,
    }
